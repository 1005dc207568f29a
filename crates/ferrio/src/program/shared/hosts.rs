//! The hosts of a fleet: the options that name them, their workers, and the runs of other commands on them.
//!
//! Must not know: what is run. Start reading at [`HostsOptions`], then [`Fleet::launched`] and [`RunsOnHosts`].

use super::copy_line::{COPY_LOOK, CopyLine, tell_older};
use crate::commands::native::fleet::progress::doubt;
use crate::ui::exit::Exit;
use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum, ValueHint};
use ferrio::fleet::launch::{
    Copies, LaunchError, Launched, Meeting, Published, PushedProgram, Ranks, RemoteShell, launch_here,
};
use ferrio::fleet::wire::secrets::RunKey;
use ferrio::fleet::wire::stream::FleetConnection;
use ferrio::fleet::worker::FleetRank;
use ferrio::fleet::{Coordinator, FleetError, FleetEvent, FleetSettings, LostHost, WriteSharing, worker};
use ferrio::session::{Session, SessionOutcome, VERSION};
use ferrio_formats::native::note_text;
use ferrio_run::{Handle, RunError};
use ferrio_sys::limits;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// The value of `--scale` where none is given: numbers of hosts, doubled up to all of them.
pub(crate) const DOUBLED: &str = "1..";
/// The program that runs.
const OWN_PROGRAM: &str = "/proc/self/exe";

// The hosts on which jobs run, and what becomes of a fleet that loses one.
#[derive(Debug, Default, Args)]
pub(crate) struct HostsOptions {
    /// Run the jobs on these hosts at once, which ssh reaches by these names
    #[arg(long, value_name = "HOST,...", value_delimiter = ',')]
    hosts: Vec<String>,
    /// A file with a host in each line; empty lines and # are left out
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    hostfile: Option<PathBuf>,
    /// The program that runs a command on a host, with its own options (ssh -oBatchMode=yes)
    #[arg(long, value_name = "COMMAND")]
    rsh: Option<String>,
    /// ferrio on the hosts (ferrio)
    #[arg(long, value_name = "PATH")]
    remote_program: Option<String>,
    /// Copy ferrio (or this one, for hosts of another kind) to hosts that have none of this version, by the same program
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = OWN_PROGRAM, value_hint = ValueHint::FilePath)]
    push: Option<PathBuf>,
    /// A host that is lost ends the run (end), or the others go on without it
    #[arg(long, value_name = "ACTION", value_enum)]
    on_lost_host: Option<OnLostHost>,
    /// Each host uses a part of its own of the jobs' file or device, which all hosts share
    #[arg(long, conflicts_with = "shared_writes")]
    partition: bool,
    /// Hosts may write to the same file or device, and overwrite each other's data
    #[arg(long)]
    shared_writes: bool,
    /// Time for all hosts to come, seconds (60)
    #[arg(long, value_name = "SECONDS")]
    join_limit: Option<u64>,
}

/// What is done when a host is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnLostHost {
    /// The run ends, and what all have done is reported.
    End,
    /// The others go on.
    Continue,
}

impl HostsOptions {
    /// The hosts, each once for each worker.
    ///
    /// # Errors
    /// There are none.
    pub(crate) fn hosts(&self) -> anyhow::Result<Vec<String>> {
        let mut hosts = self.hosts.clone();
        if let Some(path) = &self.hostfile {
            let text = std::fs::read_to_string(path).with_context(|| format!("--hostfile={}", path.display()))?;
            let names = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            hosts.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
        }
        if let Some(host) = hosts.iter().find(|host| host.is_empty() || host.starts_with('-')) {
            return Err(anyhow!("{host:?} is no host"));
        }
        if hosts.is_empty() {
            return Err(anyhow!("no hosts are given: --hosts=a,b,c or --hostfile=FILE, or start it by srun or mpirun"));
        }
        Ok(hosts)
    }

    /// True if hosts are given.
    pub(crate) fn has_hosts(&self) -> bool {
        !self.hosts.is_empty() || self.hostfile.is_some()
    }

