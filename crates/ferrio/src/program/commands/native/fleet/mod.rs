//! `ferrio fleet`: one run of fio's jobs on many hosts at once, and one report of what all of them have measured.
//!
//! Must not know: how hosts talk to each other. Start reading at [`run`]; `shared/hosts.rs` starts the workers, `ending` reports.

mod clones;
mod course;
mod manifest;
mod options;
pub(crate) mod progress;
mod views;

use super::ending::{Ending, OpenFiles, ReportForm, ShownAs};
use super::viewers::Viewers;
use super::web::without_token;
use super::{OwnOptions, Request, parse};
use crate::shared::hosts::Fleet;
use crate::shared::keeping::Keeping;
use crate::shared::protected_files;
use crate::shared::records::{self, EventLog};
use crate::ui::arguments;
use crate::ui::console::{Console, can_be_steered, show_aside};
use crate::ui::exit::{self, Exit};
use crate::ui::own_options;
use crate::ui::reporter::Reporter;
use crate::ui::signals::Signals;
use anyhow::{Context, anyhow};
use course::FleetCourse;
use ferrio::fleet::launch::{self, Ranks};
use ferrio::fleet::server;
use ferrio::fleet::wire::{HostJobs, HostWork};
use ferrio::fleet::worker::FleetRank;
use ferrio::fleet::{FleetOutcome, INTERVAL_MS};
use ferrio::session::SessionOutcome;
use ferrio_formats::native::note_text;
use ferrio_job::Invocation;
use ferrio_job::invocation::OutputSettings;
use ferrio_run::Handle;
use ferrio_spec::OutputFormats;
use ferrio_stats::MessageStream;
use ferrio_sys::held_errors::HeldErrors;
use ferrio_sys::output::{FileRole, ProtectedPaths};
use options::FleetOptions;
use progress::FleetConsole;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use views::FleetViews;

pub(crate) use options::describe;

const PROGRAM: &str = "ferrio fleet";

/// True if the arguments of `ferrio run` name hosts.
pub(crate) fn has_hosts(arguments: &[OsString]) -> bool {
    let names = |word: &OsString| word.to_str().and_then(|word| word.split('=').next()).map(str::to_owned);
    arguments.iter().filter_map(names).any(|name| name == "--hosts" || name == "--hostfile")
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command(PROGRAM);
    if arguments.len() == 1 || arguments[1] == "--help" || arguments[1] == "-h" {
        console.report(&arguments::help_text(describe()));
        return exit::at_end(arguments.len() == 1);
    }
    let mut words = arguments.to_vec();
    let options: FleetOptions = match own_options::take(&mut words) {
        Ok(options) => options,
        Err(error) => return failure(&mut console, &error),
    };
    if options.serve.serve_client {
        return at_end(server::attend_client().map_err(anyhow::Error::from), &mut console);
    }
    if let Some(outcome) = options.serve.in_background() {
        return at_end(outcome, &mut console);
    }
    if let Some(rank) = options.attend {
        return attend(rank, &mut console);
    }
    if let Some(name) = options.hosts.without_remote_shell() {
        let error = anyhow!("{name} has no effect without hosts: give --hosts or --hostfile");
        return failure(&mut console, &error);
    }
    let request = match parse("fleet", &words) {
        Ok(request) => request,
        Err(messages) => {
            console.print_all(&messages);
            return Exit::Failed.into();
        }
    };
    if options.manifest.is_some() {
        let words = words.get(1..).unwrap_or_default();
        return match manifest::kubernetes(&options.pods(), words, &request.inputs) {
            Ok(text) => {
                console.report(&text);
                Exit::Fine.into()
            }
            Err(error) => failure(&mut console, &error),
        };
    }
    coordinate(&options, request, arguments, console)
        .unwrap_or_else(|error| failure(&mut Console::of_command(PROGRAM), &error))
}

