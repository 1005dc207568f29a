//! The program's switches, for the documents.

use super::conformance::{push_row, status_note};
use super::text::{cell, code, codes};
use ferrio_job::command_line::switches::SWITCHES;
use ferrio_manual::text::status_word;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_has_a_row() {
        let table = markdown_table();
        for switch in SWITCHES {
            assert!(table.contains(&format!("`--{}`", cell(switch.shown))), "{}", switch.name);
        }
        // A switch of ferrio's own has no letter.
        assert!(table.contains("| `--record=file` | | ") && !table.contains('\0'), "{table}");
    }
}
