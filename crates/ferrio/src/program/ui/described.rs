//! Descriptions of options, of which help, manual pages and completions are made.

use clap::{Arg, ArgAction, Command, ValueHint};
use ferrio_manual::man::JOB_WORDS;

/// A command that takes fio's job files and options.
pub(crate) fn of_jobs(name: &'static str, about: &'static str) -> Command {
    let jobs = Arg::new(JOB_WORDS)
        .value_name("JOBFILE|OPTIONS")
        .num_args(1..)
        .action(ArgAction::Append)
        .help("fio's job files and options")
        .value_hint(ValueHint::FilePath);
    Command::new(name).bin_name(name).about(about).arg(jobs)
}

/// An option without a value.
pub(crate) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

pub(crate) fn value(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}
