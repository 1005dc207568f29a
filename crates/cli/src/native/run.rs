//! `ferrio run`: fio's job files and options with ferrio's own report: a table of headline figures, and findings about
//! them.
//!
//! Must not know: rules, how figures are laid out. Start reading at [`run`].

use super::{Request, last_runs, parse, print_all, report_text};
use crate::console::{Console, show_progress};
use crate::csv_table::csv_table;
use crate::drop_in;
use crate::kept;
use crate::native_words::{note_text, run_error_text};
use crate::signals::Signals;
use crate::version::VERSION;
use ferrio_report::eta::EtaLine;
use ferrio_report::logs::LogFiles;
use ferrio_report::native::headlines;
use ferrio_report::start;
use ferrio_run::{Run, RunError, RunEvent, RunObserver, RunOutcome, RunSettings};
use ferrio_spec::{Compatibility, ControlSettings, RunSpec};
use ferrio_stats::RunRecord;
use ferrio_sys::output::{FileRole, KeptFiles, WholeFile};
use serde_json::json;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const HELP: &str = "\
usage: ferrio run [--json|--csv] [--html=FILE] JOBFILE|OPTIONS...

Runs fio's job files and options, and shows ferrio's own report: a row of
headline figures for each job, and what speaks against them: a cache that
answered, a depth that was not reached, writes that were still in memory.

  --json          all of it as JSON
  --csv           the figures with commas and a header, a line for each job and
                  direction, without findings
  --output=FILE   the report goes to a file
  --html=FILE     also a page with charts
  --anonymous     without names of host, kernel, models, paths and mounts, in
                  report, JSON and page

The last run on each target is remembered in $XDG_STATE_HOME/ferrio (by default
~/.local/state/ferrio), to tell when the same blocks are read again;
FERRIO_STATE=off does without.

For fio's own report leave out the word run: ferrio JOBFILE|OPTIONS...

