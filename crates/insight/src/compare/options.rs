//! Differences of the options of jobs.
//!
//! Must not know: figures. Start reading at [`differences`].

use super::ComparedOption;
use ferrio_results::{JobResult, RunResult};

/// Options that decide what I/O is done, the most important ones first. The others are told behind them.
const OF_WORK: [&str; 22] = [
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "ioengine",
    "direct",
    "buffered",
    "sync",
    "fsync",
    "fdatasync",
    "rwmixread",
    "rwmixwrite",
    "bsrange",
    "bssplit",
    "size",
    "io_size",
    "rate",
    "rate_iops",
    "thinktime",
    "zonemode",
    "verify",
    "random_distribution",
];
/// Other names of options.
const ALIASES: [(&str, &str); 6] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("blocksize_range", "bsrange"),
    ("io_limit", "io_size"),
    ("sync_io", "sync"),
];
/// Options that say where output goes, and no more.
const OF_OUTPUT: [&str; 3] = ["name", "description", "output"];

/// The options that differ between two jobs: as given for the job, or for all jobs. fio writes those for all jobs apart.
pub(super) fn differences(base: (&RunResult, &JobResult), new: (&RunResult, &JobResult)) -> Vec<ComparedOption> {
    let (first, second) = (in_force(base.0, base.1), in_force(new.0, new.1));
    // Logs alone have no options.
    if first.is_empty() || second.is_empty() {
        return Vec::new();
    }
    let value = |options: &[(String, String)], name: &str| {
        options.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let mut names: Vec<&String> = first.iter().chain(&second).map(|(name, _)| name).collect();
    names.sort_by_key(|name| (OF_WORK.iter().position(|known| known == name).unwrap_or(OF_WORK.len()), *name));
    names.dedup();
    let option = |name: &String| {
        let (base_value, new_value) = (value(&first, name), value(&second, name));
        let is_same = match (&base_value, &new_value) {
            (Some(first), Some(second)) => is_same(first, second),
            _ => false,
        };
        (!is_same).then(|| ComparedOption {
            jobs: vec![base.1.name.clone()],
            option: name.clone(),
            base: base_value,
            new: new_value,
            changes_work: OF_WORK.contains(&name.as_str()),
        })
    };
    names.into_iter().filter_map(option).collect()
}

/// The options of a job, with their usual names; of one that is given twice the last.
fn in_force(result: &RunResult, job: &JobResult) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for (name, value) in result.global_options.iter().chain(&job.options) {
        let name = ALIASES.iter().find(|(alias, _)| alias == name).map_or(name.as_str(), |(_, name)| name);
        if OF_OUTPUT.contains(&name) {
            continue;
        }
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.clone_from(value),
            None => all.push((name.to_owned(), value.clone())),
        }
    }
    all
}

/// The same text, or the same amount: `4k` and `4096`; an option alone is `1`.
fn is_same(first: &str, second: &str) -> bool {
    first == second
        || matches!((first, second), ("", "1") | ("1", ""))
        || matches!((amount(first), amount(second)), (Some(first), Some(second)) if first == second)
}

/// An amount with a unit of 1024.
fn amount(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Options that differ in the same way in several jobs are told once.
pub(super) fn join(all: Vec<ComparedOption>) -> Vec<ComparedOption> {
    let mut joined: Vec<ComparedOption> = Vec::new();
    for option in all {
        let is_like = |known: &&mut ComparedOption| {
            known.option == option.option && known.base == option.base && known.new == option.new
        };
        match joined.iter_mut().find(is_like) {
            Some(known) => known.jobs.extend(option.jobs),
            None => joined.push(option),
        }
    }
    joined.sort_by_key(|option| !option.changes_work);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(first: &[(&str, &str)], second: &[(&str, &str)]) -> Vec<(String, Option<String>, Option<String>, bool)> {
        let job = |options: &[(&str, &str)]| JobResult {
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..JobResult::default()
        };
        let result = RunResult { global_options: vec![("direct".into(), "1".into())], ..RunResult::default() };
        let all = differences((&result, &job(first)), (&result, &job(second)));
        all.into_iter().map(|option| (option.option, option.base, option.new, option.changes_work)).collect()
    }

    #[test]
    fn values_are_compared_and_not_their_spelling() {
        let same = found(
            &[("bs", "4k"), ("rw", "read"), ("time_based", "")],
            &[("blocksize", "4096"), ("readwrite", "read"), ("time_based", "1"), ("direct", "1")],
        );
        assert_eq!(same, []);
    }

    #[test]
    fn what_changes_the_work_comes_first() {
        let all = found(
            &[("filename", "/dev/a"), ("iodepth", "1")],
            &[("filename", "/dev/b"), ("iodepth", "8"), ("bs", "8k")],
        );
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            all,
            [
                ("bs".to_owned(), None, some("8k"), true),
                ("iodepth".to_owned(), some("1"), some("8"), true),
                ("filename".to_owned(), some("/dev/a"), some("/dev/b"), false),
            ]
        );
        assert_eq!(found(&[("numjobs", "99999999999999999999g")], &[("numjobs", "17179869184g")]).len(), 1);
    }
}
