//! The coordinator: waits for its workers, makes runs on all of them at once, and has what they measured.
//!
//! Must not know: how workers were launched, how outcomes are shown. Start reading at [`Coordinator::run`]; `network` has the connections.

mod door;
mod error;
mod members;
mod network;
mod partial;
mod sharing;
mod silence;

use super::outcome::FleetOutcome;
use super::wire::secrets::RunKey;
use super::wire::stream::FleetConnection;
use super::wire::{FleetOrder, HostJobs, HostWork, LogPart, MeasuredHost};
use crate::session::{Session, SessionOutcome};
use ferrio_run::Handle;
use ferrio_stats::eta::EtaSnapshot;
use ferrio_stats::{HostPlaces, IntervalStats, JobEnd, MessageStream, Note, Provenance, RunRecord, SharedPlace};
use ferrio_sys::clock::monotonic_ns;
use members::{FleetMember, MemberState, Members, heard};
use network::{Network, NetworkEvent};
use sharing::SharedPlaces;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

pub use error::FleetError;
pub use sharing::WriteSharing;

/// Length of the intervals that workers send, milliseconds.
pub const INTERVAL_MS: u64 = 1_000;

/// Time between two looks at what the user wants.
const TICK: Duration = Duration::from_millis(50);
/// Questions for the time before a start, to each worker.
const CLOCK_READINGS: u32 = 16;
/// Least time between the order to begin and the begin.
const LEAST_NOTICE: Duration = Duration::from_millis(20);
/// Most such time: whatever workers say of their clocks.
const MOST_NOTICE: Duration = Duration::from_secs(5);
/// Time for workers to end when the run is over for them.
const END_LIMIT: Duration = Duration::from_secs(5);

/// What is done when a worker is lost during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LostHost {
    /// The run ends; what all have done is reported.
    #[default]
    End,
    /// The others go on.
    Continue,
}

/// Settings of a fleet.
#[derive(Debug, Clone)]
pub struct FleetSettings {
    /// Number of workers.
    pub n_hosts: u32,
    /// Names of their hosts by rank; without one, a host has the name that its kernel tells.
    pub names: Vec<String>,
    /// Time for all of them to come.
    pub join_limit: Duration,
    /// What is done when one is lost.
    pub on_lost_host: LostHost,
    /// What is done when one refuses its jobs.
    pub on_refusal: LostHost,
    /// What several hosts may do in one place.
    pub sharing: WriteSharing,
}

/// Something has happened; workers are named by rank.
#[derive(Debug)]
pub enum FleetEvent<'a> {
    /// A worker has come.
    Joined {
        /// Its rank.
        rank: u32,
        /// Its host.
        host: &'a str,
    },
    /// All workers have begun.
    Began,
    /// A message of a worker.
    Message {
        /// Its host.
        host: &'a str,
        /// Information or error.
        stream: MessageStream,
        /// The message.
        note: &'a Note,
    },
    /// Figures of a job's clone for one interval.
    Interval {
        /// The worker's rank.
        rank: u32,
        /// Its host.
        host: &'a str,
        /// The figures.
        interval: &'a IntervalStats,
    },
    /// Hosts may write to one place, which cannot be told.
    Doubtful(&'a SharedPlace),
    /// Facts about a host and the jobs, before the start.
    Facts {
        /// The facts.
        facts: &'a Provenance,
    },
    /// A job's clone has ended.
    JobEnded {
        /// The worker's rank.
        rank: u32,
        /// Its host.
        host: &'a str,
        /// All of its figures.
        end: &'a JobEnd,
    },
    /// A part of a performance log of a server.
    Log {
        /// The worker's rank.
        rank: u32,
        /// Its host.
        host: &'a str,
        /// The part.
        part: &'a LogPart,
    },
    /// The state of the run of a server.
    Eta {
        /// The worker's rank.
        rank: u32,
        /// The state.
        snapshot: &'a EtaSnapshot,
    },
    /// The figures of a server so far.
    Status {
        /// The worker's rank.
        rank: u32,
        /// Its host.
        host: &'a str,
        /// The figures.
        record: &'a RunRecord,
    },
    /// A worker is lost.
    Lost {
        /// Its rank.
        rank: u32,
        /// Its host.
        host: &'a str,
        /// What is known of the reason.
        reason: &'a str,
    },
    /// A connection was closed, because the other end is no worker of this run.
    Turned {
        /// Why.
        reason: &'a str,
    },
}

