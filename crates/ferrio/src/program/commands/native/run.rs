//! `ferrio run`: fio's job files and options with ferrio's own report: a table of headline figures, and findings about
//! them.
//!
//! Must not know: rules, how figures are laid out. Start reading at [`run`].

use super::ending::{Ending, OpenFiles, ReportForm, ShownAs};
use super::errors::run_error_text;
use super::viewers::Viewers;
use super::web::without_token;
use super::{OwnOptions, Request, parse};
use crate::shared::keeping::Keeping;
use crate::shared::protected_files;
use crate::shared::records::{self, EventLog};
use crate::ui::arguments;
use crate::ui::console::{Console, can_be_steered, show_progress};
use crate::ui::exit::{self, Exit};
use crate::ui::signals::Signals;
use ferrio::session::{Observer, Session, SessionOutcome};
use ferrio_formats::eta::{EtaLine, plain_line};
use ferrio_formats::native::note_text;
use ferrio_formats::start;
use ferrio_job::Invocation;
use ferrio_run::{RunError, RunEvent};
use ferrio_spec::Compatibility;
use ferrio_stats::{EtaSnapshot, Histogram, IntervalStats, MessageStream, Note, full_percentiles};
use ferrio_sys::output::{FileRole, ProtectedPaths};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PROGRAM: &str = "ferrio run";

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command("ferrio run");
    if arguments.len() == 1 || arguments[1] == "--help" || arguments[1] == "-h" {
        console.report(&arguments::help_text(super::describe::run()));
        return exit::at_end(arguments.len() == 1);
    }
    let request = match parse("run", arguments) {
        Ok(request) => request,
        Err(messages) => {
            console.print_all(&messages);
            return Exit::Failed.into();
        }
    };
    let mut kept = protected_files::of_run(&request.invocation.run, &request.inputs);
    if let Some(path) = &request.invocation.output.file {
        console = match Console::to_file(path, &kept) {
            Ok(console) => console.named("ferrio run"),
            Err(error) => {
                let error = ferrio_units::error_text(&error);
                console.error(&format!("{PROGRAM}: cannot open output file {}: {error}\n", path.display()));
                return Exit::Failed.into();
            }
        };
        kept.add(path.clone(), FileRole::Output);
    }
    start(request, kept, arguments, &mut console)
}

fn start(request: Request, kept: ProtectedPaths, arguments: &[OsString], console: &mut Console) -> ExitCode {
    let Request { own, mut invocation, inputs } = request;
    let OwnOptions { json, csv, jsonl: writes_lines, live, web, html, .. } = own;
    let keeping = match Keeping::of(invocation.output.keep.as_deref(), Some(PROGRAM), console) {
        Ok(keeping) => keeping,
        Err(code) => return code,
    };
    let has_report_alone = json || csv || writes_lines;
    let started_at = Instant::now();
    let kept = Arc::new(kept);
    // A file that cannot be written is known before the run.
    let files = match OpenFiles::create(PROGRAM, html, invocation.output.record.take(), &kept) {
        Ok(files) => files,
        Err(text) => return failure(console, &text.to_string()),
    };
    if has_report_alone {
        console.collect_messages();
    }
    if writes_lines {
        console.keep_records_alone();
    }
    console.print_all(&invocation.messages);
    // A terminal that knows lines alone gets the progress in lines.
    let live = live && can_be_steered(&std::io::stdout());
    let has_progress_line =
        !has_report_alone && !live && invocation.output.file.is_none() && std::io::stdout().is_terminal();
    let is_followed = has_progress_line || live || web.is_some();
    let mut viewers = match Viewers::of(PROGRAM, live, web) {
        Ok(viewers) => viewers,
        Err(text) => return failure(console, &text.to_string()),
    };
    let (is_debug, is_anonymous) = (invocation.debug.mask != 0, invocation.output.is_anonymous);
    let is_stored = files.has_record();
    let mut course =
        writes_lines.then(|| EventLog::with_words(is_stored, invocation.run.global_options.clone(), note_text));
    let run = session_of(&mut invocation, inputs, arguments, is_followed).and_then(|mut session| {
        session.settings.record_interval = writes_lines.then(|| records::interval(&invocation));
        session.settings.control.status_interval = None;
        let observer = RunConsole {
            console: &mut *console,
            line: has_progress_line.then(ProgressLine::default),
            has_report_alone,
            course: course.as_mut(),
            held: live.then(Vec::new),
        };
        go(session, observer, &mut viewers)
    });
    match run {
        Ok((outcome, signals)) => {
            let form = ReportForm::of(json, csv);
            let shown = ShownAs { form, is_debug, is_anonymous, started_at };
            let ending = Ending { shown, signal: signals.first(), files, keeping, course };
            let (code, reports) = ending.show(outcome, viewers.want_reports(), console);
            let _ = signals.take_untold();
            viewers.end_web(reports, || signals.take_untold().is_some());
            ExitCode::from(code)
        }
        Err(error) => {
            // Where there was no run, the terminal is still taken.
            viewers.end_terminal();
            viewers.end_web(None, || false);
            end_without_run(&run_error_text(&error), course, started_at, console);
            Exit::Failed.into()
        }
    }
}

