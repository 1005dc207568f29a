//! docs/from-fio-differences.md: how ferrio differs from fio, for somebody who switches; also the lists of CONFORMANCE.md.
//!
//! A difference is one text of a row of a table, with its kind. Start reading at [`of`].

use super::text::{GENERATED, cell, code, codes};
use ferrio_job::command_line::switches::SWITCHES;
use ferrio_job::options::OPTIONS;
use ferrio_job::options::definition::{Category, OptionDef, Status};
use ferrio_manual::sections::sections;
use ferrio_spec::DeviationKind;
use ferrio_spec::engines::ENGINES;
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# Differences from fio

ferrio takes the command lines and job files of fio 3.42 and writes its outputs. This page lists where the two programs differ on
purpose, in three lists:

1. **Different results**: both programs work, and you see something else. Read this list before you switch.
2. **Mended**: fio fails, hangs, crashes or counts wrongly; ferrio does not.
3. **Stricter**: ferrio refuses what fio ignores or misreads.
";

const END: &str = "
Rare cases of these differences, and everything that is not built yet, are in [CONFORMANCE.md](../CONFORMANCE.md). The differences of
an option are also in the [option reference](options.md) and in `ferrio --cmdhelp=OPTION`.
";

/// Differences that belong to no row of a table.
const GENERAL: &[(&str, DeviationKind, &str)] = &[
    (
        "Exit code",
        DeviationKind::Different,
        "Killed jobs, and outputs or logs that cannot be opened or written, count as failed jobs; fio counts none of these.",
    ),
    (
        "JSON",
        DeviationKind::Different,
        "Documents have one more key, `ferrio`, for messages, findings and facts about the run; all other keys are those of fio.",
    ),
    (
        "All options",
        DeviationKind::Stricter,
        "Values that fio takes for others are refused, such as numbers that are too large or negative, or several instead of one. \
         fio 3.41 cuts off a number that is larger than its place, makes a large number of a negative one, and makes `N%` the \
         number -1-N where no percentage is possible. A bad value, or one too many, beside a good one of another direction is \
         refused too.",
    ),
    (
        "All options",
        DeviationKind::Stricter,
        "Text behind a number is refused, as in `8kfoo`, `1.5g`, `10sec` and, for reads and writes, `4k-64k`. fio takes the \
         number at the beginning, with a suffix whose first letter it knows; it takes units of time that it does not know for microseconds. \
         A comment behind a number may stay, as in `bs=4k # a block`, and so may a fraction of zeros, as in `4194304.0`.",
    ),
    (
        "All options",
        DeviationKind::Mended,
        "Blanks around a number and its suffix do not count, and hexadecimal numbers have suffixes. \
         fio 3.41 leaves out the suffix behind a blank, so that `bs = 8k` is 8 bytes and `runtime = 1500ms` 1500 seconds. \
         In arithmetic, fractions count: `(1.5g)` is 1536 MiB, and `(500ms)` of an option in seconds is half a second.",
    ),
];

/// Headings of the list of different results, in their order.
const SUBJECTS: [&str; 6] = [
    "Command line, reports and logs",
    "Engines",
    "Files and jobs",
    "Order and pace of I/O",
    "Data and verification",
    "Zones and traces",
];

/// A difference from fio.
pub(super) struct Difference {
    subject: &'static str,
    /// The options, switches or engines that have it, as Markdown.
    names: Vec<String>,
    text: &'static str,
}

impl Difference {
    fn names(&self) -> String {
        self.names.join(", ")
    }

    fn first_sentence(&self) -> &'static str {
        self.text.split_once(". ").map_or(self.text, |(first, _)| first).trim_end_matches('.')
    }
}

/// All differences of a kind, in the order of the tables; rows with the same text are one difference.
pub(super) fn of(kind: DeviationKind) -> Vec<Difference> {
    let mut all: Vec<Difference> = Vec::new();
    let mut push = |subject, name: String, text: Option<&'static str>| {
        let Some(text) = text else { return };
        match all.iter_mut().find(|known| known.text == text) {
            Some(known) => known.names.push(name),
            None => all.push(Difference { subject, names: vec![name], text }),
        }
    };
    for &(what, _, text) in GENERAL.iter().filter(|row| row.1 == kind) {
        push(SUBJECTS[0], what.to_owned(), Some(text));
    }
    for switch in SWITCHES {
        push(SUBJECTS[0], code(&format!("--{}", switch.name)), text_of(switch.status, kind));
    }
    for engine in ENGINES {
        push(SUBJECTS[1], format!("engine {}", code(engine.name)), text_of(engine.status, kind));
    }
    for def in sections().iter().flat_map(|section| &section.options) {
        push(subject(def), name_of(def), text_of(def.status, kind));
    }
    all
}

