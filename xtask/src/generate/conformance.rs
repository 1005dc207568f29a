//! CONFORMANCE.md: the state of fio's features in ferrio, by option, engine and format.

use super::text::{GENERATED, cell, code, codes, refused_values};
use super::{differences, switches};
use ferrio_job::command_line::switches::SWITCHES;
use ferrio_job::options::OPTIONS;
use ferrio_job::options::definition::{OptionDef, Status};
use ferrio_manual::sections::{OptionSection, sections};
use ferrio_manual::text::{status_reason, status_word};
use ferrio_spec::engines::ENGINES;
use ferrio_spec::{DeviationKind, OUTPUT_FORMATS};
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# Conformance

What of fio 3.42 works in ferrio, and what ferrio has beside it. The rows come from the tables that the program itself parses
with: what is planned here is what the parser refuses.

- **supported**: works as in fio.
- **deviates**: works, with differences that the first three lists name.
- **planned**: known and not built, where a reason stands beside it for that reason. A value that would change something is refused
  with an error that names the option.
- **not applicable**: known, and will not come, for the reason that is named. Refused in the same way.

A difference from fio is of one of three kinds:

- **different result**: both programs work, and a user who switches sees something else.
- **mended**: fio fails, hangs, crashes or counts wrongly; ferrio does not.
- **stricter**: ferrio refuses what fio ignores or misreads.

[docs/from-fio-differences.md](docs/from-fio-differences.md) has these lists in short. In the following table, a row with differences
of several kinds counts for the first of them.
";

/// The lists of differences, with their headings.
const LISTS: [(&str, DeviationKind); 3] = [
    ("Different results", DeviationKind::Different),
    ("Mended", DeviationKind::Mended),
    ("Stricter", DeviationKind::Stricter),
];

pub(super) fn render() -> String {
    let mut text = format!("<!-- {GENERATED} -->\n{INTRODUCTION}\n{}", counts());
    for (title, kind) in LISTS {
        // Infallible: writing to a String never fails.
        let _ = write!(text, "\n## {title}\n\n{}", differences::markdown_table(kind));
    }
    text.push_str("\n## Output formats\n\n");
    text.push_str(&format_table());
    text.push_str("\n## Engines\n\n");
    text.push_str(&engine_table());
    text.push_str("\n## Switches\n\n");
    text.push_str(&switches::markdown_table());
    text.push_str("\n## Options\n");
    for section in sections() {
        text.push_str(&option_table(&section));
    }
    text
}

fn counts() -> String {
    let mut text =
        String::from("| | supported | different result | mended | stricter | planned | not applicable | all |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|--:|--:|\n");
    let general = OPTIONS.iter().filter(|def| def.is_general()).map(|def| def.status);
    let private = OPTIONS.iter().filter(|def| !def.is_general()).map(|def| def.status);
    push_count(&mut text, "options of every job", &general.collect::<Vec<_>>());
    push_count(&mut text, "options of engines and profiles", &private.collect::<Vec<_>>());
    push_count(&mut text, "engines", &ENGINES.iter().map(|engine| engine.status).collect::<Vec<_>>());
    push_count(&mut text, "switches", &SWITCHES.iter().map(|switch| switch.status).collect::<Vec<_>>());
    push_count(&mut text, "output formats", &vec![Status::Supported; OUTPUT_FORMATS.len()]);
    text
}

fn push_count(text: &mut String, what: &str, statuses: &[Status]) {
    let count = |word| statuses.iter().filter(|&&status| counted_as(status) == word).count();
    let [different, mended, stricter] = DeviationKind::ALL.map(|kind| count(kind.name()));
    let [supported, planned, not_applicable] = ["supported", "planned", "not applicable"].map(count);
    let cells = [supported, different, mended, stricter, planned, not_applicable, statuses.len()];
    let cells = cells.map(|cell| cell.to_string());
    push_row(text, &[&[what], &cells.each_ref().map(String::as_str)[..]].concat());
}

/// The column of a row: its status, or the most important kind of its differences.
fn counted_as(status: Status) -> &'static str {
    match status {
        Status::Deviates(deviations) => deviations.texts().next().map_or("deviates", |(kind, _)| kind.name()),
        _ => status_word(status),
    }
}

/// The reason of a status, or the kinds of its differences.
pub(super) fn status_note(status: Status) -> String {
    Some(differences::kinds(status)).filter(|kinds| !kinds.is_empty()).unwrap_or_else(|| cell(status_reason(status)))
}

/// A format is built if it is in the table; fio has no others.
fn format_table() -> String {
    let mut text = String::from("| format | other names | what it is | status |\n|---|---|---|---|\n");
    for format in OUTPUT_FORMATS {
        let aliases = codes(format.aliases.iter().copied());
        push_row(&mut text, &[&code(format.name), &aliases, &cell(format.help), status_word(Status::Supported)]);
    }
    text
}

fn engine_table() -> String {
    let mut text = String::from("| engine | what it does | status | note |\n|---|---|---|---|\n");
    for engine in ENGINES {
        let (name, help) = (code(engine.name), cell(engine.help));
        push_row(&mut text, &[&name, &help, status_word(engine.status), &status_note(engine.status)]);
    }
    text
}

fn option_table(section: &OptionSection) -> String {
    let mut text = format!("\n### {}\n\n| option | other names | status | note |\n|---|---|---|---|\n", section.title);
    for def in &section.options {
        let names = codes(def.aliases.iter().copied());
        push_row(&mut text, &[&code(def.name), &names, status_word(def.status), &note(def)]);
    }
    text
}

/// The reason of the status, and values with another status than the option's.
fn note(def: &OptionDef) -> String {
    let reason = Some(status_note(def.status)).filter(|reason| !reason.is_empty());
    reason.into_iter().chain(refused_values(def)).collect::<Vec<_>>().join("; ")
}

/// One row; an empty cell leaves no trailing blank.
pub(super) fn push_row(text: &mut String, cells: &[&str]) {
    for cell in cells {
        text.push_str("| ");
        text.push_str(cell);
        text.push_str(if cell.is_empty() { "" } else { " " });
    }
    text.push_str("|\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_and_engine_has_a_row() {
        let text = render();
        for def in OPTIONS {
            assert!(text.contains(&format!("| {} |", code(def.name))), "{}", def.name);
        }
        for engine in ENGINES {
            assert!(text.contains(&format!("| {} |", code(engine.name))), "{}", engine.name);
        }
    }

    #[test]
    fn the_counts_add_up() {
        let mut text = String::new();
        let both = Status::Supported.deviating(DeviationKind::Stricter, "s").deviating(DeviationKind::Mended, "m");
        push_count(&mut text, "x", &[Status::Supported, Status::Planned(None), Status::Planned(Some("why")), both]);
        assert_eq!(text, "| x | 1 | 0 | 1 | 0 | 2 | 0 | 4 |\n");
        assert_eq!(status_note(both), "mended, stricter");
    }

    #[test]
    fn rows_have_no_trailing_blanks() {
        let mut text = String::new();
        push_row(&mut text, &["a", "", "b"]);
        assert_eq!(text, "| a | | b |\n");
    }
}
