//! The parts of the package `ferrio` form layers too: each part of the library uses only those below it, and the program alone has
//! arguments, terminals and errors without a type.

use super::super::Finding;
use super::super::source::Source;
use proc_macro2::TokenTree;

const PACKAGE: &str = "crates/ferrio/src/";
/// The program, which may use the whole library.
const PROGRAM: &str = "program";
/// The parts of the library, lowest first, each with those that it may use.
const PARTS: &[(&str, &[&str])] = &[
    ("history", &[]),
    ("session", &["history"]),
    ("live", &["session"]),
    ("sweep", &["session"]),
    ("fit", &["session", "sweep"]),
    ("precondition", &["session"]),
    ("profile", &["session", "sweep"]),
    ("fleet", &["session"]),
];
/// Crates of the program alone.
const OF_PROGRAM: [&str; 3] = ["anyhow", "clap", "indicatif"];

/// A part that uses one which is not below it, and a library file that names what belongs to the program.
pub(super) fn misplaced_use(source: &Source<'_>) -> Vec<Finding> {
    let Some(inside) = source.path.strip_prefix(PACKAGE) else { return Vec::new() };
    let place = inside.split('/').next().unwrap_or_default();
    if place == PROGRAM {
        return Vec::new();
    }
    let part = PARTS.iter().find(|(name, _)| *name == place);
    let found = source.tokens.windows(4).filter_map(|window| {
        let [TokenTree::Ident(first), TokenTree::Punct(one), TokenTree::Punct(two), TokenTree::Ident(second)] = window
        else {
            return None;
        };
        if one.as_char() != ':' || two.as_char() != ':' {
            return None;
        }
        let line = first.span().start().line;
        if OF_PROGRAM.iter().any(|name| first == name) {
            return Some((line, format!("{first} belongs to the program ({PACKAGE}{PROGRAM})")));
        }
        let (name, allowed) = part?;
        let is_above = PARTS.iter().any(|(other, _)| second == other && other != name && !allowed.contains(other));
        (first == "crate" && is_above).then(|| (line, format!("{name} may not use {second}")))
    });
    found.map(|(line, message)| source.finding("part", line, 1, message)).collect()
}

/// A command that uses another one: what two commands need is in `ui` or `shared`.
pub(super) fn command_in_command(source: &Source<'_>) -> Vec<Finding> {
    let Some(inside) = source.path.strip_prefix("crates/ferrio/src/program/commands/") else { return Vec::new() };
    let own = inside.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    let found = source.tokens.windows(7).filter_map(|window| {
        let [TokenTree::Ident(root), _, _, TokenTree::Ident(commands), _, _, TokenTree::Ident(other)] = window else {
            return None;
        };
        let is_other = root == "crate" && commands == "commands" && other != own;
        is_other.then(|| (other.span().start().line, format!("the command {own} uses the command {other}")))
    });
    found.map(|(line, message)| source.finding("command-import", line, 1, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    #[test]
    fn parts_use_those_below_them() {
        let text = "use crate::sweep::a;\nuse crate::session::b;\nuse crate::Error;\nuse anyhow::Result;\n";
        assert_eq!(lines_found(misplaced_use, "crates/ferrio/src/session/a.rs", text), [1, 4]);
        assert_eq!(lines_found(misplaced_use, "crates/ferrio/src/fit/a.rs", text), [4]);
        assert_eq!(lines_found(misplaced_use, "crates/ferrio/src/runner.rs", text), [4]);
        assert_eq!(lines_found(misplaced_use, "crates/ferrio/src/program/ui/a.rs", text), [0; 0]);
    }

    #[test]
    fn a_command_that_uses_another_is_found() {
        let text = "use crate::commands::sweep::a;\nuse crate::commands::fit::b;\nuse crate::ui::c;\n";
        assert_eq!(lines_found(command_in_command, "crates/ferrio/src/program/commands/fit/a.rs", text), [1]);
        assert_eq!(lines_found(command_in_command, "crates/ferrio/src/program/ui/a.rs", text), [0; 0]);
    }
}
