//! Workers started by `ssh`, or by another program that runs a command on a host.
//!
//! All bytes between coordinator and worker go through that program's standard input and output, so that no host listens to the network,
//! and ssh's keys, jump hosts and agent are those of the user. The key of the run is the first line that goes there. Start reading at
//! [`RemoteShell::launch`] and, for the other end, [`attend_launcher`].

use super::copies::Copies;
use super::push::PushedProgram;
use crate::fleet::wire::secrets::{RunKey, SecretsError};
use crate::fleet::wire::stream::FleetConnection;
use crate::fleet::worker::{self, FleetRank, WorkerError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The line with which a worker begins; everything before it is what a shell prints by itself.
const GREETING: &str = "ferrio fleet 1";

/// Time for a launching program to end by itself, once its worker is dismissed.
const END_LIMIT: Duration = Duration::from_secs(1);
/// Time between two looks whether it has.
const END_LOOK: Duration = Duration::from_millis(10);

/// Time between two looks whether a launch is given up.
const GIVE_UP_LOOK: Duration = Duration::from_millis(100);
/// Nothing has come yet.
const LATER: [io::ErrorKind; 3] = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut, io::ErrorKind::Interrupted];

/// Bytes that a shell may print before.
const MOST_NOISE_BYTES: usize = 1 << 16;

/// A program that runs commands on hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteShell {
    /// The program and its arguments before the host, such as `ssh -oBatchMode=yes`.
    pub command: Vec<String>,
    /// ferrio on the hosts.
    pub program: String,
    /// ferrio for hosts that have none, or another version.
    pub pushed: Option<PushedProgram>,
}

/// A launched worker.
#[derive(Debug)]
pub struct Launched {
    child: Child,
}

/// A worker cannot be launched.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The program cannot be started.
    #[error("cannot start {program}: {}", ferrio_units::error_text(source))]
    Start {
        /// The program.
        program: String,
        /// The reason.
        source: io::Error,
    },
    /// ferrio cannot be copied to a host.
    #[error("{host}: ferrio cannot be copied there: {reason}")]
    Push {
        /// The host.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The launch was given up before an answer.
    #[error("given up")]
    GivenUp,
    /// The other end is no ferrio.
    #[error("{host}: no ferrio answers there{said}")]
    NoWorker {
        /// The host.
        host: String,
        /// What the program said.
        said: String,
    },
}

impl RemoteShell {
    /// Starts the worker of this rank on a host. What it says on its standard error goes to ours. The socket leads to it. The launch ends
    /// early once it is given up. `copies` says how far a copy of ferrio is.
    ///
    /// # Errors
    /// The program cannot be started, or no worker answers within the limit.
    pub fn launch(
        &self,
        host: &str,
        rank: FleetRank,
        key: &RunKey,
        (limit, is_given_up): (Duration, &dyn Fn() -> bool),
        copies: &Copies,
    ) -> Result<(Launched, UnixStream), LaunchError> {
        let program = self.command.first().cloned().unwrap_or_default();
        let there = match &self.pushed {
            Some(pushed) => pushed.on(self, host, limit, copies)?,
            None => self.program.clone(),
        };
        let mut command = Command::new(&program);
        command.args(self.command.iter().skip(1)).arg(host).arg(format!("{there} fleet --attend={rank}"));
        started(command, &program, host, key, (limit, is_given_up))
    }
}

/// Starts the worker of this rank on this host, as a child of this process.
///
/// # Errors
/// The program cannot be started.
pub fn launch_here(host: &str, rank: FleetRank, key: &RunKey) -> Result<(Launched, UnixStream), LaunchError> {
    let program = "/proc/self/exe";
    let mut command = Command::new(program);
    command.arg("fleet").arg(format!("--attend={rank}"));
    started(command, program, host, key, (END_LIMIT.saturating_mul(60), &|| false))
}

fn started(
    mut command: Command,
    program: &str,
    host: &str,
    key: &RunKey,
    (limit, is_given_up): (Duration, &dyn Fn() -> bool),
) -> Result<(Launched, UnixStream), LaunchError> {
    let failed = |source| LaunchError::Start { program: program.to_owned(), source };
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let both = theirs.try_clone().map_err(failed)?;
    command.stdin(OwnedFd::from(theirs)).stdout(OwnedFd::from(both)).stderr(Stdio::inherit());
    let mut child = command.spawn().map_err(failed)?;
    // The command has its ends of the socket only: a program that ends closes them.
    drop(command);
    match greeted(&ours, key, limit, is_given_up) {
        Ok(()) => Ok((Launched { child }, ours)),
        Err(error) => {
            let has_closed = CLOSED.contains(&error.kind());
            let ending = ended(&mut child, if has_closed { END_LIMIT } else { Duration::ZERO });
            let said = match error.kind() {
                io::ErrorKind::ConnectionAborted => return Err(LaunchError::GivenUp),
                _ if has_closed => ending.map(|status| format!(" ({program}: {status})")).unwrap_or_default(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => format!(" within {} s", limit.as_secs()),
                _ => format!(": {error}"),
            };
            Err(LaunchError::NoWorker { host: host.to_owned(), said })
        }
    }
}

/// The other end has closed the socket, whether it has read the key or not.
const CLOSED: [io::ErrorKind; 3] =
    [io::ErrorKind::UnexpectedEof, io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe];

/// Waits for the end of a launching program, and ends it after the limit.
fn ended(child: &mut Child, limit: Duration) -> io::Result<ExitStatus> {
    let until = Instant::now() + limit;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(END_LOOK);
    }
    let _ = child.kill();
    child.wait()
}