/// A fleet whose workers come, run and are dismissed.
pub struct Coordinator {
    settings: FleetSettings,
    network: Network,
    members: Members,
}

impl Coordinator {
    /// A coordinator of workers that have this key.
    ///
    /// # Errors
    /// The system lacks threads or random numbers.
    pub fn new(settings: FleetSettings, key: RunKey) -> Result<Self, FleetError> {
        let network = Network::start(key, settings.n_hosts)?;
        Ok(Self { settings, network, members: Members::default() })
    }

    /// A worker may come through this connection: it leads to a program that was launched, or to a server.
    pub fn adopt(&self, connection: impl Into<FleetConnection>) {
        self.network.adopt(connection.into());
    }

    /// Workers may come over the network, to this address.
    ///
    /// # Errors
    /// It cannot be listened to.
    pub fn listen(&self, address: SocketAddr) -> Result<SocketAddr, FleetError> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        self.network.listen(listener)?;
        Ok(address)
    }

    /// Waits until all workers are there.
    ///
    /// # Errors
    /// Some did not come in time, or the user has ended it.
    pub fn gather(&mut self, handle: &Handle, observer: &mut dyn FnMut(&FleetEvent<'_>)) -> Result<(), FleetError> {
        let until = Instant::now() + self.settings.join_limit;
        while self.members.all().len() < self.settings.n_hosts as usize {
            if handle.is_stopping() {
                return Err(FleetError::Stopped);
            }
            if Instant::now() >= until {
                return Err(self.missing());
            }
            self.hear(observer);
            if let Some(lost) = self.members.all().iter().find_map(FleetMember::loss) {
                return Err(lost);
            }
        }
        Ok(())
    }

    fn missing(&self) -> FleetError {
        let absent = (0..self.settings.n_hosts).filter(|rank| self.members.of_rank(*rank).is_none());
        let missing: Vec<String> = absent.map(|rank| format!("rank {rank}")).collect();
        let n_here = self.members.all().len();
        FleetError::Missing {
            n_here,
            n_hosts: self.settings.n_hosts,
            missing: missing.join(", "),
            limit: self.settings.join_limit,
        }
    }

    /// Makes one run on all hosts that are there. The handle stops it, and pulls the triggers of all hosts.
    ///
    /// # Errors
    /// A host cannot run the jobs, or is lost before the start.
    pub fn run(
        &mut self,
        work: &HostWork,
        handle: &Handle,
        observer: &mut dyn FnMut(&FleetEvent<'_>),
    ) -> Result<FleetOutcome, FleetError> {
        self.run_each(None, &|_| work.clone(), handle, observer)
    }

    /// As [`Self::run`], on the first `n_hosts` (`None`: on all), with work of its own for each rank. The other hosts wait.
    ///
    /// # Errors
    /// As of [`Self::run`], and there are not so many hosts.
    pub fn run_each(
        &mut self,
        n_hosts: Option<u32>,
        work_of: &dyn Fn(u32) -> HostWork,
        handle: &Handle,
        observer: &mut dyn FnMut(&FleetEvent<'_>),
    ) -> Result<FleetOutcome, FleetError> {
        let n_hosts = n_hosts.unwrap_or(self.settings.n_hosts);
        if n_hosts == 0 || n_hosts > self.settings.n_hosts {
            return Err(FleetError::NoSuchNumber { wanted: n_hosts, n_hosts: self.settings.n_hosts });
        }
        let n_parts = (self.settings.sharing == WriteSharing::Partitioned).then_some(n_hosts);
        self.members.prepare(n_hosts, work_of, n_parts);
        let shared = match self.make_ready(handle, observer) {
            Ok(shared) => shared,
            Err(error) => {
                self.members.order(&FleetOrder::Stop);
                return Err(error);
            }
        };
        self.read_clocks(observer);
        let notice = Duration::from_nanos(self.members.longest_trip_ns().saturating_mul(8));
        let notice = notice.clamp(LEAST_NOTICE, MOST_NOTICE);
        let begin_ns = monotonic_ns() + notice.as_nanos() as u64;
        for member in self.members.present_mut() {
            member.ordered_ns = monotonic_ns();
            let at_ns = member.clock.there(begin_ns);
            member.order(FleetOrder::Begin { at_ns });
        }
        self.watch(handle, observer);
        let hosts = self.members.all_mut().map(FleetMember::take_outcome).collect();
        Ok(FleetOutcome { hosts, agreed_ns: begin_ns, shared })
    }

    /// Makes the run of a session on the first `n_hosts` of the hosts (`None`: on all of them); the session's handle stops it.
    ///
    /// # Errors
    /// As of [`Self::run`].
    pub fn run_session(
        &mut self,
        session: &Session,
        n_hosts: Option<u32>,
        observer: &mut dyn FnMut(&FleetEvent<'_>),
    ) -> Result<SessionOutcome, FleetError> {
        let work = HostWork {
            jobs: HostJobs::Spec(session.spec.clone()),
            host: String::new(),
            n_hosts: 0,
            is_readonly: session.settings.readonly,
            n_parts: None,
            words: session.settings.command_line.clone(),
            interval_ms: INTERVAL_MS,
            is_audited: session.is_audited,
            tells_course: false,
        };
        let outcome = self.run_each(n_hosts, &|_| work.clone(), &session.handle(), observer)?;
        Ok(outcome.session_outcome(outcome.merged()))
    }

    /// Looks for places that several hosts use, then lets all lay out their files. Returns these places.
    fn make_ready(
        &mut self,
        handle: &Handle,
        observer: &mut dyn FnMut(&FleetEvent<'_>),
    ) -> Result<Vec<SharedPlace>, FleetError> {
        self.wait_until(|member| member.places.is_some(), handle, observer)?;
        let shared = self.shared_places()?;
        shared.doubtful().for_each(|place| observer(&FleetEvent::Doubtful(place)));
        let is_ready = |member: &FleetMember| member.state == MemberState::Ready;
        // The first host makes a file that all have in common; each makes its part, behind those of the others, if it is divided.
        let n_in_turn = match self.settings.sharing {
            _ if !shared.is_laid_out => 0,
            WriteSharing::Partitioned => usize::MAX,
            WriteSharing::Refused | WriteSharing::Allowed => 1,
        };
        let ranks: Vec<u32> = self.members.present().map(FleetMember::rank).collect();
        for rank in ranks.iter().take(n_in_turn) {
            self.members.of_rank(*rank).into_iter().for_each(|member| member.order(FleetOrder::LayOut));
            self.wait_until(|member| member.rank() != *rank || is_ready(member), handle, observer)?;
        }
        for rank in ranks.iter().skip(n_in_turn) {
            self.members.of_rank(*rank).into_iter().for_each(|member| member.order(FleetOrder::LayOut));
        }
        self.wait_until(is_ready, handle, observer)?;
        Ok(shared.places)
    }

    /// The places that several hosts use.
    ///
    /// # Errors
    /// Several change one, and it was not allowed.
    fn shared_places(&self) -> Result<SharedPlaces, FleetError> {
        let told: Vec<(&str, &HostPlaces)> = self
            .members
            .present()
            .filter_map(|member| Some((member.host.as_str(), member.places.as_deref()?)))
            .collect();
        SharedPlaces::checked(&told, self.settings.sharing)
    }

    /// Waits until this is true of all workers that are there and have not ended.
    fn wait_until(
        &mut self,
        is_done: impl Fn(&FleetMember) -> bool,
        handle: &Handle,
        observer: &mut dyn FnMut(&FleetEvent<'_>),
    ) -> Result<(), FleetError> {
        loop {
            let refusal = self.members.all().iter().find_map(FleetMember::refusal);
            if let Some(refusal) = refusal.filter(|_| self.settings.on_refusal == LostHost::End) {
                return Err(refusal);
            }
            let on_loss = self.members.all().iter().find_map(FleetMember::loss);
            if let Some(lost) =
                on_loss.filter(|_| self.settings.on_lost_host == LostHost::End || self.members.present().count() == 0)
            {
                return Err(lost);
            }
            if handle.is_stopping() {
                return Err(FleetError::Stopped);
            }
            if self.members.present().all(|member| member.state == MemberState::Over || is_done(member)) {
                return Ok(());
            }
            self.hear(observer);
        }
    }

    /// Asks all workers for the time, several times.
    fn read_clocks(&mut self, observer: &mut dyn FnMut(&FleetEvent<'_>)) {
        for _ in 0..CLOCK_READINGS {
            let asked_ns = monotonic_ns();
            self.members.present_mut().for_each(|member| member.ask_clock(asked_ns));
            let until = Instant::now() + TICK;
            while self.members.present().any(|member| member.awaits_clock) && Instant::now() < until {
                self.hear(observer);
            }
        }
    }

    /// Follows the run until all workers have ended or are lost.
    fn watch(&mut self, handle: &Handle, observer: &mut dyn FnMut(&FleetEvent<'_>)) {
        let mut told_at: Option<Instant> = None;
        let mut has_begun = false;
        let mut stage = 0;
        while self.members.present().any(|member| member.state != MemberState::Over) {
            self.hear(observer);
            if !has_begun
                && self.members.present().all(|member| member.began_ns.is_some() || member.state == MemberState::Over)
            {
                has_begun = true;
                observer(&FleetEvent::Began);
            }
            // The slowest host decides when a stonewall opens.
            let running = self.members.present().filter(|member| member.state != MemberState::Over);
            if let Some(reached) = running.map(|member| member.stage).min().filter(|reached| *reached > stage) {
                stage = reached;
                self.members.order(&FleetOrder::BeginStage(stage));
            }
            let is_broken = self.settings.on_lost_host == LostHost::End
                && self.members.all().iter().any(|member| member.state == MemberState::Lost);
            if handle.take_trigger() {
                self.members.order(&FleetOrder::Trigger);
            }
            if told_at.is_none() && (handle.is_stopping() || is_broken) {
                told_at = Some(Instant::now());
                self.members.order(&FleetOrder::Stop);
            }
            if told_at.is_some_and(|told_at| told_at.elapsed() > END_LIMIT) {
                self.members.give_up("it has not ended in time");
            }
        }
    }

    /// Handles what workers say, for at most a tick.
    fn hear(&mut self, observer: &mut dyn FnMut(&FleetEvent<'_>)) {
        let Some(said) = self.network.next_within(TICK) else { return };
        let until = Instant::now() + TICK;
        self.take(said, observer);
        while Instant::now() < until {
            let Some(said) = self.network.next_within(Duration::ZERO) else { return };
            self.take(said, observer);
        }
    }

    fn take(&mut self, said: NetworkEvent, observer: &mut dyn FnMut(&FleetEvent<'_>)) {
        match said {
            NetworkEvent::Called { connection, hello, call } => {
                match self.members.join(connection, &hello, call, &self.settings) {
                    Ok(host) => observer(&FleetEvent::Joined { rank: hello.rank, host: &host }),
                    Err(reason) => observer(&FleetEvent::Turned { reason: &reason }),
                }
            }
            NetworkEvent::Turned { reason } => observer(&FleetEvent::Turned { reason: &reason }),
            // Its place is free for another one when it is read.
            NetworkEvent::Reported { connection, report, at_ns, place: _place } => {
                if let Some(member) = self.members.of_connection(connection) {
                    heard(member, &report, at_ns, observer);
                }
            }
            NetworkEvent::Gone { connection, reason } => {
                if let Some(member) = self.members.of_connection(connection) {
                    member.lose(&reason, observer);
                }
            }
        }
    }

    /// Tells all workers that nothing more is wanted of them.
    pub fn dismiss(mut self) {
        self.members.end_runs();
        self.members.order(&FleetOrder::Dismiss { refused: String::new() });
        self.network.end();
    }
}

#[cfg(test)]
mod tests;
