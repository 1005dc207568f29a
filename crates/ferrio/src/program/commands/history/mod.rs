//! `ferrio history`: runs that are kept, and what can be done with them.
//!
//! Must not know: how runs are stored. Start reading at [`run`]; each subcommand has a file of its own.

mod baseline;
mod compare;
mod export;
mod import;
mod list;
mod prune;
mod show;

use crate::ui::arguments;
use crate::ui::exit;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

const PROGRAM: &str = "ferrio history";

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(
    name = PROGRAM,
    bin_name = PROGRAM,
    about = "Kept runs: list, show, compare, export and prune them",
    long_about = LONG_ABOUT,
    after_help = "Exit code: 0; 2 after an error; compare: that of ferrio compare.",
    disable_help_subcommand = true,
)]
struct Request {
    #[command(subcommand)]
    command: HistoryCommand,
}

#[derive(Debug, Clone, PartialEq, Subcommand)]
enum HistoryCommand {
    /// The kept runs with their headline figures, the last one first
    List(list::ListRequest),
    /// One run: its report and its findings
    Show(show::ShowRequest),
    /// Two runs side by side, as ferrio compare shows them
    #[command(next_line_help = true)]
    Compare(compare::CompareRequest),
    /// The runs that others are compared with
    #[command(subcommand)]
    Baseline(baseline::BaselineCommand),
    /// Runs as CSV or JSON, or the stored result of one
    Export(export::ExportRequest),
    /// Remove runs for good
    #[command(override_usage = "ferrio history prune [OPTIONS] [RUN]...")]
    Prune(prune::PruneRequest),
    /// Keep results in files: reports of fio and ferrio, records
    Import(import::ImportRequest),
}

const LONG_ABOUT: &str = "\
Kept runs: list, show, compare, export and prune them.

  ferrio run --keep JOBFILE             keep a run
  ferrio run --keep=nightly JOBFILE     keep it under a name
  ferrio history import results/*.json  keep results of fio or ferrio
  ferrio history list
  ferrio history show last
  ferrio history compare last-1 last
  ferrio history baseline set nightly
  ferrio history compare baseline last
  ferrio history prune --name=nightly --keep=30 --dry-run

A run is named by its number, by its name (the last run of that name), or as \
last, last-1, ...: the run that was kept last, the one before it, and so on. \
ferrio compare, report and plot take it as a result: history:RUN.

With FERRIO_KEEP=1 in the environment each run is kept, with FERRIO_KEEP=NAME \
under that name. The runs are in $XDG_STATE_HOME/ferrio/history.sqlite (by \
default below ~/.local/state), which its user alone can read; FERRIO_STATE=off \
keeps nothing.";

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::answer(PROGRAM, arguments, |request: &Request, console| {
        match &request.command {
            HistoryCommand::List(request) => list::list(request, console),
            HistoryCommand::Show(request) => show::show(request, console),
            HistoryCommand::Compare(request) => return Ok(compare::compare(request, console)),
            HistoryCommand::Baseline(command) => baseline::baseline(command, console),
            HistoryCommand::Export(request) => export::export(request, console),
            HistoryCommand::Prune(request) => prune::prune(request, console),
            HistoryCommand::Import(request) => import::import(request, console),
        }?;
        Ok(exit::at_end(console.has_failed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn lines_of_help_fit_80_columns() {
        let command = Request::command();
        let mut texts: Vec<String> = command.get_subcommands().cloned().map(arguments::help_text).collect();
        texts.push(arguments::help_text(command));
        for line in texts.iter().flat_map(|text| text.lines()) {
            assert!(line.len() <= 80, "{line}");
        }
    }
}
