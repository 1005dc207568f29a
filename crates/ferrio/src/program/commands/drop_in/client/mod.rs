//! `--client`: job files that run on servers, all of which start at the same time.
//!
//! Must not know: how clients and servers talk to each other, how reports look. Start reading at [`run`].

mod trigger;

use crate::shared::serving::shared_key_of;
use crate::ui::console::Console;
use crate::ui::reporter::Reporter;
use crate::ui::signals::Signals;
use anyhow::anyhow;
use ferrio::fleet::server::handshake::{ConnectError, connect};
use ferrio::fleet::wire::secrets::RunKey;
use ferrio::fleet::wire::{ClientJobs, HostJobs, HostWork, SentJobFile};
use ferrio::fleet::{Coordinator, FleetEvent, FleetOutcome, FleetSettings, INTERVAL_MS, LostHost, WriteSharing};
use ferrio::session::VERSION;
use ferrio_formats::clients::ServedRun;
use ferrio_formats::words;
use ferrio_job::Invocation;
use ferrio_job::command_line::remote::{ClientFile, ClientRequest, ServerAddress};
use ferrio_run::Handle;
use ferrio_spec::Trigger;
use ferrio_stats::{MessageStream, Note};
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use trigger::TriggerWatch;

/// Longest job file that is sent, bytes.
const MOST_FILE_BYTES: u64 = 1 << 20;
/// Longest list of servers, bytes.
const MOST_LIST_BYTES: u64 = 1 << 20;
/// Time for servers to begin, once they are connected.
const JOIN_LIMIT: Duration = Duration::from_secs(30);

/// A server, and what it is to run.
struct RemoteServer {
    address: ServerAddress,
    jobs: ClientJobs,
}

/// Runs the job files of the clients on their servers.
pub(super) fn run(invocation: &Invocation, words: &[String], console: &mut Console) -> ExitCode {
    match clients(invocation, words, console) {
        Ok(code) => code,
        Err(error) => {
            console.complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn clients(invocation: &Invocation, words: &[String], console: &mut Console) -> anyhow::Result<ExitCode> {
    if let Some(name) = unbuilt(invocation) {
        return Err(anyhow!("{name} is not built with --client: give it to the server's own runs"));
    }
    let reporter = Reporter::new(&invocation.output);
    let remote = &invocation.remote;
    let mut servers = Vec::new();
    for client in &remote.clients {
        servers.extend(servers_of(client, remote.trigger.as_ref(), reporter.writes_json())?);
    }
    let (shared, run) = (shared_key_of(remote.key_file.as_deref())?, RunKey::new()?);
    // Before any thread: from now on a signal ends in a report.
    let signals = Signals::listen(false)?;
    let handle = Handle::new()?;
    signals.steer(handle.clone());
    let (connections, servers) = connected(servers, &shared, &run, console);
    if servers.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let mut coordinator = Coordinator::new(settings(servers.len() as u32), run)?;
    for connection in connections {
        coordinator.adopt(connection);
    }
    let work_of = |rank: u32| HostWork {
        jobs: HostJobs::Files(servers[rank as usize].jobs.clone()),
        host: String::new(),
        n_hosts: 0,
        is_readonly: invocation.readonly,
        n_parts: None,
        words: words.to_vec(),
        interval_ms: INTERVAL_MS,
        is_audited: reporter.writes_json(),
        tells_course: false,
    };
    let mut shown = ClientConsole { console, has_text: reporter.writes_normal() };
    let outcome = watched(&mut coordinator, &work_of, &invocation.control.trigger, &handle, &mut shown);
    coordinator.dismiss();
    let outcome = outcome?;
    report(&outcome, &servers, &reporter, console);
    let has_failed = outcome.hosts.iter().any(|host| {
        host.lost.is_some() || host.refused.is_some() || host.outcome.n_failed > 0 || host.outcome.n_logs_lost > 0
    });
    let signal = signals.first().map(|_| 128);
    Ok(ExitCode::from(signal.unwrap_or_else(|| u8::from(has_failed || console.has_failed))))
}

/// A server that refuses its jobs or is lost does not end those of the others.
fn settings(n_hosts: u32) -> FleetSettings {
    let (on_lost_host, on_refusal) = (LostHost::Continue, LostHost::Continue);
    let sharing = WriteSharing::Allowed;
    FleetSettings { n_hosts, names: Vec::new(), join_limit: JOIN_LIMIT, on_lost_host, on_refusal, sharing }
}

/// The run on all servers, with an eye on the trigger.
fn watched(
    coordinator: &mut Coordinator,
    work_of: &(dyn Fn(u32) -> HostWork + Sync),
    trigger: &Trigger,
    handle: &Handle,
    shown: &mut ClientConsole<'_>,
) -> anyhow::Result<FleetOutcome> {
    let watch = TriggerWatch::default();
    let (outcome, triggered) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch.watch(trigger, handle));
        let mut observer = |event: &FleetEvent<'_>| {
            if matches!(event, FleetEvent::Began) {
                watch.begin();
            }
            shown.event(event);
        };
        let outcome = coordinator
            .gather(handle, &mut observer)
            .and_then(|()| coordinator.run_each(None, work_of, handle, &mut observer));
        watch.end();
        (outcome, watching.join())
    });
    if let Ok(Err(error)) = triggered {
        shown.console.complain(&format!("the trigger: {}", ferrio_units::error_text(&error)));
    }
    Ok(outcome?)
}

