//! The workers that have come, and the state of each.

use super::partial::PartialRecord;
use super::{FleetError, FleetEvent, FleetSettings, MeasuredHost};
use crate::fleet::clock::ClockOffset;
use crate::fleet::outcome::HostOutcome;
use crate::fleet::wire::secrets::RunKey;
use crate::fleet::wire::{FleetOrder, FleetReport, Hello, HostWork, PROTOCOL};
use crate::session::VERSION;
use ferrio_stats::HostPlaces;
use tokio::sync::mpsc::UnboundedSender;

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
    connection: u64,
    rank: u32,
    pub(super) host: String,
    orders: UnboundedSender<FleetOrder>,
    pub(super) state: MemberState,
    pub(super) clock: ClockOffset,
    /// It was asked for the time, and has not answered.
    pub(super) awaits_clock: bool,
    /// Start of its run on our clock.
    pub(super) began_ns: Option<u64>,
    /// The stonewall that it has reached.
    pub(super) stage: u32,
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
        let _ = self.orders.send(order);
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

    /// Takes a report that came at this time of our clock.
    pub(super) fn take(&mut self, report: FleetReport, at_ns: u64, observer: &mut dyn FnMut(&FleetEvent<'_>)) {
        let (rank, host) = (self.rank, self.host.as_str());
        match report {
            FleetReport::Clock { asked_ns, read_ns } => {
                self.clock.add(asked_ns, read_ns, at_ns);
                self.awaits_clock = false;
            }
            FleetReport::Places(places) => self.places = Some(places),
            FleetReport::Ready => self.state = MemberState::Ready,
            FleetReport::Began { at_ns } => self.began_ns = Some(self.clock.here(at_ns)),
            FleetReport::AtStage(stage) => self.stage = stage,
            FleetReport::Message(stream, note) => observer(&FleetEvent::Message { host, stream, note: &note }),
            FleetReport::Facts(facts) => observer(&FleetEvent::Facts { facts: &facts }),
            FleetReport::JobEnded(end) => observer(&FleetEvent::JobEnded { rank, host, end: &end }),
            FleetReport::Interval(interval) => {
                observer(&FleetEvent::Interval { rank, host, interval: &interval });
                self.partial.add(&interval);
            }
            FleetReport::Over(outcome) => {
                self.outcome = Some(outcome);
                self.state = MemberState::Over;
            }
            FleetReport::Refused(reason) => {
                self.refused = Some(reason);
                self.state = MemberState::Over;
            }
            // A worker has said already who it is.
            FleetReport::Hello(_) => {}
        }
    }

    /// It has gone.
    pub(super) fn lose(&mut self, reason: &str, observer: &mut dyn FnMut(&FleetEvent<'_>)) {
        // Once a run is over, the next one notices.
        self.lost = Some(reason.to_owned());
        if self.state != MemberState::Over {
            self.state = MemberState::Lost;
            observer(&FleetEvent::Lost { host: &self.host, reason });
        }
    }

    /// What its host has done.
    pub(super) fn take_outcome(&mut self) -> HostOutcome {
        let lost = self.lost.clone().filter(|_| self.state == MemberState::Lost);
        let outcome = self.outcome.take().map(|outcome| *outcome);
        HostOutcome {
            rank: self.rank,
            name: self.host.clone(),
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

/// All workers, by rank.
#[derive(Debug, Default)]
pub(super) struct Members(Vec<FleetMember>);

impl Members {
    pub(super) fn all(&self) -> &[FleetMember] {
        &self.0
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut FleetMember> {
        self.0.iter_mut()
    }

    /// Those that are not lost.
    pub(super) fn present(&self) -> impl Iterator<Item = &FleetMember> {
        self.0.iter().filter(|member| member.state != MemberState::Lost)
    }

    pub(super) fn present_mut(&mut self) -> impl Iterator<Item = &mut FleetMember> {
        self.0.iter_mut().filter(|member| member.state != MemberState::Lost)
    }

    pub(super) fn of_rank(&self, rank: u32) -> Option<&FleetMember> {
        self.0.iter().find(|member| member.rank == rank)
    }

    pub(super) fn of_connection(&mut self, connection: u64) -> Option<&mut FleetMember> {
        self.0.iter_mut().find(|member| member.connection == connection)
    }

    /// Gives an order to all that are there.
    pub(super) fn order(&self, order: &FleetOrder) {
        self.present().for_each(|member| member.order(order.clone()));
    }

    /// The longest way to a worker and back, nanoseconds.
    pub(super) fn longest_trip_ns(&self) -> u64 {
        self.present().filter_map(|member| member.clock.uncertainty_ns()).max().unwrap_or_default().saturating_mul(2)
    }

    /// Those that have not ended count as lost.
    pub(super) fn give_up(&mut self, reason: &str) {
        for member in self.0.iter_mut().filter(|member| !matches!(member.state, MemberState::Over | MemberState::Lost))
        {
            member.order(FleetOrder::Dismiss { refused: String::new() });
            member.lost = Some(reason.to_owned());
            member.state = MemberState::Lost;
        }
    }

    /// Gives everyone its work, and forgets the run before. Clocks drift apart, so that their offsets are measured for each run.
    pub(super) fn prepare(&mut self, work_of: &dyn Fn(u32) -> HostWork, n_parts: Option<u32>) {
        for member in &mut self.0 {
            member.state = if member.lost.is_some() { MemberState::Lost } else { MemberState::Waiting };
            (member.began_ns, member.stage) = (None, 0);
            (member.refused, member.outcome, member.places) = (None, None, None);
            member.clock = ClockOffset::default();
        }
        let n_hosts = self.present().count() as u32;
        for member in self.present_mut() {
            let work = HostWork { host: member.host.clone(), n_hosts, n_parts, ..work_of(member.rank) };
            member.partial = work.jobs.spec().map_or_else(PartialRecord::default, PartialRecord::of);
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
        orders: UnboundedSender<FleetOrder>,
        key: &RunKey,
        settings: &FleetSettings,
    ) -> Result<String, String> {
        let n_hosts = settings.n_hosts;
        let refused = if hello.protocol != PROTOCOL || hello.version != VERSION {
            Some(format!(
                "host {} has {}, and this is {VERSION}: all hosts need the same version",
                hello.host, hello.version
            ))
        } else if !key.has_token(hello.rank, &hello.token) {
            Some(format!("host {} has no token of this run", hello.host))
        } else if hello.rank >= n_hosts {
            Some(format!("host {} has rank {}, and there are {n_hosts} hosts", hello.host, hello.rank))
        } else if self.of_rank(hello.rank).is_some() {
            Some(format!("rank {} has come already", hello.rank))
        } else {
            None
        };
        if let Some(refused) = refused {
            let _ = orders.send(FleetOrder::Dismiss { refused: refused.clone() });
            return Err(refused);
        }
        let host = settings.names.get(hello.rank as usize).unwrap_or(&hello.host).clone();
        let member = FleetMember {
            connection,
            rank: hello.rank,
            host: host.clone(),
            orders,
            state: MemberState::Waiting,
            clock: ClockOffset::default(),
            awaits_clock: false,
            began_ns: None,
            stage: 0,
            refused: None,
            lost: None,
            places: None,
            outcome: None,
            partial: PartialRecord::default(),
        };
        let position = self.0.partition_point(|other| other.rank < hello.rank);
        self.0.insert(position, member);
        Ok(host)
    }
}
