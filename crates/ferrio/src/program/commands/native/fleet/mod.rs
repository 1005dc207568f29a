//! `ferrio fleet`: one run of fio's jobs on many hosts at once, and one report of what all of them have measured.
//!
//! Must not know: how hosts talk to each other. Start reading at [`run`]; `launched` starts the workers, `text` has the report.

mod launched;
mod options;
mod progress;
mod text;

use super::{Request, parse};
use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::ui::own_options;
use crate::ui::signals::Signals;
use anyhow::{Context, anyhow};
use ferrio::fleet::wire::Work;
use ferrio::fleet::wire::secrets::RunKey;
use ferrio::fleet::{Coordinator, FleetOutcome, FleetSettings, launch};
use ferrio_run::Handle;
use launched::Fleet;
use options::FleetOptions;
use progress::FleetConsole;
use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) use options::describe;

const PROGRAM: &str = "ferrio fleet";

/// Length of the intervals whose figures workers send, milliseconds.
const INTERVAL_MS: u64 = 1_000;

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
    if let Some(rank) = options.attend {
        return attend(rank, &mut console);
    }
    let request = match parse("fleet", &words) {
        Ok(request) => request,
        Err(messages) => {
            console.print_all(&messages);
            return Exit::Failed.into();
        }
    };
    coordinate(&options, request, arguments, &mut console).unwrap_or_else(|error| failure(&mut console, &error))
}

fn failure(console: &mut Console, error: &anyhow::Error) -> ExitCode {
    console.error(&format!("{PROGRAM}: {error:#}\n"));
    Exit::Failed.into()
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
    let Request { own, invocation, .. } = request;
    if own.live || own.web.is_some() || own.jsonl || own.csv {
        return Err(anyhow!(
            "--live, --web, --csv and --output-format=jsonl are not built for fleets: there are --json and --html"
        ));
    }
    let hosts = options.hosts()?;
    let page = own.html.as_deref().map(|path| text::Page::create(path)).transpose()?;
    if own.json {
        console.collect_messages();
    }
    console.print_all(&invocation.messages);
    // Before any thread: from now on a signal ends in a report.
    let signals = Signals::listen(false).map_err(|error| anyhow!("{error}"))?;
    let handle = Handle::new().map_err(|error| anyhow!("{error}"))?;
    signals.steer(handle.clone());
    let settings = FleetSettings {
        n_hosts: hosts.len() as u32,
        join_limit: options.join_limit(),
        on_lost_host: options.on_lost_host(),
    };
    let key = RunKey::new()?;
    let mut coordinator = Coordinator::new(settings, key.clone())?;
    let fleet = Fleet::launch(&options.shell(), &hosts, &key, &coordinator)?;
    let work = Work {
        jobs: invocation.run,
        n_hosts: settings.n_hosts,
        is_readonly: invocation.readonly,
        words: arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        interval_ms: INTERVAL_MS,
        is_audited: true,
    };
    let mut shown = FleetConsole::new(console, own.json, settings.n_hosts);
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
    let mut session = outcome.clone().into_session_outcome();
    session.n_failed = session.n_failed.max(n_lost);
    ExitCode::from(exit::exit_number(&session, signal, console))
}
