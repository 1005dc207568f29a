//! Differences of the machine, the storage and the program behind two results.
//!
//! Must not know: figures. Start reading at [`differences`].

use super::ComparedFact;
use ferrio_formats::RunResult;
use ferrio_stats::provenance::{DeviceFacts, FileSystemFacts};
use ferrio_stats::{Provenance, wire};
use ferrio_units::humanize::bytes_text;
use serde_json::Value;

type Fact = (String, String);

/// The facts of both sides.
pub(crate) struct Surroundings {
    pub(crate) differ: Vec<ComparedFact>,
    /// Those that only the base tells, each with what it is about.
    pub(crate) known_of_base: Vec<String>,
    /// Those that only the new results tell.
    pub(crate) known_of_new: Vec<String>,
}

/// The facts that differ, in the order in which they are told, and apart from them those that only one side tells: they are no
/// difference, and a report of fio tells hardly any.
pub(crate) fn differences(base: &[&RunResult], new: &[&RunResult]) -> Surroundings {
    let (base, new) = (of_side(base), of_side(new));
    let mut all = Surroundings { differ: Vec::new(), known_of_base: Vec::new(), known_of_new: Vec::new() };
    let of = |facts: &[(String, Vec<String>)], what: &String| {
        facts.iter().find(|(known, _)| known == what).map(|(_, values)| values.join("; "))
    };
    let lonely = new.iter().filter(|(what, _)| !base.iter().any(|(known, _)| known == what));
    let (mut of_base, mut of_new) = (Vec::new(), Vec::new());
    for (what, _) in base.iter().chain(lonely) {
        match (of(&base, what), of(&new, what)) {
            (Some(first), Some(second)) if first != second => {
                all.differ.push(ComparedFact { what: what.clone(), base: Some(first), new: Some(second) });
            }
            (Some(first), None) => of_base.push((what.as_str(), first)),
            (None, Some(second)) => of_new.push((what.as_str(), second)),
            _ => {}
        }
    }
    (all.known_of_base, all.known_of_new) = (by_subject(&of_base), by_subject(&of_new));
    all
}

/// Facts by what they are about, which stands once before all of them: `kernel 6.1`, `device vda (rotational true, scheduler none)`.
fn by_subject(facts: &[(&str, String)]) -> Vec<String> {
    let mut all: Vec<(&str, Option<&str>, Vec<String>)> = Vec::new();
    for (what, value) in facts {
        let (subject, part) = what.split_once(", ").map_or((*what, None), |(subject, part)| (subject, Some(part)));
        let index = all.iter().position(|(known, ..)| *known == subject).unwrap_or_else(|| {
            all.push((subject, None, Vec::new()));
            all.len() - 1
        });
        match part {
            None => all[index].1 = Some(value),
            Some(part) => all[index].2.push(format!("{part} {value}")),
        }
    }
    let text = |(subject, name, parts): (&str, Option<&str>, Vec<String>)| {
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        format!("{subject}{name}{parts}")
    };
    all.into_iter().map(text).collect()
}

/// The facts of all results of a side, each with its different values.
fn of_side(results: &[&RunResult]) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (what, value) in results.iter().flat_map(|result| facts(result)) {
        match all.iter_mut().find(|(known, _)| *known == what) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => all.push((what, vec![value])),
        }
    }
    all
}

fn facts(result: &RunResult) -> Vec<Fact> {
    let mut facts = Vec::new();
    if !result.program.is_empty() {
        facts.push(("program".to_owned(), result.program.clone()));
    }
    if let Some(provenance) = &result.provenance {
        facts.extend(of_machine(provenance));
        for (index, file_system) in provenance.file_systems.iter().enumerate() {
            facts.extend(of_file_system(index, file_system));
        }
        for (index, device) in provenance.devices.iter().enumerate() {
            facts.extend(of_device(index, device));
        }
    }
    let disks: Vec<&str> = result.disks.iter().map(|disk| disk.name.as_str()).collect();
    if !disks.is_empty() {
        facts.push(("disks".to_owned(), disks.join(", ")));
    }
    facts
}