Exit code: 0; 1 to 127 where so many jobs failed; 128 more after a signal.
";

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command("ferrio run");
    if arguments.len() == 1 || arguments[1] == "--help" || arguments[1] == "-h" {
        console.report(HELP);
        return if arguments.len() == 1 { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    let request = match parse("run", arguments) {
        Ok(request) => request,
        Err(messages) => {
            print_all(&mut console, &messages);
            return ExitCode::FAILURE;
        }
    };
    let mut kept = kept::of_run(&request.invocation.run, &request.inputs);
    if let Some(path) = &request.invocation.output.file {
        console = match Console::to_file(path, &kept) {
            Ok(console) => console.named("ferrio run"),
            Err(error) => {
                let error = ferrio_units::error_text(&error);
                console.error(&format!("ferrio run: cannot open output file {}: {error}\n", path.display()));
                return ExitCode::FAILURE;
            }
        };
        kept.add(path.clone(), FileRole::Output);
    }
    start(request, kept, arguments, &mut console)
}

fn start(request: Request, kept: KeptFiles, arguments: &[OsString], console: &mut Console) -> ExitCode {
    let Request { json, csv, html, invocation, inputs } = request;
    let has_report_alone = json || csv;
    let kept = Arc::new(kept);
    // A page that cannot be written is known before the run.
    let page = match html.as_deref().map(|path| WholeFile::create(path, &kept)).transpose() {
        Ok(page) => page,
        Err(error) => {
            console.error(&page_error(html.as_deref(), &error));
            return ExitCode::FAILURE;
        }
    };
    if has_report_alone {
        console.collect_messages();
    }
    print_all(console, &invocation.messages);
    let shows_progress = !has_report_alone && invocation.output.file.is_none() && std::io::stdout().is_terminal();
    let settings = RunSettings {
        version: VERSION.to_owned(),
        readonly: invocation.readonly,
        trace: drop_in::trace_settings(&invocation),
        snapshot_interval: shows_progress.then(|| Duration::from_millis(invocation.eta.interval_ms)),
        open_logs: |kept| Box::new(LogFiles::new(kept)),
        control: ControlSettings { looks_into_files: true, ..invocation.control.clone() },
        inputs,
        command_line: arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        keeps_series: true,
        ..RunSettings::default()
    };
    let is_debug = invocation.debug.mask != 0;
    let mut observer = RunConsole { console, line: EtaLine::default(), has_report_alone };
    let is_anonymous = invocation.output.is_anonymous;
    let spec = RunSpec { compatibility: Compatibility::Native, ..invocation.run };
    match go(spec, settings, &mut observer) {
        Ok((mut outcome, signal)) => {
            look_back(&mut outcome.record, is_debug, observer.console);
            outcome.record.precision = Some(ferrio_insight::precision(&outcome.record));
            outcome.record.audit = Some(ferrio_insight::audit(&outcome.record));
            if let Some(messages) = console.messages() {
                messages.clone_into(&mut outcome.record.messages);
            }
            if is_anonymous {
                outcome.record.make_anonymous();
            }
            let text = match () {
                () if json => document(&outcome),
                () if csv => csv_table(&[ferrio_results::of_record(&outcome.record)]),
                () => report_text(&outcome.record),
            };
            console.report(&text);
            if let Some(page) = page {
                write_page(page, html.as_deref(), &outcome.record, console);
            }
            ExitCode::from(drop_in::exit_number(&outcome, signal, console))
        }
        Err(error) => {
            console.error(&format!("ferrio run: {}\n", run_error_text(&error)));
            ExitCode::FAILURE
        }
    }
}

/// The line about a page that cannot be written.
fn page_error(path: Option<&Path>, error: &std::io::Error) -> String {
    let shown = path.map(|path| path.display().to_string()).unwrap_or_default();
    format!("ferrio run: cannot write the page {shown}: {}\n", ferrio_units::error_text(error))
}

/// Writes the page of the run.
fn write_page(page: WholeFile, path: Option<&Path>, record: &RunRecord, console: &mut Console) {
    let content = ferrio_pictures::page::page(&[ferrio_results::of_record(record)]);
    if let Err(error) = page.write(content.as_bytes()) {
        console.error(&page_error(path, &error));
        console.has_failed = true;
    }
}

/// Compares with the last runs on the targets, and remembers this one. `--debug` tells why that failed.
fn look_back(record: &mut RunRecord, is_debug: bool, console: &mut Console) {
    last_runs::look_up(record);
    if let Err(error) = last_runs::remember(record)
        && is_debug
    {
        console.trace(&format!("the run is not remembered: {error}\n"));
    }
}

/// The run, and the first signal that wanted its end.
fn go(
    spec: RunSpec,
    settings: RunSettings,
    observer: &mut RunConsole<'_>,
) -> Result<(RunOutcome, Option<i32>), RunError> {
    // Before anything else: from now on a signal ends in a report.
    let signals = Signals::listen(false)?;
    let run = Run::new(spec, settings)?;
    signals.steer(run.handle());
    let outcome = run.go(observer);
    observer.clear();
    Ok((outcome?, signals.first()))
}

/// The report as JSON.
fn document(outcome: &RunOutcome) -> String {
    let record = &outcome.record;
    let messages: Vec<String> =
        record.messages.kept().iter().map(|message| note_text(&message.note).trim().to_owned()).collect();
    let document = json!({
        "version": VERSION,
        "timestamp_ms": record.timestamp_ms,
        "elapsed_ns": record.elapsed_ns,
        "global_options": record.global_options,
        "jobs": headlines(record),
        "findings": record.audit.as_ref().map(|audit| &audit.findings),
        "unexamined": record.audit.as_ref().map(|audit| &audit.unexamined),
        "n_rules": record.audit.as_ref().map(|audit| audit.n_rules),
        "provenance": record.provenance.as_ref().map(|provenance| provenance.to_document()),
        "messages": messages,
    });
    format!("{document:#}\n")
}

/// Prints events of a run for a person.
struct RunConsole<'a> {
    console: &'a mut Console,
    line: EtaLine,
    has_report_alone: bool,
}

impl RunConsole<'_> {
    /// Removes the progress line from the terminal.
    fn clear(&mut self) {
        if let Some(text) = self.line.clear() {
            show_progress(text);
        }
    }
}

impl RunObserver for RunConsole<'_> {
    fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::LayingOut { job_name, n_files, total_bytes } if !self.has_report_alone => {
                self.clear();
                self.console.report(&start::layout(&job_name, n_files, total_bytes));
            }
            RunEvent::Message(stream, note) => {
                self.clear();
                self.console.say(stream, note);
            }
            RunEvent::Trace(text) => {
                self.clear();
                self.console.trace(&format!("{text}\n"));
            }
            RunEvent::Eta(snapshot) => {
                show_progress(&self.line.update(&snapshot, false, ferrio_sys::terminal::columns(std::io::stdout())));
            }
            // A report in the middle is asked for with fio's options, which this command does not take.
            _ => {}
        }
    }
}
