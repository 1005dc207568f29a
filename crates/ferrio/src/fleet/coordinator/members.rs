//! The workers that have come, and the state of each.

use super::network::WorkerCall;
use super::partial::PartialRecord;
use super::{FleetError, FleetEvent, FleetSettings, MeasuredHost};
use crate::fleet::clock::ClockOffset;
use crate::fleet::outcome::HostOutcome;
use crate::fleet::wire::{FleetOrder, FleetReport, Hello, HostWork, PROTOCOL, SentReport};
use crate::session::VERSION;
use ferrio_stats::HostPlaces;
use ferrio_stats::eta::EtaSnapshot;
use std::collections::HashMap;

/// Messages of a worker that are passed on in one run.
const MOST_MESSAGES: u32 = 1_000;
/// Longest message that is passed on, bytes on its way.
const MOST_MESSAGE_BYTES: usize = 4 << 20;

/// A report that breaks the order of the messages.
struct Misplaced(&'static str);

/// True if the letters of jobs are letters, which a terminal shows as they are.
fn has_plain_states(snapshot: &EtaSnapshot) -> bool {
    snapshot.states.iter().all(char::is_ascii_graphic)
}

/// Why a report is heard at no such time.
fn misplaced(report: &FleetReport) -> Misplaced {
    Misplaced(match report {
        FleetReport::Hello(_) => "a second introduction",
        FleetReport::Places(_) => "places of a run that it does not have",
        FleetReport::Ready => "it is ready for a run that it does not have",
        FleetReport::Began { .. } => "a begin that was not ordered",
        FleetReport::AtStage(_) => "a stonewall that it cannot have reached",
        FleetReport::Facts(_) => "facts that are too long",
        FleetReport::JobEnded(_) => "an end of a job that does not run there",
        FleetReport::Message(..) => "a message that is too long",
        FleetReport::Interval(_) => "figures of a job that does not run there",
        FleetReport::Log(_) => "a log of a run that it does not have",
        FleetReport::Eta(_) => "the state of a run that it does not have, or one that is none",
        FleetReport::Status(_) | FleetReport::Over(_) => "an outcome of a run that it does not have",
        FleetReport::Refused(_) => "a refusal of a run that it does not have",
        FleetReport::Clock { .. } | FleetReport::Hangs(_) => "nothing that has a time of its own",
    })
}

/// Where a worker is in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberState {
    /// It has no run, or prepares one.
    Waiting,
    /// It waits for the start, or runs.
    Ready,
    /// Its run is over.
    Over,
    /// It has gone.
    Lost,
}

/// A worker.
#[derive(Debug)]
pub(super) struct FleetMember {
    rank: u32,
    pub(super) host: String,
    /// Its call; `None`: it was ended.
    call: Option<WorkerCall>,
    pub(super) state: MemberState,
    pub(super) clock: ClockOffset,
    /// It was asked for the time, and has not answered.
    pub(super) awaits_clock: bool,
    /// Start of its run on our clock.
    pub(super) began_ns: Option<u64>,
    /// Time at which it was ordered to begin, on our clock.
    pub(super) ordered_ns: u64,
    /// The stonewall that it has reached.
    pub(super) stage: u32,
    n_messages: u32,
    refused: Option<String>,
    lost: Option<String>,
    /// The places that its jobs use; `None`: it has not told them yet.
    pub(super) places: Option<Box<HostPlaces>>,
    outcome: Option<Box<MeasuredHost>>,
    partial: PartialRecord,
}

impl FleetMember {
    pub(super) fn rank(&self) -> u32 {
        self.rank
    }

    pub(super) fn order(&self, order: FleetOrder) {
        // A worker that has gone is told so by its connection.
        let _ = self.call.as_ref().map(|call| call.orders.send(order));
    }

    /// What it says counts.
    pub(super) fn is_heard(&self) -> bool {
        self.call.is_some() && self.state != MemberState::Lost
    }

    /// Ends its call, once it has got its orders: what it says is not heard any more.
    pub(super) fn hang_up(&mut self, refused: &str) {
        self.order(FleetOrder::Dismiss { refused: refused.to_owned() });
        self.call = None;
    }

    pub(super) fn ask_clock(&mut self, asked_ns: u64) {
        self.awaits_clock = true;
        self.order(FleetOrder::ReadClock { asked_ns });
    }

    pub(super) fn refusal(&self) -> Option<FleetError> {
        self.refused.as_ref().map(|reason| FleetError::Refused { host: self.host.clone(), reason: reason.clone() })
    }

    pub(super) fn loss(&self) -> Option<FleetError> {
        self.lost.as_ref().map(|reason| FleetError::LostEarly { host: self.host.clone(), reason: reason.clone() })
    }

