//! The commands `ferrio run` and `ferrio check`, as help, manual pages and completions show them.
//!
//! Their arguments are mixed with those of fio, which fio's own parser reads; these descriptions parse nothing. Start
//! reading at [`run`].

use super::check::ResultOption;
use super::web::ViewOptions;
use super::{CsvOption, JsonOption, PageOption};
use crate::shared::hosts::HostsOptions;
use crate::shared::repeat_options::RepeatOptions;
use crate::ui::described::{of_jobs, switch, value};
use crate::ui::permits::AllowOptions;
use clap::{Arg, Args, Command, ValueHint};

/// What is remembered of a run, and how it ends.
const AFTER_RUN: &str = "The last run on each target is remembered in $XDG_STATE_HOME/ferrio (by default ~/.local/state/ferrio), to \
     tell when the same blocks are read again; FERRIO_STATE=off keeps nothing.\n\n\
     For fio's own report leave out the word run: ferrio JOBFILE|OPTIONS...\n\n\
     Exit code: the number of failed jobs; 128 more after a signal; 2 if nothing could be run. With --repeat or \
     --until: 0; 2 after an error, or where jobs failed; 3 where the figure of --until is not known well enough.";

/// `ferrio run`.
pub(crate) fn run() -> Command {
    let format = value("output-format", "jsonl", "Print a line of JSON for each second of each job while the run goes on, and the findings at its end. --status-interval=TIME sets another length than a second")
        .value_parser(["jsonl"]);
    let [output, anonymous, keep, record] = files_of_a_run();
    let command = of_jobs("ferrio run", "Run fio's jobs, and audit the figures")
        .long_about(
            "Run fio's job files and options, and show ferrio's own report: a row of headline figures for each job, and \
             findings where the evidence contradicts a figure: a cache that answered, a depth that was not reached, \
             writes that were still in memory.",
        )
        .after_help(AFTER_RUN);
    let command = CsvOption::augment_args(JsonOption::augment_args(command)).args([format, output]);
    let command = ViewOptions::augment_args(PageOption::augment_args(command).arg(anonymous));
    let command = AllowOptions::augment_args(command.args([keep, record]));
    HostsOptions::augment_args(RepeatOptions::augment_args(command))
}

/// The options of fio's front end about what becomes of a run's outcome: output, anonymous, keep, record.
pub(crate) fn files_of_a_run() -> [Arg; 4] {
    let output = value("output", "FILE", "Write the report to a file").value_hint(ValueHint::FilePath);
    let anonymous = anonymous("Leave out names of host, kernel, models, paths and mounts, in report, JSON and page");
    let keep = value(
        "keep",
        "NAME",
        "Keep the run, for ferrio history to list, show and compare. FERRIO_KEEP=1 or FERRIO_KEEP=NAME keeps each run",
    )
    .num_args(0..=1)
    .require_equals(true);
    let record = value(
        "record",
        "FILE",
        "Write the whole run to a file, which ferrio report, plot and compare read, in any format of a report; with --repeat, a folder with the record of each run",
    )
    .value_hint(ValueHint::FilePath);
    [output, anonymous, keep, record]
}

/// `ferrio check`.
pub(crate) fn check() -> Command {
    let json = switch("json", "Print the findings as JSON");
    let anonymous = anonymous("Leave out names of host, paths and mounts");
    let command = of_jobs("ferrio check", "Say before a run what would make its figures wrong")
        .long_about(
            "Look at the jobs and at what they would use, and say what would make their figures wrong or easily misread. \
             Nothing is run and nothing is changed. Takes fio's job files and options.",
        )
        .after_help("Exit code: 0; 1 if a figure would be wrong; 2 after an error.")
        .args([json, anonymous]);
    ResultOption::augment_args(command)
}

fn anonymous(help: &'static str) -> Arg {
    switch("anonymous", help)
}
