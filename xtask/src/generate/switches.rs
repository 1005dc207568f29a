//! The program's switches, for the documents.

use super::conformance::{push_row, status_note};
use super::man::escape;
use super::text::{cell, code, codes, status_word};
use ferrio_job::command_line::switches::{Argument, SWITCHES, SwitchDef};
use std::fmt::Write as _;

/// Table for CONFORMANCE.md.
pub(super) fn markdown_table() -> String {
    let mut text = String::from("| switch | short | what it does | status | note |\n|---|---|---|---|---|\n");
    for switch in SWITCHES {
        let long = code(&format!("--{}", switch.shown));
        let short = switch.short().map_or_else(String::new, |letter| codes([format!("-{letter}").as_str()]));
        let status = switch.status;
        let row = [&long, &short, &cell(&switch.help.join(" ")), status_word(status), &status_note(status)];
        push_row(&mut text, &row);
    }
    text
}

/// Entries for the manual page; switches that fio has withdrawn are left out.
pub(super) fn push_man(text: &mut String) {
    for switch in SWITCHES.iter().filter(|switch| !switch.help.is_empty()) {
        let planned = if switch.is_built() { "" } else { " (planned)" };
        let (long, help) = (escape(switch.shown), escape(&switch.help.join(" ")));
        // Infallible: writing to a String never fails.
        let short = switch.short().map_or_else(String::new, |letter| format!(", \\fB\\-{letter}\\fR"));
        let _ = writeln!(text, ".TP\n\\fB\\-\\-{long}\\fR{short}\n{help}{planned}.");
    }
}

/// Does a value follow the name as a word of its own?
pub(super) fn needs_value(switch: &SwitchDef) -> bool {
    switch.argument == Argument::Required
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_has_a_row_and_an_entry() {
        let table = markdown_table();
        let mut page = String::new();
        push_man(&mut page);
        for switch in SWITCHES {
            assert!(table.contains(&format!("`--{}`", cell(switch.shown))), "{}", switch.name);
            assert_eq!(page.contains(&escape(switch.shown)), !switch.help.is_empty(), "{}", switch.name);
        }
        // A switch of ferrio's own has no letter.
        assert!(
            table.contains("| `--record=file` | | ") && page.contains("\n\\fB\\-\\-record=file\\fR\n"),
            "{table}{page}"
        );
        assert!(![table, page].concat().contains('\0'));
    }
}