fn of_machine(provenance: &Provenance) -> Vec<Fact> {
    let cpu = &provenance.cpu;
    let unknown = || "unknown".to_owned();
    let facts = [
        ("host", provenance.host_name.clone()),
        ("kernel", provenance.kernel_release.clone()),
        ("architecture", provenance.architecture.clone()),
        ("CPU", cpu.model.clone().unwrap_or_else(unknown)),
        ("CPUs online", cpu.n_online.to_string()),
        ("CPUs allowed", cpu.allowed.clone()),
        ("memory", bytes_text(provenance.memory_bytes)),
        ("clock", provenance.clock.source.clone()),
        ("clock of the kernel", provenance.clock.kernel_source.clone().unwrap_or_else(unknown)),
        ("I/O limits", limits(provenance)),
    ];
    facts.into_iter().map(|(what, value)| (what.to_owned(), value)).collect()
}

fn limits(provenance: &Provenance) -> String {
    if provenance.limits.io.is_empty() {
        return "none".to_owned();
    }
    serde_json::to_string(&provenance.limits.io).unwrap_or_default()
}

/// The first one has no number: most runs have only one.
fn numbered(word: &str, index: usize) -> String {
    if index == 0 { word.to_owned() } else { format!("{word} {}", index + 1) }
}

fn of_file_system(index: usize, facts: &FileSystemFacts) -> [Fact; 3] {
    let name = numbered("file system", index);
    [
        (name.clone(), facts.kind.clone()),
        (format!("{name}, options"), facts.options.clone()),
        (format!("{name}, source"), facts.source.clone()),
    ]
}

fn of_device(index: usize, facts: &DeviceFacts) -> Vec<Fact> {
    let name = numbered("device", index);
    let Value::Object(values) = wire::to_value(facts) else { return Vec::new() };
    let fact = |(what, value): (String, Value)| {
        let text = match value {
            Value::Null => return None,
            Value::String(text) => text,
            Value::Array(values) if values.is_empty() => return None,
            other => other.to_string(),
        };
        let what = if what == "name" { name.clone() } else { format!("{name}, {what}") };
        Some((what, text))
    };
    values.into_iter().filter_map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(program: &str, kernel: &str) -> RunResult {
        let device =
            DeviceFacts { name: "vda".to_owned(), scheduler: Some(kernel.to_owned()), ..DeviceFacts::default() };
        let provenance =
            Provenance { kernel_release: kernel.to_owned(), devices: vec![device], ..Provenance::default() };
        RunResult { program: program.to_owned(), provenance: Some(Box::new(provenance)), ..RunResult::default() }
    }

    #[test]
    fn what_differs_is_told_and_what_is_the_same_is_not() {
        let (old, new) = (result("ferrio 1", "6.1"), result("ferrio 1", "6.18"));
        let found = differences(&[&old], &[&new]).differ;
        let told: Vec<(&str, Option<&str>, Option<&str>)> =
            found.iter().map(|fact| (fact.what.as_str(), fact.base.as_deref(), fact.new.as_deref())).collect();
        let expected = [("kernel", Some("6.1"), Some("6.18")), ("device, scheduler", Some("6.1"), Some("6.18"))];
        assert_eq!(told, expected);
        assert_eq!(differences(&[&old], &[&old]).differ, []);
        // Repeats on different machines.
        assert_eq!(differences(&[&old], &[&old, &new]).differ[0].new.as_deref(), Some("6.1; 6.18"));
    }

    #[test]
    fn a_device_stands_once_before_its_facts() {
        let mut more = result("ferrio 1", "6.1");
        let device = &mut more.provenance.as_mut().unwrap().devices[0];
        (device.rotational, device.model) = (Some(true), Some("Disk".to_owned()));
        let found = differences(&[&more], &[&result("ferrio 1", "6.1")]);
        assert_eq!(found.known_of_base, ["device (model Disk, rotational true)"]);
        let fio = RunResult { program: "ferrio 1".to_owned(), ..RunResult::default() };
        let known = differences(&[&more], &[&fio]).known_of_base;
        let about_device: Vec<&String> = known.iter().filter(|fact| fact.starts_with("device")).collect();
        assert!(about_device.len() == 1 && about_device[0].starts_with("device vda ("), "{known:?}");
    }

    #[test]
    fn what_one_side_does_not_know_is_no_difference() {
        let fio = RunResult { program: "fio-3.33".to_owned(), ..RunResult::default() };
        let found = differences(&[&fio], &[&result("ferrio 1", "6.1")]);
        let [program] = &found.differ[..] else { panic!("{:?}", found.differ) };
        assert_eq!((program.what.as_str(), program.base.as_deref()), ("program", Some("fio-3.33")));
        assert!(found.known_of_new.contains(&"kernel 6.1".to_owned()), "{:?}", found.known_of_new);
        assert_eq!(found.known_of_base, Vec::<String>::new());
    }
}
