//! The process of one client: reads its job files, asks the policy, and is a worker of the client.
//!
//! Must not know: who listens. Start reading at [`attend_client`].

use super::client_names::set_names;
use super::{ServedClient, ServerPolicy};
use crate::fleet::launch::LaunchedWorkerError;
use crate::fleet::wire::secrets::RunKey;
use crate::fleet::wire::stream::FleetConnection;
use crate::fleet::wire::{ClientJobs, HostJobs, HostWork, SentJobFile};
use crate::fleet::worker::{self, FleetRank, SessionSource, WorkRefusal};
use crate::session::{Session, VERSION};
use ferrio_job::message::OutputStream;
use ferrio_job::{Environment, Invocation, Message, Mode, SystemEnvironment};
use ferrio_stats::{MessageStream, Note};
use ferrio_units::Wording;
use std::ffi::OsString;
use std::io::{self, Read};
use std::net::{IpAddr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most bytes that come from the server.
const MOST_BYTES: u64 = 1 << 20;
/// Most job files of a client.
const MOST_FILES: usize = 1_000;
/// Least time between two states of a run, as of `--eta-interval`.
const LEAST_ETA_INTERVAL: Duration = Duration::from_millis(250);

/// Serves the client whose connection is the standard output; the server has sent the rest to the standard input.
///
/// # Errors
/// No server has started this process, or the client has gone.
pub fn attend_client() -> Result<(), LaunchedWorkerError> {
    let mut text = String::new();
    io::stdin().take(MOST_BYTES).read_to_string(&mut text)?;
    let client: ServedClient = serde_json::from_str(&text).map_err(|_| LaunchedWorkerError::NoServer)?;
    let socket = io::stdout().as_fd().try_clone_to_owned()?;
    ferrio_sys::process::release_standard_streams()?;
    let server =
        ferrio_sys::process::Pid::from_raw(client.server.cast_signed()).ok_or(LaunchedWorkerError::NoServer)?;
    if !ferrio_sys::process::die_with_parent(server).map_err(|_| LaunchedWorkerError::NoServer)? {
        return Err(LaunchedWorkerError::NoServer);
    }
    let connection = if client.address.is_none() {
        FleetConnection::Socket(UnixStream::from(socket))
    } else {
        FleetConnection::Tcp(TcpStream::from(socket))
    };
    let policy = client.policy.with_home(std::env::current_dir()?);
    let key = RunKey::from_text(&client.key)?;
    Ok(worker::attend_with(
        connection,
        &key,
        FleetRank { rank: client.rank, n_hosts: client.rank.saturating_add(1) },
        &mut JobsOfClient { policy, address: client.address },
    )?)
}

/// The job files of a client.
struct JobsOfClient {
    policy: ServerPolicy,
    /// The client's address; `None`: it came through a local socket.
    address: Option<IpAddr>,
}

impl SessionSource for JobsOfClient {
    fn session(
        &mut self,
        work: HostWork,
        _: u32,
        tell: &mut dyn FnMut(MessageStream, Note),
    ) -> Result<Session, WorkRefusal> {
        let HostJobs::Files(jobs) = work.jobs else { return Err(WorkRefusal::NoJobFiles) };
        let environment = SentFiles::of(&jobs, &self.policy)?;
        let mut arguments = vec![OsString::from("fio")];
        // In front of the jobs, so that those that write are refused.
        if self.policy.readonly || work.is_readonly {
            arguments.push(OsString::from("--readonly"));
        }
        arguments.extend(jobs.switches.iter().filter(|switch| is_permitted(switch)).map(OsString::from));
        arguments.extend(environment.names.iter().map(OsString::from));
        let mut invocation = match ferrio_job::parse(&arguments, &environment) {
            Ok(invocation) => invocation,
            Err(error) => {
                error.messages.iter().for_each(|message| pass_on(message, tell));
                return Err(WorkRefusal::JobFiles);
            }
        };
        invocation.messages.iter().for_each(|message| pass_on(message, tell));
        if invocation.mode != Mode::Run {
            return Err(WorkRefusal::NoJob);
        }
        set_names(&mut invocation.run, self.address);
        let refusals = self.policy.refusals(&invocation, jobs.trigger.is_some());
        if !refusals.is_empty() {
            for line in refusals {
                tell(MessageStream::Error, Note::text(line));
            }
            return Err(WorkRefusal::Policy);
        }
        Ok(session_of(&mut invocation, &jobs, work.words)?)
    }

    fn tells_start(&self) -> bool {
        true
    }
}

/// The session of jobs that the policy allows.
fn session_of(
    invocation: &mut Invocation,
    jobs: &ClientJobs,
    words: Vec<String>,
) -> Result<Session, ferrio_run::RunError> {
    let mut session = Session::of_invocation(invocation, Vec::new(), words)?;
    let settings = &mut session.settings;
    settings.control.skips_evidence = !jobs.shows_evidence;
    settings.control.trigger.command.clone_from(&jobs.trigger);
    settings.tells_series = true;
    settings.snapshot_interval = jobs.eta_interval_ms.map(|ms| Duration::from_millis(ms).max(LEAST_ETA_INTERVAL));
    settings.keeps_series = jobs.is_recorded;
    settings.control.looks_into_files = jobs.is_recorded;
    session.is_audited = jobs.shows_evidence;
    Ok(session)
}

/// Switches of a client that are the server's.
fn is_permitted(switch: &str) -> bool {
    let name = switch.split('=').next();
    ["--section", "--readonly", "--warnings-fatal", "--status-interval"].iter().any(|permitted| name == Some(permitted))
}

fn pass_on((stream, line): &Message, tell: &mut dyn FnMut(MessageStream, Note)) {
    let stream = match stream {
        OutputStream::Stderr => MessageStream::Error,
        OutputStream::Stdout | OutputStream::Trace | OutputStream::Terminal => MessageStream::Info,
    };
    let text = line.text(Wording::Fio).trim_end();
    if !text.is_empty() {
        tell(stream, Note::text(text));
    }
}

/// The machine of the server, with the files that the client has sent; of its own files, those that the policy allows.
struct SentFiles<'a> {
    machine: SystemEnvironment,
    policy: &'a ServerPolicy,
    /// Names as the parser gets them.
    names: Vec<String>,
    texts: Vec<(PathBuf, &'a [u8])>,
}

impl<'a> SentFiles<'a> {
    fn of(jobs: &'a ClientJobs, policy: &'a ServerPolicy) -> Result<Self, WorkRefusal> {
        if jobs.files.len() > MOST_FILES {
            return Err(WorkRefusal::TooManyFiles(MOST_FILES));
        }
        let mut sent = Self { machine: SystemEnvironment::new(VERSION), policy, names: Vec::new(), texts: Vec::new() };
        for file in &jobs.files {
            let (SentJobFile::Here { name, .. } | SentJobFile::There(name)) = file;
            // A name must not become an option, or the standard input.
            let name = if name.starts_with('-') { format!("./{name}") } else { name.clone() };
            if let SentJobFile::Here { text, .. } = file {
                sent.texts.push((PathBuf::from(&name), text));
            }
            sent.names.push(name);
        }
        Ok(sent)
    }
}

impl Environment for SentFiles<'_> {
    fn version(&self) -> String {
        self.machine.version()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.machine.variable(name)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        if let Some((_, text)) = self.texts.iter().find(|(name, _)| name == path) {
            return Ok(Box::new(io::Cursor::new(text.to_vec())));
        }
        if self.policy.allows(path) { self.machine.open(path) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    fn stdin(&self) -> Box<dyn Read> {
        Box::new(io::empty())
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        if self.policy.allows(path) {
            self.machine.check_directory(path)
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    fn page_size_bytes(&self) -> u64 {
        self.machine.page_size_bytes()
    }

    fn memory_mib(&self) -> u64 {
        self.machine.memory_mib()
    }

    fn n_cpus(&self) -> u32 {
        self.machine.n_cpus()
    }

    fn numa_nodes(&self) -> Vec<u32> {
        self.machine.numa_nodes()
    }
}
