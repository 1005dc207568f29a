//! Data for the completion in shells: names, help and words of switches and options.
//!
//! Must not know: any shell's language. Start reading at [`completions`].

use super::switches::needs_value;
use super::text::offered_words;
use ferrio_job::command_line::switches::{SWITCHES, Switch, SwitchDef};
use ferrio_job::options::OPTIONS;
use ferrio_job::options::definition::{OptionDef, Status};
use ferrio_job::options::kind::Kind;
use ferrio_spec::OUTPUT_FORMATS;
use ferrio_spec::engines::ENGINES;
use std::collections::BTreeSet;

/// A name that may follow `--`.
pub(super) struct Completion {
    /// The name, without dashes.
    pub(super) name: &'static str,
    /// One line of help.
    pub(super) help: &'static str,
    /// The words that its value can be; empty when it is free.
    pub(super) words: Vec<&'static str>,
    /// The value after the name.
    pub(super) value: Value,
}

/// Whether a value follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// None, or `=value`.
    Optional,
    /// A value that is no file.
    Plain,
    /// A text, perhaps the name of a file.
    File,
}

/// Every name of every switch and option that ferrio can act on, each once.
pub(super) fn completions() -> Vec<Completion> {
    let mut seen = BTreeSet::new();
    let options =
        OPTIONS.iter().filter(|def| def.is_built()).flat_map(|def| def.names().map(|name| of_option(def, name)));
    let switches = SWITCHES.iter().filter(|switch| switch.is_built()).map(of_switch);
    switches.chain(options).filter(|completion| seen.insert(completion.name)).collect()
}

fn of_switch(switch: &'static SwitchDef) -> Completion {
    let words = switch_words(switch.switch);
    let value = match (needs_value(switch), words.is_empty()) {
        (false, true) => Value::Optional,
        (true, true) if switch.switch == Switch::Output => Value::File,
        _ => Value::Plain,
    };
    Completion { name: switch.name, help: switch.help.first().copied().unwrap_or_default(), words, value }
}

fn switch_words(switch: Switch) -> Vec<&'static str> {
    match switch {
        Switch::OutputFormat => OUTPUT_FORMATS.iter().map(|format| format.name).collect(),
        Switch::Eta => vec!["always", "never", "auto"],
        Switch::Enghelp => built_engines(),
        Switch::TerseVersion => vec!["2", "3", "4", "5"],
        _ => Vec::new(),
    }
}

fn of_option(def: &'static OptionDef, name: &'static str) -> Completion {
    let words = if def.name == "ioengine" { built_engines() } else { offered_words(def) };
    let value = match def.kind {
        Kind::Flag => Value::Optional,
        Kind::Text | Kind::OptionalText | Kind::Pattern if words.is_empty() => Value::File,
        _ => Value::Plain,
    };
    Completion { name, help: def.help, words, value }
}

fn built_engines() -> Vec<&'static str> {
    let built = |status| matches!(status, Status::Supported | Status::Deviates(_));
    ENGINES.iter().filter(|engine| built(engine.status)).map(|engine| engine.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_fit_for_a_shell() {
        let all = completions();
        let names: BTreeSet<_> = all.iter().map(|completion| completion.name).collect();
        assert_eq!(names.len(), all.len());
        for completion in &all {
            let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+:".contains(c));
            assert!(plain(completion.name), "{}", completion.name);
            assert!(completion.words.iter().all(|word| plain(word)), "{}", completion.name);
        }
    }
}