/// An option of the command line that has no effect on servers.
fn unbuilt(invocation: &Invocation) -> Option<&'static str> {
    let control = &invocation.control;
    let others = [
        (control.idle.is_some(), "--idle-prof"),
        (invocation.output.formats.has(ferrio_spec::FormatKind::Records), "--output-format=jsonl"),
    ];
    let mut names = invocation.options_of_reports().filter(|name| !["--output", "--output-format"].contains(name));
    names.next().or_else(|| others.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name))
}

/// The servers of a client: that of its address, or those that a file of that name lists.
fn servers_of(
    client: &ClientRequest,
    trigger: Option<&String>,
    shows_evidence: bool,
) -> anyhow::Result<Vec<RemoteServer>> {
    let files = client.files.iter().map(sent).collect::<anyhow::Result<Vec<SentJobFile>>>()?;
    let jobs = ClientJobs { files, switches: client.switches.clone(), trigger: trigger.cloned(), shows_evidence };
    let addresses = match read_limited(Path::new(&client.address), MOST_LIST_BYTES) {
        Ok(list) => String::from_utf8_lossy(&list).split_whitespace().map(str::to_owned).collect(),
        Err(_) => vec![client.address.clone()],
    };
    let server = |text: &String| Ok(RemoteServer { address: ServerAddress::parse(text)?, jobs: jobs.clone() });
    addresses.iter().map(server).collect()
}

fn sent(file: &ClientFile) -> anyhow::Result<SentJobFile> {
    match file {
        ClientFile::There(name) => Ok(SentJobFile::There(name.clone())),
        ClientFile::Sent(path) if path == Path::new("-") => {
            let mut text = Vec::new();
            io::stdin().take(MOST_FILE_BYTES).read_to_end(&mut text)?;
            Ok(SentJobFile::Here { name: "stdin".to_owned(), text })
        }
        ClientFile::Sent(path) => {
            let text = read_limited(path, MOST_FILE_BYTES)
                .map_err(|error| anyhow!("job file <{}> open: {}", path.display(), ferrio_units::error_text(&error)))?;
            Ok(SentJobFile::Here { name: path.to_string_lossy().into_owned(), text })
        }
    }
}