impl Launched {
    /// Ends the launching programs that have not ended by themselves, all at once.
    pub fn end_all(mut all: Vec<Self>) {
        let until = Instant::now() + END_LIMIT;
        loop {
            all.retain_mut(|launched| !matches!(launched.child.try_wait(), Ok(Some(_))));
            if all.is_empty() {
                return;
            }
            if Instant::now() >= until {
                break;
            }
            std::thread::sleep(END_LOOK);
        }
        for launched in &mut all {
            let _ = launched.child.kill();
        }
        for mut launched in all {
            let _ = launched.child.wait();
        }
    }
}

/// Hands over the key, and waits for the worker's greeting. Nothing behind it is read.
fn greeted(socket: &UnixStream, key: &RunKey, limit: Duration, is_given_up: &dyn Fn() -> bool) -> io::Result<()> {
    let until = Instant::now() + limit;
    let mut socket = socket;
    socket.write_all(format!("{}\n", key.to_text()).as_bytes())?;
    let mut seen = Vec::new();
    let end = format!("{GREETING}\n");
    while !seen.ends_with(end.as_bytes()) {
        let mut byte = [0];
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if is_given_up() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        socket.set_read_timeout(Some(left.min(GIVE_UP_LOOK)))?;
        match socket.read(&mut byte) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => seen.push(byte[0]),
            Err(error) if LATER.contains(&error.kind()) => continue,
            Err(error) => return Err(error),
        }
        if seen.len() > MOST_NOISE_BYTES {
            return Err(io::Error::other("it prints something else"));
        }
    }
    socket.set_read_timeout(None)
}

/// A launched worker, or the process of a server's client, cannot work.
#[derive(Debug, thiserror::Error)]
pub enum LaunchedWorkerError {
    /// No server has started the process of a client.
    #[error("it is started by a server alone")]
    NoServer,
    /// It was launched by something else.
    #[error(transparent)]
    Key(#[from] SecretsError),
    /// The system lacks something.
    #[error("{}", ferrio_units::error_text(.0))]
    System(#[from] io::Error),
    /// It cannot do its work.
    #[error(transparent)]
    Worker(#[from] WorkerError),
}

/// The worker's end: takes the key from the standard input, and does what the coordinator wants, until it is dismissed.
///
/// Jobs and their commands must not have the connection as their standard input and output: these become `/dev/null` and the standard
/// error.
///
/// # Errors
/// There is no key, or the coordinator is none.
pub fn attend_launcher(rank: FleetRank) -> Result<(), LaunchedWorkerError> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    ferrio_sys::process::release_standard_streams()?;
    let (mut input, mut output) = (std::fs::File::from(input), std::fs::File::from(output));
    let key = RunKey::from_text(&first_line(&mut input)?)?;
    output.write_all(format!("{GREETING}\n").as_bytes())?;
    let (ours, theirs) = UnixStream::pair()?;
    let (mut incoming, mut outgoing) = (theirs.try_clone()?, theirs);
    let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
    thread("ferrio-in").spawn(move || {
        let _ = pass(&mut input, &mut incoming);
        // The coordinator has gone: its end of the connection is closed too.
        let _ = incoming.shutdown(std::net::Shutdown::Write);
    })?;
    let sender = thread("ferrio-out").spawn(move || pass(&mut outgoing, &mut output))?;
    let ending = worker::attend(FleetConnection::Socket(ours), &key, rank);
    // What was sent last is on its way.
    drop(sender);
    Ok(ending?)
}

/// Passes on bytes as they come. (`io::copy` splices, and then a pipe may keep what the other end waits for.)
fn pass(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n_bytes) => to.write_all(&buffer[..n_bytes])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The first line, read byte by byte, so that nothing behind it is taken.
fn first_line(input: &mut impl Read) -> io::Result<String> {
    let mut line = String::new();
    BufReader::with_capacity(1, input.take(1 << 10)).read_line(&mut line)?;
    Ok(line)
}
