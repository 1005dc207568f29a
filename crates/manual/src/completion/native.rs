//! Native commands as a shell completes them, from their descriptions.
//!
//! Must not know: any shell's language. Start reading at [`NativeCommand`].

use super::words::{Flag, FlagValue};
use crate::man::JOB_WORDS;
use clap::{Arg, Command, ValueHint};

/// A native command, or a command of one (`ferrio history list`).
pub(super) struct NativeCommand {
    /// The word that calls it.
    pub(super) name: String,
    /// Its purpose, in a few words.
    pub(super) about: String,
    pub(super) flags: Vec<Flag>,
    /// True if it takes fio's job files and options too.
    pub(super) takes_jobs: bool,
    /// The words of its operand; empty when it takes files.
    pub(super) operands: Vec<String>,
    pub(super) commands: Vec<NativeCommand>,
}

impl NativeCommand {
    /// As its description says.
    pub(super) fn of(command: &Command) -> Self {
        // A description is complete only when it is built: help is an option then.
        let mut command = command.clone();
        command.build();
        Self::of_built(&command)
    }

    fn of_built(command: &Command) -> Self {
        let name = command.get_name().rsplit(' ').next().unwrap_or_default().to_owned();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let flags = command.get_opts().chain(command.get_arguments().filter(|arg| is_switch(arg)));
        let mut flags: Vec<Flag> = flags.filter(|arg| !arg.is_hide_set()).filter_map(of_argument).collect();
        flags.sort_by(|one, other| one.name.cmp(&other.name));
        flags.dedup_by(|one, other| one.name == other.name);
        Self {
            name,
            about,
            flags,
            takes_jobs: command.get_positionals().any(|arg| arg.get_id() == JOB_WORDS),
            operands: command.get_positionals().flat_map(words_of).collect(),
            commands: command.get_subcommands().map(Self::of_built).collect(),
        }
    }
}

/// A name without a value.
fn is_switch(argument: &Arg) -> bool {
    argument.get_long().is_some() && !argument.get_action().takes_values()
}

fn of_argument(argument: &Arg) -> Option<Flag> {
    let words = words_of(argument);
    let is_file = matches!(argument.get_value_hint(), ValueHint::FilePath | ValueHint::AnyPath | ValueHint::DirPath)
        || argument
            .get_value_names()
            .unwrap_or_default()
            .iter()
            .any(|name| ["FILE", "PAGE", "DIR"].contains(&name.as_str()));
    let value = match argument.get_action().takes_values() {
        false => FlagValue::Optional,
        true if words.is_empty() && is_file => FlagValue::File,
        true => FlagValue::Plain,
    };
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    // The first sentence: a shell shows it beside the name.
    let help = help.split(". ").next().unwrap_or_default().replace('\n', " ");
    Some(Flag { name: argument.get_long()?.to_owned(), help, words, value })
}

fn words_of(argument: &Arg) -> Vec<String> {
    if !argument.get_action().takes_values() {
        return Vec::new();
    }
    argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| value.get_name().to_owned())
        .collect()
}