/// Says why nothing ran, in the last lines of jsonl too.
fn end_without_run(reason: &str, course: Option<EventLog>, started_at: Instant, console: &mut Console) {
    console.error(&format!("{PROGRAM}: {reason}\n"));
    if let Some(mut course) = course {
        course.message(console, MessageStream::Error, reason);
        course.end(console, Exit::Failed as u8, None, started_at.elapsed());
    }
}

/// Tells why the command cannot do what it was asked for.
fn failure(console: &mut Console, text: &str) -> ExitCode {
    console.error(&format!("{PROGRAM}: {text}\n"));
    Exit::Failed.into()
}

/// The session of the request: native, with evidence from the files, with the course of each job, and remembered.
fn session_of(
    invocation: &mut Invocation,
    inputs: Vec<PathBuf>,
    arguments: &[OsString],
    is_followed: bool,
) -> Result<Session, RunError> {
    let arguments = without_token(arguments);
    let words = arguments.iter().map(|word| word.to_string_lossy().into_owned());
    let mut session = Session::of_invocation(invocation, inputs, words)?;
    session.spec.compatibility = Compatibility::Native;
    session.settings.snapshot_interval = is_followed.then(|| Duration::from_millis(invocation.eta.interval_ms));
    session.settings.control.looks_into_files = true;
    session.settings.keeps_series = true;
    session.settings.tells_series = is_followed;
    session.is_remembered = true;
    Ok(session)
}

/// The end of the run, and the signals that it has received. The viewers show it.
fn go(
    session: Session,
    mut observer: RunConsole<'_>,
    viewers: &mut Viewers,
) -> Result<(SessionOutcome, Signals), RunError> {
    // Before anything else: from now on a signal ends in a report.
    let signals = Signals::listen_in_view(viewers.stops())?;
    let outcome = match viewers.feed(session.handle()) {
        None => signals.run(session, &mut [&mut observer]),
        Some(mut feed) => {
            let outcome = signals.run(session, &mut [&mut observer, &mut feed]);
            viewers.take_back(feed);
            outcome
        }
    };
    viewers.end_terminal();
    observer.end();
    Ok((outcome?, signals))
}

/// Prints events of a run for a person.
struct RunConsole<'a> {
    console: &'a mut Console,
    line: Option<ProgressLine>,
    has_report_alone: bool,
    /// The lines of jsonl.
    course: Option<&'a mut EventLog>,
    /// Messages that wait until the terminal is free again, where it is taken.
    held: Option<Vec<(MessageStream, Note)>>,
}

/// The progress line: that of fio, and p99.
#[derive(Default)]
struct ProgressLine {
    line: EtaLine,
    /// Latencies since the last line.
    latencies: Histogram,
}

impl ProgressLine {
    fn count(&mut self, stretch: &IntervalStats) {
        for figures in &stretch.stats.directions.0 {
            if let Some(latencies) = figures.clat.histogram.as_ref().or(figures.lat.histogram.as_ref()) {
                self.latencies.merge(latencies);
            }
        }
    }

    fn show(&mut self, snapshot: &EtaSnapshot) {
        let p99 = full_percentiles(&self.latencies, &[99.0]).first().map(|(_, latency_ns)| *latency_ns);
        let p99_ns = p99.filter(|_| self.latencies.n_samples() > 0);
        self.latencies.clear();
        let snapshot = EtaSnapshot { p99_ns, ..snapshot.clone() };
        let columns = ferrio_sys::terminal::columns(std::io::stdout());
        let is_in_place = can_be_steered(&std::io::stdout());
        show_progress(&if is_in_place {
            self.line.update(&snapshot, false, columns)
        } else {
            plain_line(&snapshot, columns)
        });
    }
}

impl RunConsole<'_> {
    /// Removes the progress line from the terminal.
    fn clear(&mut self) {
        if let Some(text) = self.line.as_mut().and_then(|line| line.line.clear()) {
            show_progress(text);
        }
    }

    fn say(&mut self, stream: MessageStream, note: &Note) {
        if let Some(held) = &mut self.held {
            held.push((stream, note.clone()));
            return;
        }
        self.clear();
        self.console.say(stream, note.clone());
    }

    /// The run is over, and the terminal free.
    fn end(&mut self) {
        self.clear();
        for (stream, note) in self.held.take().into_iter().flatten() {
            self.console.say(stream, note);
        }
    }
}

impl Observer for RunConsole<'_> {
    fn event(&mut self, event: &RunEvent) {
        if let Some(course) = &mut self.course {
            course.event(self.console, event);
        }
        match event {
            RunEvent::LayingOut { job_name, n_files, total_bytes } if !self.has_report_alone && self.held.is_none() => {
                self.clear();
                self.console.report(&start::layout(job_name, *n_files, *total_bytes));
            }
            RunEvent::Message(stream, note) => self.say(*stream, note),
            RunEvent::Trace(text) => {
                self.clear();
                self.console.trace(&format!("{text}\n"));
            }
            RunEvent::Interval(stretch) => {
                if let Some(line) = &mut self.line {
                    line.count(stretch);
                }
            }
            RunEvent::Eta(snapshot) => {
                if let Some(line) = &mut self.line {
                    line.show(snapshot);
                }
            }
            // A report in the middle is asked for with fio's options, which this command does not take.
            _ => {}
        }
    }
}
