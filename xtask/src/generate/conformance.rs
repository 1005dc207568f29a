//! CONFORMANCE.md: the state of fio's features in ferrio, by option, engine and format.

use super::sections::{Section, sections};
use super::switches;
use super::text::{GENERATED, cell, code, codes, refused_values, status_reason, status_word};
use ferrio_job::command_line::switches::SWITCHES;
use ferrio_job::options::OPTIONS;
use ferrio_job::options::definition::{OptionDef, Status};
use ferrio_spec::OUTPUT_FORMATS;
use ferrio_spec::engines::ENGINES;
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# Conformance

What of fio 3.42 works in ferrio, and what ferrio has beside it. The rows come from the tables that the program itself parses
with: what is planned here is what the parser refuses.

- **supported**: works as in fio.
- **deviates**: works, with the difference that is named.
- **planned**: known and not built, where a reason stands beside it for that reason. A value that would change something is refused
  with an error that names the option.
- **not applicable**: known, and will not come, for the reason that is named. Refused in the same way.

Of the values of all options ferrio refuses what fio 3.41 takes for another one: a number that is larger than its place, and is
cut off; a negative number where nothing is meant by it, which becomes a large one; several numbers where there is one; a
percentage where none is possible, of which `N%` becomes the number -1-N; and a bad value, or one too many, beside a good
one of another direction. Words behind which nothing is expected may, as in fio, be followed by a colon or comma and any text.

In the exit code ferrio counts, beside the jobs that failed, each job that was killed before it had done its work, and as one
more an output or logs that could not be opened or written. fio counts none of these.

Letters behind one dash of which one is no switch (`-sqthread_poll-cpu=1`) are one unknown option in ferrio, with the nearest name. fio
names the first such letter and an option that stands elsewhere.
";

/// The document.
pub(super) fn render() -> String {
    let mut text = format!("<!-- {GENERATED} -->\n{INTRODUCTION}\n{}", counts());
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
        String::from("| | supported | deviates | planned | not applicable | all |\n|---|--:|--:|--:|--:|--:|\n");
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
    let count = |word| statuses.iter().filter(|&&status| status_word(status) == word).count();
    let [supported, deviates, planned, not_applicable] =
        ["supported", "deviates", "planned", "not applicable"].map(count);
    // Infallible: writing to a String never fails.
    let _ = writeln!(text, "| {what} | {supported} | {deviates} | {planned} | {not_applicable} | {} |", statuses.len());
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
        push_row(&mut text, &[&name, &help, status_word(engine.status), &cell(status_reason(engine.status))]);
    }
    text
}

fn option_table(section: &Section) -> String {
    let mut text = format!("\n### {}\n\n| option | other names | status | note |\n|---|---|---|---|\n", section.title);
    for def in &section.options {
        let names = codes(def.aliases.iter().copied());
        push_row(&mut text, &[&code(def.name), &names, status_word(def.status), &note(def)]);
    }
    text
}

/// The reason of the status, and values with another status than the option's.
fn note(def: &OptionDef) -> String {
    let reason = Some(cell(status_reason(def.status))).filter(|reason| !reason.is_empty());
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
        push_count(
            &mut text,
            "x",
            &[Status::Supported, Status::Planned(None), Status::Planned(Some("why")), Status::Deviates("why")],
        );
        assert_eq!(text, "| x | 1 | 1 | 2 | 0 | 4 |\n");
    }

    #[test]
    fn rows_have_no_trailing_blanks() {
        let mut text = String::new();
        push_row(&mut text, &["a", "", "b"]);
        assert_eq!(text, "| a | | b |\n");
    }
}