fn failure(console: &mut Console, error: &anyhow::Error) -> ExitCode {
    console.error(&format!("{PROGRAM}: {error:#}\n"));
    Exit::Failed.into()
}

/// A process of a server has ended.
fn at_end(outcome: anyhow::Result<()>, console: &mut Console) -> ExitCode {
    outcome.map_or_else(|error| failure(console, &error), |()| Exit::Fine.into())
}

/// A worker that another `ferrio fleet` has launched.
fn attend(rank: FleetRank, console: &mut Console) -> ExitCode {
    match launch::attend_launcher(rank) {
        Ok(()) => Exit::Fine.into(),
        Err(error) => {
            let host = ferrio_sys::system_info::host_name();
            console.error(&format!("{PROGRAM} on {host}: {error}\n"));
            Exit::Failed.into()
        }
    }
}

fn coordinate(
    options: &FleetOptions,
    request: Request,
    arguments: &[OsString],
    mut console: Console,
) -> anyhow::Result<ExitCode> {
    if request.invocation.debug.mask != 0 {
        return Err(anyhow!("--debug is not built for fleets"));
    }
    let ranks = if options.hosts.has_hosts() { None } else { Ranks::from_environment()? };
    if let Some(ranks) = ranks.as_ref().filter(|ranks| ranks.rank > 0) {
        return options.meeting.attend(ranks, &options.hosts);
    }
    let Request { own, mut invocation, inputs } = request;
    let mut kept = protected_files::of_run(&invocation.run, &inputs);
    if let Some(path) = &invocation.output.file {
        console = console_of_file(path, &mut kept)?;
    }
    let keeping = match Keeping::of(invocation.output.keep.as_deref(), Some(PROGRAM), &mut console) {
        Ok(keeping) => keeping,
        Err(code) => return Ok(code),
    };
    let started_at = Instant::now();
    let files = OpenFiles::create(PROGRAM, own.html.clone(), invocation.output.record.take(), &Arc::new(kept))?;
    let form = form(&own, &invocation.output);
    if own.jsonl || is_for_programs(&form, &invocation.output.formats) {
        console.collect_messages();
    }
    if own.jsonl {
        console.keep_records_alone();
    }
    console.print_all(&invocation.messages);
    // A terminal that knows lines alone gets the progress in lines.
    let is_live = own.live && can_be_steered(&std::io::stdout());
    // Before any thread.
    let mut viewers = Viewers::of(PROGRAM, is_live, own.web)?;
    let held = if is_live { HeldErrors::hold().context("cannot show the run")? } else { None };
    // From now on a signal ends in a report.
    let signals = Signals::listen_in_view(viewers.stops()).map_err(|error| anyhow!("{error}"))?;
    let is_alone = console.messages().is_some() || invocation.output.file.is_some();
    let is_anonymous = invocation.output.is_anonymous;
    let interval = if own.jsonl { records::interval(&invocation) } else { Duration::from_millis(INTERVAL_MS) };
    let words = || EventLog::with_words(files.has_record(), invocation.run.global_options.clone(), note_text);
    let mut course = own.jsonl.then(|| FleetCourse::new(words(), interval));
    let mut views = viewers.feed_of_hosts().map(|feed| FleetViews::new(feed, interval));
    let told = ToldCourse { interval, is_told: own.jsonl || views.is_some() };
    let has_stdout_free = !is_alone && !is_live;
    let shown = FleetConsole::new(&mut console, has_stdout_free, course.as_mut(), views.as_mut());
    let outcome = run_on_hosts(options, ranks.as_ref(), (invocation, told), arguments, &signals, shown);
    end_views(views, &mut viewers, held);
    let course = course.map(|course| course.log);
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            viewers.end_web(None, || false);
            end_without_run(&format!("{error:#}"), course, started_at, &mut console);
            return Err(error);
        }
    };
    let shown = ShownAs { form, is_debug: false, is_anonymous, started_at };
    let ending = Ending { shown, signal: signals.first(), files, keeping, course };
    let (code, reports) = ending.show(session_of(&outcome), viewers.want_reports(), &mut console);
    let _ = signals.take_untold();
    viewers.end_web(reports, || signals.take_untold().is_some());
    Ok(ExitCode::from(code))
}