    /// An option about the way to hosts that is given where none are named.
    pub(crate) fn without_remote_shell(&self) -> Option<&'static str> {
        let given = [
            ("--rsh", self.rsh.is_some()),
            ("--remote-program", self.remote_program.is_some()),
            ("--push", self.push.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given && !self.has_hosts()).map(|(name, _)| name)
    }

    /// An option about hosts that is given where there are none.
    pub(crate) fn without_hosts(&self) -> Option<&'static str> {
        let given = [
            ("--on-lost-host", self.on_lost_host.is_some()),
            ("--join-limit", self.join_limit.is_some()),
            ("--partition", self.partition),
            ("--shared-writes", self.shared_writes),
        ];
        let found = given.into_iter().find(|(_, is_given)| *is_given && !self.has_hosts()).map(|(name, _)| name);
        self.without_remote_shell().or(found)
    }

    /// The way to the hosts.
    ///
    /// # Errors
    /// What is to be copied there is no program.
    fn shell(&self) -> anyhow::Result<RemoteShell> {
        let rsh = self.rsh.as_deref().unwrap_or("ssh -oBatchMode=yes");
        let command = rsh.split_whitespace().map(str::to_owned).collect();
        let pushed = self.push.as_deref().map(|path| PushedProgram::of(path, VERSION)).transpose().context("--push")?;
        let program = self.remote_program.clone().unwrap_or_else(|| "ferrio".to_owned());
        Ok(RemoteShell { command, program, pushed })
    }

    /// These options as words for ranks that something else starts; `join_limit_secs`: where none is given.
    pub(crate) fn words_for_ranks(&self, join_limit_secs: u64) -> Vec<String> {
        let limit = format!("--join-limit={}", self.join_limit.unwrap_or(join_limit_secs));
        let given = [
            (self.partition, "--partition"),
            (self.shared_writes, "--shared-writes"),
            (self.on_lost_host == Some(OnLostHost::Continue), "--on-lost-host=continue"),
        ];
        let given = given.into_iter().filter(|(is_given, _)| *is_given).map(|(_, word)| word.to_owned());
        std::iter::once(limit).chain(given).collect()
    }

    pub(crate) fn join_limit(&self) -> Duration {
        Duration::from_secs(self.join_limit.unwrap_or(60))
    }

    fn sharing(&self) -> WriteSharing {
        match (self.partition, self.shared_writes) {
            (true, _) => WriteSharing::Partitioned,
            (false, true) => WriteSharing::Allowed,
            (false, false) => WriteSharing::Refused,
        }
    }

    pub(crate) fn on_lost_host(&self) -> LostHost {
        match self.on_lost_host {
            None | Some(OnLostHost::End) => LostHost::End,
            Some(OnLostHost::Continue) => LostHost::Continue,
        }
    }
}

// Where ranks that something else has started find each other.
#[derive(Debug, Args)]
pub(crate) struct MeetingOptions {
    /// A directory that all hosts share, in which ranks that srun or mpirun started find each other
    #[arg(long, value_name = "DIRECTORY", default_value = ".", value_hint = ValueHint::DirPath)]
    rendezvous: PathBuf,
    /// Host and port of rank 0, where the hosts share no directory
    #[arg(long, value_name = "HOST:PORT", requires = "key_file")]
    coordinator: Option<String>,
    /// A file with the key of the run, which all ranks have: 64 hexadecimal digits that nobody else can read
    #[arg(long, value_name = "FILE", requires = "coordinator", value_hint = ValueHint::FilePath)]
    key_file: Option<PathBuf>,
}

impl MeetingOptions {
    /// Where ranks of a step meet.
    pub(crate) fn at(&self, step: &str) -> Meeting {
        match (&self.coordinator, &self.key_file) {
            (Some(address), Some(key_file)) => Meeting::Known { address: address.clone(), key_file: key_file.clone() },
            _ => Meeting::in_directory(&self.rendezvous, step),
        }
    }

    /// Is the worker of a rank above 0, until its coordinator dismisses it.
    ///
    /// # Errors
    /// The coordinator is not found, or is lost.
    pub(crate) fn attend(&self, ranks: &Ranks, hosts: &HostsOptions) -> anyhow::Result<ExitCode> {
        let (stream, key) = self.at(&ranks.step).find(hosts.join_limit())?;
        worker::attend(FleetConnection::Tcp(stream), &key, ranks.place())?;
        Ok(Exit::Fine.into())
    }
}

