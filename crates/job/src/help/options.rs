//! `--cmdhelp`: the list of options, and the details of one.
//!
//! Must not know: the effect of options. The layout is fio's, the words are those of ferrio's table.

use crate::error::valid_values;
use crate::message::UserLine;
use crate::options::definition::{OptionDef, Status};
use crate::options::kind::{Bounds, Kind};
use crate::options::{find_general, find_private, general};
use crate::suggest::{did_you_mean, nearest};
use ferrio_spec::engines::ENGINES;
use ferrio_units::Wording;
use std::fmt::Write as _;

/// Farthest name that is shown for one that does not exist.
pub(super) const MAX_DISTANCE: usize = 2;

/// The list of all options, each under its parent.
pub fn tree() -> String {
    let mut text = String::new();
    for def in general().filter(|def| def.parent.is_none()) {
        branch(&mut text, def, 0);
    }
    text
}

/// An option and those under it. Ends, since the table's parents are checked to form a tree.
fn branch(text: &mut String, def: &OptionDef, depth: usize) {
    line(text, def, depth);
    for child in general().filter(|child| child.parent.is_some_and(|parent| def.is_called(parent))) {
        branch(text, child, depth + 1);
    }
}

pub(super) fn line(text: &mut String, def: &OptionDef, depth: usize) {
    let (indent, width) = (2 * depth, 24_usize.saturating_sub(2 * depth));
    // Writing into a String cannot fail.
    let _ = writeln!(text, "{:indent$}{:<width$}: {}", "", def.name, def.help);
}

/// Some options, a line each.
pub fn list(options: &[&OptionDef]) -> String {
    let mut text = String::new();
    for def in options {
        line(&mut text, def, 0);
    }
    text
}

/// Name, aliases, syntax, default and bounds of an option.
pub fn head(def: &OptionDef, wording: Wording) -> String {
    let mut text = String::new();
    let mut field = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:>20}: {value}");
    };
    field(def.name, def.help);
    for alias in def.aliases {
        field("alias", alias);
    }
    field("type", &def.kind.describe(wording));
    field("default", def.default.unwrap_or("no default"));
    if let Some(range) = range(def.kind) {
        field("range", &range);
    }
    text
}

pub fn details(def: &OptionDef, wording: Wording) -> String {
    let mut text = head(def, wording);
    if let Some(choices) = def.kind.choices() {
        text += &valid_values(choices);
    }
    match def.status {
        Status::Supported => {}
        Status::Deviates(deviations) => text.extend(deviations.texts().map(|(kind, how)| {
            let kind = kind.name();
            format!("{:>20}: differs from fio ({kind}): {how}\n", "status")
        })),
        Status::Planned(why) => {
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            text.extend([format!("{:>20}: known, but not yet supported by ferrio{why}\n", "status")]);
        }
        Status::NotApplicable(why) => text.extend([format!("{:>20}: not applicable: {why}\n", "status")]),
    }
    if !def.long_help.is_empty() {
        text.extend([format!("\n{}\n", def.long_help)]);
    }
    text.push('\n');
    text
}

fn range(kind: Kind) -> Option<String> {
    let bounds = match kind {
        Kind::Bool => Bounds { min: Some(0), max: Some(1) },
        Kind::FloatList { min: Some(min), max: Some(max), .. } => return Some(format!("min={min:.6}, max={max:.6}")),
        _ => kind.bounds()?,
    };
    match (bounds.min, bounds.max) {
        (None, None) => None,
        (Some(min), Some(max)) => Some(format!("min={min}, max={max}")),
        (Some(min), None) => Some(format!("min={min}")),
        (None, Some(max)) => Some(format!("max={max}")),
    }
}

/// Output of `--cmdhelp=NAME`, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionHelp {
    /// For standard error.
    pub complaint: Option<String>,
    /// For standard output.
    pub text: UserLine,
}

/// Everything about the option of a name, if there is one.
pub fn option_details(name: &str, wording: Wording) -> Option<String> {
    find_general(name).map(|def| details(def, wording))
}