/// A regular file of limited length.
fn read_limited(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Connects to all servers; those that cannot be reached are named, and left out.
fn connected(
    servers: Vec<RemoteServer>,
    shared: &RunKey,
    run: &RunKey,
    console: &mut Console,
) -> (Vec<ferrio::fleet::wire::stream::FleetConnection>, Vec<RemoteServer>) {
    let (mut connections, mut reached) = (Vec::new(), Vec::new());
    for server in servers {
        match connect(&server.address, shared, run, reached.len() as u32) {
            Ok(connection) => {
                connections.push(connection);
                reached.push(server);
            }
            Err(error) => tell_unreached(&server.address, &error, console),
        }
    }
    (connections, reached)
}

/// In the words of fio, where it has some.
fn tell_unreached(address: &ServerAddress, error: &ConnectError, console: &mut Console) {
    let host = address.host();
    match (error, address) {
        (ConnectError::Resolve(error), _) => {
            console.complain(&format!("failed to resolve <{host}> ({})", ferrio_units::error_text(error)));
            console.complain(&format!("failed adding client {host}"));
        }
        (ConnectError::Connect(error), ServerAddress::Socket(_)) => {
            console.complain(&format!("connect; {}", ferrio_units::error_text(error)));
        }
        (error, _) => {
            console.complain(&format!("connect: {error}"));
            let host = if host.is_empty() { "(null)" } else { &host };
            console.complain(&format!("failed to connect to {host}:{}", address.port()));
        }
    }
}

/// Shows what servers say, as fio does: each line with the name of its host.
struct ClientConsole<'a> {
    console: &'a mut Console,
    has_text: bool,
}

impl ClientConsole<'_> {
    fn event(&mut self, event: &FleetEvent<'_>) {
        match event {
            FleetEvent::Joined { host, .. } if self.has_text => {
                let arch = std::env::consts::ARCH.replace('_', "-");
                let big_endian = u8::from(cfg!(target_endian = "big"));
                let bits = usize::BITS;
                self.console.report(&format!(
                    "hostname={host}, be={big_endian}, {bits}-bit, os=Linux, arch={arch}, fio={VERSION}, flags=1\n"
                ));
            }
            FleetEvent::Message { host, stream, note } => self.message(host, *stream, &words::note(note)),
            FleetEvent::Lost { host, reason, .. } => {
                self.console.complain(&format!("client: host={host} disconnected: {reason}"));
            }
            FleetEvent::Turned { reason } => self.console.complain(reason),
            _ => {}
        }
    }

    fn message(&mut self, host: &str, stream: MessageStream, text: &str) {
        for line in text.trim_end().lines() {
            if self.has_text {
                self.console.report(&format!("<{host}> {line}\n"));
            } else if stream == MessageStream::Error {
                self.console.say(stream, Note::text(format!("<{host}> {line}")));
            }
        }
    }
}

fn report(outcome: &FleetOutcome, servers: &[RemoteServer], reporter: &Reporter, console: &mut Console) {
    let served: Vec<ServedRun<'_>> = outcome
        .hosts
        .iter()
        .filter(|host| host.refused.is_none())
        .filter_map(|host| {
            let address = &servers.get(host.rank as usize)?.address;
            Some(ServedRun {
                address_host: address.host(),
                port: address.port(),
                host_name: &host.name,
                record: &host.outcome.record,
            })
        })
        .collect();
    reporter.report_served(console, &served, &outcome.merged());
    for host in &outcome.hosts {
        let address = servers.get(host.rank as usize).map(|server| server.address.host()).unwrap_or_default();
        let shown = if address.is_empty() { host.name.clone() } else { address };
        let line = match (&host.refused, host.outcome.n_failed) {
            (Some(reason), _) => format!("client: host={shown} disconnected: {reason}\n"),
            (None, n_failed) if n_failed > 0 && host.lost.is_none() => format!("client {shown}: exited with error 1\n"),
            _ => continue,
        };
        if reporter.writes_normal() {
            console.report(&line);
        } else {
            console.error(&line);
        }
    }
}
