//! `ferrio fleet`: one run of fio's jobs on many hosts at once, and one report of what all of them have measured.
//!
//! Must not know: how hosts talk to each other. Start reading at [`run`]; `shared/hosts.rs` starts the workers, `text` has the report.

mod manifest;
mod options;
pub(crate) mod progress;
mod text;

use super::{Request, parse};
use crate::shared::hosts::Fleet;
use crate::shared::protected_files;
use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::ui::own_options;
use crate::ui::signals::Signals;
use anyhow::{Context, anyhow};
use ferrio::fleet::launch::{self, Ranks};
use ferrio::fleet::wire::stream::FleetConnection;
use ferrio::fleet::wire::{HostJobs, HostWork};
use ferrio::fleet::{FleetOutcome, INTERVAL_MS};
use ferrio::fleet::{server, worker};
use ferrio_run::Handle;
use options::FleetOptions;
use progress::FleetConsole;
use std::ffi::OsString;
use std::process::ExitCode;

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
    coordinate(&options, request, arguments, &mut console).unwrap_or_else(|error| failure(&mut console, &error))
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
fn attend(rank: u32, console: &mut Console) -> ExitCode {
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
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let Request { own, invocation, inputs } = request;
    let output = &invocation.output;
    let unbuilt = [
        ("--live", own.live),
        ("--web", own.web.is_some()),
        ("--csv", own.csv),
        ("--output-format=jsonl", own.jsonl),
        ("--anonymous", output.is_anonymous),
        ("--keep", output.keep.is_some()),
        ("--record", output.record.is_some()),
        ("--output", output.file.is_some()),
        ("--debug", invocation.debug.mask != 0),
    ];
    if let Some((name, _)) = unbuilt.iter().find(|(_, is_given)| *is_given) {
        return Err(anyhow!("{name} is not built for fleets: there are --json and --html"));
    }
    let ranks = if options.hosts.has_hosts() { None } else { Ranks::from_environment()? };
    if let Some(ranks) = ranks.as_ref().filter(|ranks| ranks.rank > 0) {
        let (stream, key) = options.meeting(&ranks.step).find(options.hosts.join_limit())?;
        worker::attend(FleetConnection::Tcp(stream), &key, ranks.rank)?;
        return Ok(Exit::Fine.into());
    }
    let kept = protected_files::of_run(&invocation.run, &inputs);
    let page = own.html.as_deref().map(|path| text::Page::create(path, kept)).transpose()?;
    if own.json {
        console.collect_messages();
    }
    console.print_all(&invocation.messages);
    // Before any thread: from now on a signal ends in a report.
    let signals = Signals::listen(false).map_err(|error| anyhow!("{error}"))?;
    let handle = Handle::new().map_err(|error| anyhow!("{error}"))?;
    signals.steer(handle.clone());
    let (mut coordinator, fleet) = match &ranks {
        Some(ranks) => Fleet::gathered(&options.hosts, &options.meeting(&ranks.step), ranks)?,
        None => Fleet::launched(&options.hosts, &handle)?,
    };
    let n_hosts = fleet.n_hosts();
    let work = HostWork {
        jobs: HostJobs::Spec(invocation.run),
        host: String::new(),
        n_hosts,
        is_readonly: invocation.readonly,
        n_parts: None,
        words: arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        interval_ms: INTERVAL_MS,
        is_audited: true,
    };
    let mut shown = FleetConsole::new(console, own.json, n_hosts);
    let outcome = coordinator
        .gather(&handle, &mut |event| shown.event(event))
        .and_then(|()| coordinator.run(&work, &handle, &mut |event| shown.event(event)));
    shown.end();
    coordinator.dismiss();
    fleet.end();
    let outcome = outcome.context("nothing was measured")?;
    Ok(report(&outcome, own.json, page, signals.first(), console))
}

fn report(
    outcome: &FleetOutcome,
    is_json: bool,
    page: Option<text::Page>,
    signal: Option<i32>,
    console: &mut Console,
) -> ExitCode {
    let merged = outcome.merged();
    console.report(&if is_json { text::document(outcome, &merged) } else { text::report_text(outcome, &merged) });
    if let Some(page) = page {
        page.write(outcome, &merged, console);
    }
    let n_lost = outcome.hosts.iter().filter(|host| host.lost.is_some()).count() as u32;
    let mut session = outcome.session_outcome(merged);
    session.run.n_failed = session.run.n_failed.max(n_lost);
    ExitCode::from(exit::exit_number(&session, signal, console))
}
