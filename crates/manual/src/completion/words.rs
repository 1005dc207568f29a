//! Names, help and words of switches and options.
//!
//! Must not know: any shell's language. Start reading at [`flags_of_fio`].

use ferrio_job::command_line::switches::{Argument, SWITCHES, Switch, SwitchDef};
use ferrio_job::options::OPTIONS;
use ferrio_job::options::definition::OptionDef;
use ferrio_job::options::kind::Kind;
use ferrio_spec::OUTPUT_FORMATS;
use ferrio_spec::engines::ENGINES;
use std::collections::BTreeSet;

/// A name that may follow `--`.
pub(super) struct Flag {
    /// The name, without dashes.
    pub(super) name: String,
    /// One line of help.
    pub(super) help: String,
    /// The words that its value can be; empty when it is free.
    pub(super) words: Vec<String>,
    /// The value after the name.
    pub(super) value: FlagValue,
}

/// Whether a value follows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FlagValue {
    /// None, or `=value`.
    Optional,
    /// A value that is no file.
    Plain,
    /// A text, perhaps the name of a file.
    File,
}

/// Every name of every switch and option that ferrio can act on, each once.
pub(super) fn flags_of_fio() -> Vec<Flag> {
    let mut seen = BTreeSet::new();
    let options =
        OPTIONS.iter().filter(|def| def.is_built()).flat_map(|def| def.names().map(|name| of_option(def, name)));
    let switches = SWITCHES.iter().filter(|switch| switch.is_built()).map(of_switch);
    switches.chain(options).filter(|flag| seen.insert(flag.name.clone())).collect()
}

fn flag(name: &str, help: &str, words: &[&str], value: FlagValue) -> Flag {
    let words = words.iter().map(|&word| word.to_owned()).collect();
    Flag { name: name.to_owned(), help: help.to_owned(), words, value }
}

fn of_switch(switch: &'static SwitchDef) -> Flag {
    let words = switch_words(switch.switch);
    let value = match (switch.argument == Argument::Required, words.is_empty()) {
        (false, true) => FlagValue::Optional,
        (true, true) if switch.switch == Switch::Output => FlagValue::File,
        _ => FlagValue::Plain,
    };
    flag(switch.name, switch.help.first().copied().unwrap_or_default(), &words, value)
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

fn of_option(def: &'static OptionDef, name: &'static str) -> Flag {
    let words = if def.name == "ioengine" { built_engines() } else { offered_words(def) };
    let value = match def.kind {
        Kind::Flag => FlagValue::Optional,
        Kind::Text | Kind::OptionalText | Kind::Pattern if words.is_empty() => FlagValue::File,
        _ => FlagValue::Plain,
    };
    flag(name, def.help, &words, value)
}

/// The words that a shell may offer as a value of the option.
fn offered_words(def: &OptionDef) -> Vec<&'static str> {
    match def.kind {
        Kind::Bool => vec!["0", "1"],
        kind => kind.choices().unwrap_or_default().iter().map(|choice| choice.word).collect(),
    }
}

fn built_engines() -> Vec<&'static str> {
    ENGINES.iter().filter(|engine| engine.status.is_built()).map(|engine| engine.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_fit_for_a_shell() {
        let all = flags_of_fio();
        let names: BTreeSet<_> = all.iter().map(|flag| &flag.name).collect();
        assert_eq!(names.len(), all.len());
        for flag in &all {
            let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+:".contains(c));
            assert!(plain(&flag.name), "{}", flag.name);
            assert!(flag.words.iter().all(|word| plain(word)), "{}", flag.name);
        }
    }
}