/// The answer to `--cmdhelp=NAME`: the option, or the nearest one, or the complaint alone. As in fio, the complaint has no newline,
/// because the other stream goes on in its line. A suggestion follows fio's words where the nearest name is too far for
/// fio, or where an engine has the option.
pub fn one(name: &str) -> OptionHelp {
    if let Some(def) = find_general(name) {
        return OptionHelp { complaint: None, text: UserLine::of(|wording| details(def, wording)) };
    }
    let complaint = format!("No such command: {name}");
    let near = nearest(name, general().flat_map(OptionDef::names)).filter(|(_, distance)| *distance <= MAX_DISTANCE);
    match near.and_then(|(near, _)| find_general(near)) {
        Some(def) => OptionHelp { complaint: Some(complaint), text: closest(def) },
        None => OptionHelp { complaint: Some(complaint + &suggestion(name)), text: "\n".into() },
    }
}

/// The option with the nearest name, behind the complaint that there is none of the given one.
pub(super) fn closest(def: &OptionDef) -> UserLine {
    UserLine::of(|wording| format!(" - showing closest match\n{}", details(def, wording)))
}

/// Where to look instead.
fn suggestion(name: &str) -> String {
    let owners: Vec<&str> =
        ENGINES.iter().map(|engine| engine.name).filter(|engine| find_private(engine, name).is_some()).collect();
    if let Some(first) = owners.first() {
        return format!(" (it is an option of {}: --enghelp={first},{name})", owners.join(", "));
    }
    match did_you_mean(name, general().flat_map(OptionDef::names)) {
        Some(near) => format!(" (did you mean {near}?)"),
        None => " (--cmdhelp lists all options)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The layout of fio 3.41, with the words of this table.
    #[test]
    fn the_tree_indents_children() {
        let tree = tree();
        let lines: Vec<&str> = tree.lines().collect();
        assert_eq!(lines[0], "description             : Free text shown in reports for the job; no effect on I/O");
        let depth = lines.iter().position(|line| line.starts_with("iodepth ")).unwrap();
        assert!(lines[depth + 1].starts_with("  iodepth_batch         : "), "{}", lines[depth + 1]);
        assert!(lines[depth + 2].starts_with("  iodepth_batch_complete_min: "), "{}", lines[depth + 2]);
        assert_eq!(lines.len(), general().count());
    }

    #[test]
    fn details_have_the_layout_of_the_reference() {
        let expected = "             nrfiles: How many files the job spreads over\n\
                        \x20              alias: nr_files\n\
                        \x20               type: integer value (opt=100)\n\
                        \x20            default: 1\n\
                        \x20              range: min=1\n\
                        \x20             status: differs from fio (stricter): The value 0 is refused; fio does no I/O and \
                        reports success.\n\n";
        let found = one("nrfiles");
        assert_eq!(found.complaint, None);
        assert_eq!(found.text, expected);
        assert_eq!(one("nr_files").text, expected);
        let sequencer = one("rw_sequencer").text;
        assert!(sequencer.contains("        valid values: sequential "), "{sequencer}");
        assert!(sequencer.contains("\n                    : identical  "), "{sequencer}");
    }

    // fio 3.41 finds bs for bss and for bsX, and nothing for xyz.
    #[test]
    fn near_names_are_shown() {
        assert!(one("bss").text.starts_with(" - showing closest match\n                  bs: "));
        assert_eq!(one("bss").complaint.as_deref(), Some("No such command: bss"));
        // Suggestions are ferrio's own.
        for (name, suggested) in [
            ("xyzzyxyzzyxyzzy", "(--cmdhelp lists all options)"),
            ("randrepeatable", "(did you mean randrepeat?)"),
            ("sqthread_poll_cpu", "(it is an option of io_uring, io_uring_cmd: --enghelp=io_uring,sqthread_poll_cpu)"),
        ] {
            let complaint = Some(format!("No such command: {name} {suggested}"));
            assert_eq!(one(name), OptionHelp { complaint, text: "\n".into() });
        }
    }
}