/// Where a command makes its runs: on this machine, on hosts that it reaches, or on ranks that something else has started.
#[derive(Debug)]
pub(crate) struct RunPlace {
    hosts: HostsOptions,
    ranks: Option<(Meeting, Ranks)>,
}

impl RunPlace {
    /// On the hosts of these options, or on this machine.
    pub(crate) fn of_options(hosts: HostsOptions) -> Self {
        Self { hosts, ranks: None }
    }

    /// On ranks, of which this process is the first one.
    pub(crate) fn of_ranks(hosts: HostsOptions, meeting: Meeting, ranks: Ranks) -> Self {
        Self { hosts, ranks: Some((meeting, ranks)) }
    }

    pub(crate) fn is_of_ranks(&self) -> bool {
        self.ranks.is_some()
    }

    /// True if it is not this machine alone.
    pub(crate) fn has_hosts(&self) -> bool {
        self.ranks.is_some() || self.hosts.has_hosts()
    }

    /// Number of hosts.
    ///
    /// # Errors
    /// There are none.
    pub(crate) fn n_hosts(&self) -> anyhow::Result<u32> {
        match &self.ranks {
            Some((_, ranks)) => Ok(ranks.size),
            None => self.hosts.hosts().map(|hosts| hosts.len() as u32),
        }
    }
}

/// Workers that come to a coordinator.
pub(crate) struct Fleet {
    workers: Vec<Launched>,
    n_hosts: u32,
    /// The coordinator can be found while this exists.
    _published: Option<Published>,
}