/// The kinds of differences that a status has, joined by commas; empty without any.
pub(super) fn kinds(status: Status) -> String {
    let Status::Deviates(deviations) = status else { return String::new() };
    deviations.texts().map(|(kind, _)| kind.name()).collect::<Vec<_>>().join(", ")
}

fn text_of(status: Status, kind: DeviationKind) -> Option<&'static str> {
    let Status::Deviates(deviations) = status else { return None };
    deviations.of(kind)
}

/// The name, with the engine or profile that has the option.
fn name_of(def: &OptionDef) -> String {
    let name = code(def.name);
    match def.profile {
        Some(profile) => format!("{name} (profile {})", code(profile)),
        None if def.is_general() => name,
        None => format!("{name} (engine {})", codes(def.engines.iter().copied())),
    }
}

fn subject(def: &OptionDef) -> &'static str {
    let [reports, engines, files, order, data, zones] = SUBJECTS;
    match (def.category, def.group) {
        (Category::Log | Category::Stat, _) | (Category::General, "error" | "clock") => reports,
        (Category::Engine | Category::Profile, _) | (Category::Io, "io-basic") => engines,
        (Category::File | Category::General, _) => files,
        (Category::Io, "io-buf" | "verify" | "trim") => data,
        (Category::Io, "zone" | "iolog") => zones,
        (Category::Io, _) if def.name.contains("zone") => zones,
        (Category::Io, _) => order,
    }
}

/// The page.
pub(super) fn render() -> String {
    let mut text = format!("<!-- {GENERATED} -->\n{INTRODUCTION}\n{}", shares());
    text.push_str("\n## Different results\n");
    let different = of(DeviationKind::Different);
    for subject in SUBJECTS {
        let here: Vec<_> = different.iter().filter(|difference| difference.subject == subject).collect();
        if !here.is_empty() {
            // Infallible: writing to a String never fails.
            let _ = write!(text, "\n### {subject}\n\n");
            push_items(&mut text, &here);
        }
    }
    text.push_str("\n## Mended\n\n");
    push_items(&mut text, &of(DeviationKind::Mended).iter().collect::<Vec<_>>());
    text.push_str("\n## Stricter\n\n");
    push_items(&mut text, &of(DeviationKind::Stricter).iter().collect::<Vec<_>>());
    text.push_str(END);
    text
}

/// How many options of fio work as they do there, and how many differ in which way.
fn shares() -> String {
    let built: Vec<_> = OPTIONS.iter().filter(|def| def.is_general() && def.is_built()).collect();
    let count = |kind| built.iter().filter(|def| text_of(def.status, kind).is_some()).count();
    let [different, mended, stricter] = DeviationKind::ALL.map(count);
    let same = built.iter().filter(|def| def.status == Status::Supported).count();
    format!(
        "Of the {} options of every job that ferrio has, {same} have no known difference, {different} can give a different result, \
         {mended} have something\nmended, and {stricter} are stricter (some have differences of several kinds).\n",
        built.len()
    )
}

/// A line for each difference, with its first sentence.
fn push_items(text: &mut String, differences: &[&Difference]) {
    for difference in differences {
        let _ = writeln!(text, "- {}: {}.", difference.names(), difference.first_sentence());
    }
}

/// The list of a kind with whole texts, for CONFORMANCE.md.
pub(super) fn markdown_table(kind: DeviationKind) -> String {
    let mut text = String::from("| where | difference |\n|---|---|\n");
    for difference in of(kind) {
        super::conformance::push_row(&mut text, &[&difference.names(), &cell(difference.text)]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_the_tables_stands_in_its_list() {
        let statuses = OPTIONS.iter().map(|def| def.status).chain(ENGINES.iter().map(|engine| engine.status));
        for status in statuses.chain(SWITCHES.iter().map(|switch| switch.status)) {
            for kind in DeviationKind::ALL {
                let Some(text) = text_of(status, kind) else { continue };
                assert!(of(kind).iter().any(|difference| difference.text == text), "{text}");
            }
        }
    }

    /// Somebody who switches reads the first list in two minutes, at 200 words a minute.
    #[test]
    fn the_list_of_different_results_is_short() {
        let n_words = |difference: &Difference| {
            difference.names().split_whitespace().count() + difference.first_sentence().split_whitespace().count()
        };
        let total: usize = of(DeviationKind::Different).iter().map(n_words).sum();
        assert!(total <= 2 * 400, "{total} words");
    }

    #[test]
    fn general_differences_begin_with_a_short_sentence() {
        for (what, _, text) in GENERAL {
            let first = text.split(". ").next().unwrap();
            assert!(first.split_whitespace().count() <= 25, "{what}: {first}");
        }
    }
}