    /// Takes a report that came at this time of our clock, in so many bytes.
    ///
    /// # Errors
    /// It is out of place.
    fn take(
        &mut self,
        report: FleetReport,
        n_bytes: usize,
        at_ns: u64,
        observer: &mut dyn FnMut(&FleetEvent<'_>),
    ) -> Result<(), Misplaced> {
        let (rank, host) = (self.rank, self.host.as_str());
        let (is_waiting, runs) = (self.state == MemberState::Waiting, self.state == MemberState::Ready);
        match report {
            FleetReport::Clock { asked_ns, read_ns } => {
                self.clock.add(asked_ns, read_ns, at_ns);
                self.awaits_clock = false;
            }
            FleetReport::Places(places) if is_waiting && self.places.is_none() => self.places = Some(places),
            FleetReport::Ready if is_waiting => self.state = MemberState::Ready,
            FleetReport::Began { at_ns: there_ns } if runs && self.began_ns.is_none() => {
                // Whatever its clock says: not before it was ordered to, and not after it has said so.
                self.began_ns = Some(self.clock.here(there_ns).min(at_ns).max(self.ordered_ns.min(at_ns)));
            }
            FleetReport::AtStage(stage) if runs && stage > self.stage => self.stage = stage,
            FleetReport::Message(stream, note) if n_bytes <= MOST_MESSAGE_BYTES => {
                self.n_messages = self.n_messages.saturating_add(1);
                if self.n_messages <= MOST_MESSAGES {
                    observer(&FleetEvent::Message { host, stream, note: &note });
                }
            }
            FleetReport::Facts(facts) if n_bytes <= MOST_MESSAGE_BYTES => {
                observer(&FleetEvent::Facts { facts: &facts });
            }
            FleetReport::JobEnded(end) if runs && n_bytes <= MOST_MESSAGE_BYTES => {
                observer(&FleetEvent::JobEnded { rank, host, end: &end });
            }
            FleetReport::Interval(interval) if runs && self.partial.knows(interval.job_number) => {
                observer(&FleetEvent::Interval { rank, host, interval: &interval });
                self.partial.add(&interval);
            }
            FleetReport::Log(part) if runs && n_bytes <= MOST_MESSAGE_BYTES => {
                observer(&FleetEvent::Log { rank, host, part: &part });
            }
            FleetReport::Eta(snapshot) if runs && n_bytes <= MOST_MESSAGE_BYTES && has_plain_states(&snapshot) => {
                observer(&FleetEvent::Eta { rank, snapshot: &snapshot });
            }
            FleetReport::Status(record) if runs && self.partial.has_room_for(record.workers.len()) => {
                observer(&FleetEvent::Status { rank, host, record: &record });
            }
            FleetReport::Over(outcome) if runs && self.partial.has_room_for(outcome.record.workers.len()) => {
                self.outcome = Some(outcome);
                self.state = MemberState::Over;
            }
            FleetReport::Refused(reason) if is_waiting => {
                self.refused = Some(reason);
                self.state = MemberState::Over;
            }
            FleetReport::Hangs(for_ms) => {
                let reason = format!("its run hangs: nothing watches over its jobs for {} s", for_ms / 1_000);
                self.lose(&reason, observer);
            }
            report => return Err(misplaced(&report)),
        }
        Ok(())
    }

    /// It has gone.
    pub(super) fn lose(&mut self, reason: &str, observer: &mut dyn FnMut(&FleetEvent<'_>)) {
        // Once a run is over, the next one notices.
        self.lost.get_or_insert_with(|| reason.to_owned());
        if self.state != MemberState::Over {
            self.state = MemberState::Lost;
            observer(&FleetEvent::Lost { rank: self.rank, host: &self.host, reason });
        }
    }

    /// What its host has done.
    pub(super) fn take_outcome(&mut self) -> HostOutcome {
        let lost = self.lost.clone().filter(|_| self.state == MemberState::Lost);
        let outcome = self.outcome.take().map(|outcome| *outcome);
        HostOutcome {
            rank: self.rank,
            name: self.host.clone(),
            machine: self.places.as_ref().map(|places| places.machine.clone()).unwrap_or_default(),
            began_ns: self.began_ns,
            clock_offset_ns: self.clock.offset_ns(),
            clock_uncertainty_ns: self.clock.uncertainty_ns(),
            is_partial: outcome.is_none(),
            refused: self.refused.clone(),
            outcome: outcome.unwrap_or_else(|| std::mem::take(&mut self.partial).into_outcome()),
            lost,
        }
    }
}

/// Takes a report of a worker that is there. One that breaks the rules is a worker lost: nothing that it says counts any more.
pub(super) fn heard(
    member: &mut FleetMember,
    report: &SentReport,
    at_ns: u64,
    observer: &mut dyn FnMut(&FleetEvent<'_>),
) {
    if !member.is_heard() {
        return;
    }
    let trouble = match report.read() {
        Ok(read) => match member.take(read, report.n_bytes(), at_ns, observer) {
            Ok(()) => return,
            Err(Misplaced(what)) => format!("it has sent what makes no sense: {what}"),
        },
        Err(error) => format!("it has sent what is no report: {error}"),
    };
    member.hang_up(&trouble);
    member.lose(&trouble, observer);
}

/// The workers by rank. A run may be one of the first hosts alone: the others wait, and are not among those that are looked at.
#[derive(Debug, Default)]
pub(super) struct Members {
    all: Vec<FleetMember>,
    rank_of_connection: HashMap<u64, u32>,
    /// Number of workers that make the present run; `None`: all of them.
    n_running: Option<usize>,
}

impl Members {
    /// Those of the present run; before the first one, all of them.
    pub(super) fn all(&self) -> &[FleetMember] {
        &self.all[..self.n_running()]
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut FleetMember> {
        let n_running = self.n_running();
        self.all[..n_running].iter_mut()
    }

    fn n_running(&self) -> usize {
        self.n_running.unwrap_or(usize::MAX).min(self.all.len())
    }

    /// Those that are not lost.
    pub(super) fn present(&self) -> impl Iterator<Item = &FleetMember> {
        self.all().iter().filter(|member| member.state != MemberState::Lost)
    }

    pub(super) fn present_mut(&mut self) -> impl Iterator<Item = &mut FleetMember> {
        self.all_mut().filter(|member| member.state != MemberState::Lost)
    }

    pub(super) fn of_rank(&self, rank: u32) -> Option<&FleetMember> {
        self.place(rank).and_then(|place| self.all.get(place))
    }

    fn place(&self, rank: u32) -> Option<usize> {
        self.all.binary_search_by_key(&rank, |member| member.rank).ok()
    }

    pub(super) fn of_connection(&mut self, connection: u64) -> Option<&mut FleetMember> {
        let place = self.place(*self.rank_of_connection.get(&connection)?)?;
        self.all.get_mut(place)
    }

    /// Gives an order to all that are there and make the present run.
    pub(super) fn order(&self, order: &FleetOrder) {
        self.present().for_each(|member| member.order(order.clone()));
    }

    /// The longest way to a worker and back, nanoseconds.
    pub(super) fn longest_trip_ns(&self) -> u64 {
        self.present().filter_map(|member| member.clock.uncertainty_ns()).max().unwrap_or_default().saturating_mul(2)
    }

    /// Those that have not ended count as lost.
    pub(super) fn give_up(&mut self, reason: &str) {
        let is_open = |member: &&mut FleetMember| !matches!(member.state, MemberState::Over | MemberState::Lost);
        for member in self.all_mut().filter(is_open) {
            member.hang_up("");
            member.lost = Some(reason.to_owned());
            member.state = MemberState::Lost;
        }
    }

    /// The last run is over for all of them: orders reach those that have waited, too.
    pub(super) fn end_runs(&mut self) {
        self.n_running = None;
    }

    /// Gives the first `n_running` their work, and forgets the run before. Clocks drift apart, so that their offsets are measured for each run.
    pub(super) fn prepare(&mut self, n_running: u32, work_of: &dyn Fn(u32) -> HostWork, n_parts: Option<u32>) {
        self.n_running = Some(n_running as usize);
        for member in &mut self.all {
            member.state = if member.lost.is_some() { MemberState::Lost } else { MemberState::Waiting };
            (member.began_ns, member.ordered_ns, member.stage, member.n_messages) = (None, 0, 0, 0);
            (member.refused, member.outcome, member.places) = (None, None, None);
            member.clock = ClockOffset::default();
        }
        let n_hosts = self.present().count() as u32;
        for member in self.present_mut() {
            let work = HostWork { host: member.host.clone(), n_hosts, n_parts, ..work_of(member.rank) };
            member.partial =
                work.jobs.spec().map_or_else(PartialRecord::default, |jobs| PartialRecord::of(jobs, n_hosts));
            member.order(FleetOrder::Prepare(Box::new(work)));
        }
    }

    /// A worker says who it is; returns the name of its host.
    ///
    /// # Errors
    /// It is none of this run; it was told, and its connection ends.
    pub(super) fn join(
        &mut self,
        connection: u64,
        hello: &Hello,
        call: WorkerCall,
        settings: &FleetSettings,
    ) -> Result<String, String> {
        let n_hosts = settings.n_hosts;
        let refused = if hello.protocol != PROTOCOL || hello.version != VERSION {
            Some(format!(
                "host {} has {}, and this is {VERSION}: all hosts need the same version",
                hello.host, hello.version
            ))
        } else if hello.rank >= n_hosts {
            Some(format!("host {} has rank {}, and there are {n_hosts} hosts", hello.host, hello.rank))
        } else if self.of_rank(hello.rank).is_some() {
            Some(format!("rank {} has come already", hello.rank))
        } else {
            None
        };
        if let Some(refused) = refused {
            let _ = call.orders.send(FleetOrder::Dismiss { refused: refused.clone() });
            return Err(refused);
        }
        let host = settings.names.get(hello.rank as usize).unwrap_or(&hello.host).clone();
        let member = FleetMember {
            rank: hello.rank,
            host: host.clone(),
            call: Some(call),
            state: MemberState::Waiting,
            clock: ClockOffset::default(),
            awaits_clock: false,
            began_ns: None,
            ordered_ns: 0,
            stage: 0,
            n_messages: 0,
            refused: None,
            lost: None,
            places: None,
            outcome: None,
            partial: PartialRecord::default(),
        };
        let position = self.all.partition_point(|other| other.rank < hello.rank);
        self.all.insert(position, member);
        self.rank_of_connection.insert(connection, hello.rank);
        Ok(host)
    }
}