impl Fleet {
    /// Starts a worker on each host by the remote shell, all at the same time. The handle gives it up.
    ///
    /// # Errors
    /// A worker does not start; then all others are ended.
    pub(crate) fn launched(options: &HostsOptions, handle: &Handle) -> anyhow::Result<(Coordinator, Self)> {
        let (hosts, shell, key) = (options.hosts()?, options.shell()?, RunKey::new()?);
        let n_hosts = hosts.len() as u32;
        raise_open_files(n_hosts, 2)?;
        let coordinator = Coordinator::new(settings(options, n_hosts, hosts.clone()), key.clone())?;
        let mut fleet = Self { workers: Vec::new(), n_hosts, _published: None };
        let mut failures = Vec::new();
        let is_given_up = AtomicBool::new(false);
        let copies = Copies::default();
        let mut copy_line = CopyLine::new();
        let gives_up = || is_given_up.load(Ordering::SeqCst) || handle.is_stopping();
        std::thread::scope(|scope| {
            let (done, all) = mpsc::channel();
            for (rank, host) in hosts.iter().enumerate() {
                let (done, shell, key, limit) = (done.clone(), &shell, &key, options.join_limit());
                let (gives_up, copies) = (&gives_up, &copies);
                let place = FleetRank { rank: rank as u32, n_hosts };
                scope.spawn(move || done.send(shell.launch(host, place, key, (limit, gives_up), copies)));
            }
            drop(done);
            // Those that have come are heard while others are on their way, however long that takes.
            loop {
                let outcome = match all.recv_timeout(COPY_LOOK) {
                    Ok(outcome) => outcome,
                    Err(RecvTimeoutError::Timeout) => {
                        copy_line.show(copies.state());
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                match outcome {
                    Ok((worker, socket)) => {
                        coordinator.adopt(socket);
                        fleet.workers.push(worker);
                    }
                    Err(LaunchError::GivenUp) => {}
                    Err(error) => {
                        failures.push(error.to_string());
                        is_given_up.store(true, Ordering::SeqCst);
                    }
                }
            }
        });
        copy_line.show(None);
        if !gives_up() {
            tell_older(&copies.older());
            return Ok((coordinator, fleet));
        }
        coordinator.dismiss();
        fleet.end();
        failures.sort();
        Err(if failures.is_empty() { FleetError::Stopped.into() } else { anyhow!("{}", failures.join("; ")) })
    }

    /// The coordinator of ranks that were started with this process, which is rank 0 and has a worker of its own.
    ///
    /// # Errors
    /// The others cannot find it, or its worker does not start.
    pub(crate) fn gathered(
        options: &HostsOptions,
        meeting: &Meeting,
        ranks: &Ranks,
    ) -> anyhow::Result<(Coordinator, Self)> {
        let key = meeting.own_key()?;
        raise_open_files(ranks.size, 1)?;
        let coordinator = Coordinator::new(settings(options, ranks.size, Vec::new()), key.clone())?;
        let host = ferrio_sys::system_info::host_name();
        let (worker, socket) = launch_here(&host, ranks.place(), &key)?;
        coordinator.adopt(socket);
        let address = coordinator.listen(meeting.listen_address())?;
        let published = meeting.publish(&key, &host, address.port())?;
        let fleet = Self { workers: vec![worker], n_hosts: ranks.size, _published: Some(published) };
        Ok((coordinator, fleet))
    }

    pub(crate) fn n_hosts(&self) -> u32 {
        self.n_hosts
    }

    /// Ends what has not ended by itself.
    pub(crate) fn end(self) {
        Launched::end_all(self.workers);
    }
}

/// Lets the process open as many files as a coordinator of so many hosts needs: for each its connection, and by ssh the ends of another one while
/// it starts.
///
/// # Errors
/// The limit of the system is lower: some hosts could never join.
fn raise_open_files(n_hosts: u32, each: u64) -> anyhow::Result<()> {
    let (least, wanted) = (64 + each * u64::from(n_hosts), 256 + 8 * u64::from(n_hosts));
    let allowed = limits::raise_limit(limits::Resource::Nofile, wanted);
    anyhow::ensure!(
        allowed >= least,
        "{n_hosts} hosts need {least} open files, and this process may have {allowed}: raise the limit (ulimit -n)"
    );
    Ok(())
}

fn settings(options: &HostsOptions, n_hosts: u32, names: Vec<String>) -> FleetSettings {
    FleetSettings {
        n_hosts,
        names,
        join_limit: options.join_limit(),
        on_lost_host: options.on_lost_host(),
        on_refusal: LostHost::End,
        sharing: options.sharing(),
    }
}

/// Runs of a command that makes many, on the hosts of a fleet.
pub(crate) struct RunsOnHosts {
    coordinator: Coordinator,
    fleet: Fleet,
}

impl RunsOnHosts {
    /// The workers of a place; `None`: it is this machine.
    ///
    /// # Errors
    /// They do not come.
    pub(crate) fn start(place: &RunPlace, handle: &Handle) -> anyhow::Result<Option<Self>> {
        let (mut coordinator, fleet) = match &place.ranks {
            Some((meeting, ranks)) => Fleet::gathered(&place.hosts, meeting, ranks)?,
            None if place.hosts.has_hosts() => Fleet::launched(&place.hosts, handle)?,
            None => return Ok(None),
        };
        let gathered = coordinator.gather(handle, &mut |_| ());
        let started = Self { coordinator, fleet };
        match gathered {
            Ok(()) => Ok(Some(started)),
            Err(error) => {
                started.end();
                Err(error.into())
            }
        }
    }

    /// Makes a run on the first `n_hosts` of the hosts (`None`: on all of them). `tell` gets the messages of hosts.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn run(
        &mut self,
        session: &Session,
        n_hosts: Option<u32>,
        tell: &mut dyn FnMut(String),
    ) -> Result<SessionOutcome, RunError> {
        let mut observer = |event: &FleetEvent<'_>| match event {
            FleetEvent::Message { host, note, .. } => tell(format!("{host}: {}", note_text(note).trim())),
            FleetEvent::Doubtful(place) => tell(doubt(place)),
            FleetEvent::Lost { host, reason, .. } => tell(format!("host {host} is lost: {reason}")),
            _ => {}
        };
        let outcome = self.coordinator.run_session(session, n_hosts, &mut observer);
        outcome.map_err(|error| RunError::Elsewhere(Box::new(error)))
    }

    /// Dismisses the workers.
    pub(crate) fn end(self) {
        self.coordinator.dismiss();
        self.fleet.end();
    }
}
