//! The commands `ferrio run` and `ferrio check`, as help, manual pages and completions show them.
//!
//! Their arguments are mixed with those of fio, which fio's own parser reads; these descriptions parse nothing. Start
//! reading at [`run`].

use crate::ui::described::{of_jobs, switch, value};
use crate::ui::permits::{ALLOW_HELP, ALLOW_VALUE};
use clap::{Arg, Command, ValueHint};

/// What is remembered of a run, and how it ends.
const AFTER_RUN: &str = "The last run on each target is remembered in $XDG_STATE_HOME/ferrio (by default ~/.local/state/ferrio), to \
     tell when the same blocks are read again; FERRIO_STATE=off keeps nothing.\n\n\
     For fio's own report leave out the word run: ferrio JOBFILE|OPTIONS...\n\n\
     Exit code: the number of failed jobs; 128 more after a signal; 2 if nothing could be run. With --repeat or \
     --until: 0; 2 after an error, or where jobs failed; 3 where the figure of --until is not known well enough.";

/// `ferrio run`.
pub(crate) fn run() -> Command {
    let output = [
        switch("json", "Print the whole result as JSON"),
        switch("csv", "Print the figures with commas and a header, a line for each job and direction, without findings"),
        value("output-format", "jsonl", "Print a line of JSON for each second of each job while the run goes on, and the findings at its end. --status-interval=TIME sets another length than a second")
            .value_parser(["jsonl"]),
        value("output", "FILE", "Write the report to a file").value_hint(ValueHint::FilePath),
        value("html", "FILE", "Write a page with charts too").value_hint(ValueHint::FilePath),
        anonymous("Leave out names of host, kernel, models, paths and mounts, in report, JSON and page"),
    ];
    let views = [
        switch(
            "live",
            "Show the run on the whole terminal while it goes on: rates, latencies and depth of each job, devices, findings so far; q ends the run",
        ),
        value(
            "web",
            "ADDR",
            "Show the run as a page for browsers while it goes on, and its report at the end; /metrics is for Prometheus, /result.json for programs (after the end only while a page is open). ADDR is HOST:PORT, or PORT on 127.0.0.1; port 0 is any free one",
        ),
        value(
            "web-token",
            "TOKEN",
            "What readers of --web must know (http://ADDR/?token=TOKEN), where other machines reach ADDR. The environment variable FERRIO_WEB_TOKEN keeps it secret from other users of this machine",
        ),
    ];
    let allow = value("allow", ALLOW_VALUE, ALLOW_HELP);
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
    let repeats = [
        value(
            "repeat",
            "N",
            "Make N runs, and show the mean of each figure, its interval, and how much the runs differ",
        ),
        value(
            "until",
            "FIGURE",
            "Repeat the run until the interval of a figure is small enough, such as 'read.iops ± 2 %': at least 3 times, at most --repeat times (30 without it)",
        ),
        value("rest", "TIME", "Pause between repeated runs"),
        switch("drop-caches", "Drop the page cache of the machine before each repeated run (root)"),
    ];
    of_jobs("ferrio run", "Run fio's jobs, and audit the figures")
        .long_about(
            "Run fio's job files and options, and show ferrio's own report: a row of headline figures for each job, and \
             findings where the evidence contradicts a figure: a cache that answered, a depth that was not reached, \
             writes that were still in memory.",
        )
        .args(output)
        .args(views)
        .args([keep, record, allow])
        .args(repeats)
        .after_help(AFTER_RUN)
}

/// `ferrio check`.
pub(crate) fn check() -> Command {
    let options = [
        switch("json", "Print the findings as JSON"),
        anonymous("Leave out names of host, paths and mounts"),
        value("result", "FILE", "Examine the result of a run instead, such as the JSON of fio: which figures its own evidence contradicts, and what could not be examined")
            .value_hint(ValueHint::FilePath),
    ];
    of_jobs("ferrio check", "Say before a run what would make its figures wrong")
        .long_about(
            "Look at the jobs and at what they would use, and say what would make their figures wrong or easily misread. \
             Nothing is run and nothing is changed. Takes fio's job files and options.",
        )
        .args(options)
        .after_help("Exit code: 0; 1 if a figure would be wrong; 2 after an error.")
}

fn anonymous(help: &'static str) -> Arg {
    switch("anonymous", help)
}