fn console_of_file(path: &Path, kept: &mut ProtectedPaths) -> anyhow::Result<Console> {
    let of_file = Console::to_file(path, kept)
        .map_err(|error| anyhow!("cannot open output file {}: {}", path.display(), ferrio_units::error_text(&error)))?;
    kept.add(path.to_path_buf(), FileRole::Output);
    Ok(of_file.named(PROGRAM))
}

/// The run is over: the terminal becomes free, and shows what was kept back.
fn end_views(views: Option<FleetViews>, viewers: &mut Viewers, held: Option<HeldErrors>) {
    if let Some(views) = views {
        viewers.take_back(views.into_feed());
    }
    viewers.end_terminal();
    if let Some(held) = held {
        show_aside(&held.release());
    }
}

/// The outcome of all hosts as that of a run in which lost hosts count as failed jobs.
fn session_of(outcome: &FleetOutcome) -> SessionOutcome {
    let mut session = outcome.session_outcome(outcome.merged());
    let n_lost = outcome.hosts.iter().filter(|host| host.lost.is_some()).count() as u32;
    session.run.n_failed = session.run.n_failed.max(n_lost);
    session
}

/// The last lines of jsonl, where nothing was measured.
fn end_without_run(reason: &str, course: Option<EventLog>, started_at: Instant, console: &mut Console) {
    if let Some(mut course) = course {
        course.message(console, MessageStream::Error, reason);
        course.end(console, Exit::Failed as u8, None, started_at.elapsed());
    }
}

fn form(own: &OwnOptions, output: &OutputSettings) -> ReportForm {
    if own.of_fio { ReportForm::Fio(Reporter::new(output)) } else { ReportForm::of(own.json, own.csv) }
}

/// The stream of the report has nothing else.
fn is_for_programs(form: &ReportForm, formats: &OutputFormats) -> bool {
    match form {
        ReportForm::Text => false,
        ReportForm::Json | ReportForm::Csv => true,
        ReportForm::Fio(_) => formats.has_documents_alone(),
    }
}

/// What hosts tell while the run goes on.
struct ToldCourse {
    interval: Duration,
    /// Facts and ends of jobs are told too.
    is_told: bool,
}

/// Starts the workers, and makes the run on all of them.
fn run_on_hosts(
    options: &FleetOptions,
    ranks: Option<&Ranks>,
    (invocation, told): (Invocation, ToldCourse),
    arguments: &[OsString],
    signals: &Signals,
    mut shown: FleetConsole<'_>,
) -> anyhow::Result<FleetOutcome> {
    let handle = Handle::new().map_err(|error| anyhow!("{error}"))?;
    signals.steer(handle.clone());
    let (mut coordinator, fleet) = match ranks {
        Some(ranks) => Fleet::gathered(&options.hosts, &options.meeting.at(&ranks.step), ranks)?,
        None => Fleet::launched(&options.hosts, &handle)?,
    };
    let n_hosts = fleet.n_hosts();
    shown.expect(n_hosts);
    let work = HostWork {
        jobs: HostJobs::Spec(invocation.run),
        host: String::new(),
        n_hosts,
        is_readonly: invocation.readonly,
        n_parts: None,
        words: without_token(arguments).iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        interval_ms: (told.interval.as_millis() as u64).max(1),
        is_audited: true,
        tells_course: told.is_told,
    };
    let outcome = coordinator
        .gather(&handle, &mut |event| shown.event(event))
        .and_then(|()| coordinator.run(&work, &handle, &mut |event| shown.event(event)));
    shown.end();
    coordinator.dismiss();
    fleet.end();
    outcome.context("nothing was measured")
}
