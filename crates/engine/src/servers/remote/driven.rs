//! The engine around a library whose connections the thread of the job drives by event functions: I/Os in flight, waits for their
//! results, connections that are lost, and servers that answer nothing.
//!
//! Must not know: which library. Start reading at [`DrivenLink`], then [`DrivenEngine::reap_within`].

use super::silence::Silence;
use crate::contract::parts::{Complaint, Connection, Server};
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineFile, IoResult, IoUnit, Queued, push_in_room, time_left,
};
use crate::files::control::error_result;
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::clock::Clock;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// State of a connection after a look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineState {
    Alive,
    Lost,
    /// The other end has said that this was all.
    Ended,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct DrivenFlight {
    pub(crate) unit: IoUnit,
    /// Bytes that were moved by the requests before the present one.
    pub(crate) n_moved: usize,
}

/// An I/O that fails: its result, and what there is to say about it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) result: IoResult,
    pub(crate) complaint: Option<Complaint>,
}

impl From<IoResult> for Refusal {
    fn from(result: IoResult) -> Self {
        Self { result, complaint: None }
    }
}

/// What the answer to a request means.
pub(crate) enum Judgement {
    Done(IoResult),
    /// The I/O needs another request for what is missing.
    Missing(DrivenFlight),
    Failed(Refusal),
}

/// The connections of a job by such a library.
pub(crate) trait DrivenLink {
    /// What an answer says.
    type Status;

    /// Why an I/O fails whose connection is lost.
    const GONE: &'static str;

    /// Why an I/O fails that has no answer for too long.
    const SILENT: &'static str;

    /// What a connection that is not made waits for, where it is known.
    const AWAITED: Option<&'static str> = None;

    /// Makes the connections, unless they are there.
    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError>;

    fn open_file(&mut self, _file: &EngineFile<'_>) -> Result<(), EngineError> {
        Ok(())
    }

    /// Closes a target; `asks`: tells the server. False: the server has not answered.
    fn close_file(&mut self, _file_index: u32, _asks: bool) -> bool {
        true
    }

    /// Removes a closed target. False: the server has not answered.
    fn remove_target(&mut self, _name: &Path) -> bool {
        true
    }

    /// Prepares the request for what is missing of an I/O; it is sent by the next push or turn.
    fn send(&mut self, slot: u32, flight: &DrivenFlight) -> Result<(), Refusal>;

    /// Sends what fits now.
    fn push(&mut self) -> LineState;

    /// Waits for an event of a connection for a time at most, and lets the library handle it.
    fn turn(&mut self, limit: Duration) -> LineState;

    /// The answer to a request, and its slot.
    fn take_answer(&mut self) -> Option<(u32, Self::Status)>;

    /// What an answer means.
    fn judge(&mut self, flight: &DrivenFlight, status: Self::Status) -> Judgement;

    /// A possible reason for the error of an I/O.
    fn hint(&self, _unit: &IoUnit, _errno: Errno) -> Option<&'static str> {
        None
    }

    fn server_steps(&self) -> ServerSteps;

    /// Ends the connections; `asks`: tells the other end.
    fn disconnect(&mut self, _asks: bool, _cancellation: Cancellation<'_>) {}

    /// The connections are not used any more.
    fn give_up(&mut self) {}
}

/// A job's connections, and its I/Os in flight.
pub(crate) struct DrivenEngine<L: DrivenLink> {
    link: L,
    /// I/Os in flight, by the slot of their unit.
    flights: Vec<Option<DrivenFlight>>,
    n_in_flight: u32,
    n_uncommitted: u32,
    /// Result of all I/Os, because a connection is lost, the server is gone, or the I/Os are given up.
    ended: Option<IoResult>,
    complaint: Option<Complaint>,
    silence: Silence,
    /// The server has not answered the closing of a file: it is not asked again.
    is_mute: bool,
}

impl<L: DrivenLink> DrivenEngine<L> {
    pub(crate) fn new(link: L, depth: usize, most_silence: Duration) -> Self {
        Self {
            link,
            flights: (0..depth).map(|_| None).collect(),
            n_in_flight: 0,
            n_uncommitted: 0,
            ended: None,
            complaint: None,
            silence: Silence::new(most_silence),
            is_mute: false,
        }
    }

    /// Sends the request for what is missing of an I/O.
    fn send(&mut self, slot: u32, flight: DrivenFlight) -> Result<(), IoResult> {
        match self.link.send(slot, &flight) {
            Ok(()) => {
                self.flights[slot as usize] = Some(flight);
                Ok(())
            }
            Err(refusal) => Err(self.refuse(refusal)),
        }
    }

    fn refuse(&mut self, refusal: Refusal) -> IoResult {
        self.complaint = refusal.complaint;
        refusal.result
    }

    /// Takes what the library has finished: the result of each unit that is done, up to the first that there is something to say about,
    /// because the loop takes that before the next one.
    fn take_done(&mut self, n_most: usize, completions: &mut Vec<Completion>) {
        while completions.len() < n_most && self.complaint.is_none() {
            let Some((slot, status)) = self.link.take_answer() else { return };
            let Some(flight) = self.flights.get_mut(slot as usize).and_then(Option::take) else { continue };
            self.silence.end();
            self.is_mute = false;
            let judgement = match self.ended {
                Some(result) => Judgement::Done(result),
                None => self.link.judge(&flight, status),
            };
            let result = match judgement {
                Judgement::Done(result) => result,
                Judgement::Failed(refusal) => self.refuse(refusal),
                Judgement::Missing(flight) => match self.send(slot, flight) {
                    Ok(()) => continue,
                    Err(result) => result,
                },
            };
            self.n_in_flight -= 1;
            push_in_room(completions, Completion { unit_index: slot, result });
        }
    }

    /// Ends all I/Os in flight.
    fn end_all(&mut self, result: IoResult, completions: &mut Vec<Completion>) {
        for (slot, flight) in self.flights.iter_mut().enumerate() {
            if flight.take().is_some() {
                push_in_room(completions, Completion { unit_index: slot as u32, result });
            }
        }
        self.n_in_flight = 0;
    }

    fn note(&mut self, state: LineState) {
        match state {
            LineState::Alive => {}
            LineState::Lost => drop(self.ended.get_or_insert(error_result(Errno::CONNRESET))),
            LineState::Ended => drop(self.ended.get_or_insert(IoResult::END_OF_DATA)),
        }
    }

    /// Takes between `min` and `max` results; waits for them up to `limit`.
    fn reap_within(&mut self, (min, max): (u32, u32), limit: Duration, completions: &mut Vec<Completion>) {
        let n_before = completions.len();
        let n_most = n_before.saturating_add(max as usize);
        let end = Instant::now() + limit;
        let mut is_first = true;
        self.complaint = None;
        loop {
            self.take_done(n_most, completions);
            if let Some(result) = self.ended {
                return self.end_all(result, completions);
            }
            let n_new = completions.len() - n_before;
            let is_enough = n_new >= min as usize;
            let left = end.saturating_duration_since(Instant::now());
            let is_full = completions.len() >= n_most;
            if self.complaint.is_some() || self.n_in_flight == 0 || is_full || (!is_first && is_enough) {
                return;
            }
            if !is_first && left.is_zero() {
                return self.note_wait(n_new, limit, completions);
            }
            is_first = false;
            let state = self.link.turn(if is_enough { Duration::ZERO } else { left });
            self.note(state);
        }
    }

    /// Notes that a wait has brought so few results. A server that is gone ends all I/Os.
    fn note_wait(&mut self, n_new: usize, waited: Duration, completions: &mut Vec<Completion>) {
        if n_new > 0 {
            return;
        }
        self.silence.add(waited);
        if self.silence.is_too_long() {
            let result = *self.ended.get_or_insert(error_result(Errno::TIMEDOUT));
            self.link.give_up();
            self.end_all(result, completions);
        }
    }

    fn is_there(&self) -> bool {
        self.ended.is_none() && !self.is_mute
    }
}

impl<L: DrivenLink> Engine for DrivenEngine<L> {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.link.open_file(file)
    }

    fn close_file(&mut self, file_index: u32) {
        let asks = self.is_there();
        self.is_mute |= !self.link.close_file(file_index, asks);
    }

    fn remove_target(&mut self, name: &Path) {
        if self.is_there() {
            self.is_mute |= !self.link.remove_target(name);
        }
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        self.complaint = None;
        if let Some(result) = self.ended {
            return Queued::Completed(result);
        }
        match self.send(unit_index, DrivenFlight { unit: *unit, n_moved: 0 }) {
            Ok(()) => {
                self.n_in_flight += 1;
                self.n_uncommitted += 1;
                Queued::Queued
            }
            Err(result) => Queued::Completed(result),
        }
    }

    fn commit(&mut self) -> io::Result<u32> {
        let state = self.link.push();
        self.note(state);
        Ok(std::mem::take(&mut self.n_uncommitted))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        match Errno::from_raw_os_error(errno) {
            Errno::CONNRESET => Some(L::GONE),
            Errno::TIMEDOUT if self.silence.is_too_long() => Some(L::SILENT),
            errno => self.link.hint(unit, errno),
        }
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.reap_within((min, max), Cancellation::LOOK, completions);
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.reap_within((1, max), time_left(clock, until_ns).min(Cancellation::LOOK), completions);
        Ok(())
    }

    fn server(&mut self) -> Option<&mut dyn Server> {
        Some(self)
    }
}

impl<L: DrivenLink> Server for DrivenEngine<L> {
    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        let connection = self.link.connect(cancellation)?;
        let awaited = L::AWAITED.filter(|_| connection == Connection::Awaited);
        self.complaint = awaited.map(|why| Complaint { step: "connect", line: None, why: Some(why.to_owned()) });
        Ok(connection)
    }

    fn disconnect(&mut self, cancellation: Cancellation<'_>) {
        let asks = self.is_there();
        self.link.disconnect(asks, cancellation);
    }

    fn give_up(&mut self) {
        self.ended.get_or_insert(IoResult::END_OF_DATA);
        self.link.give_up();
    }

    fn take_complaint(&mut self) -> Option<Complaint> {
        self.complaint.take()
    }

    fn server_steps(&self) -> Option<ServerSteps> {
        Some(self.link.server_steps())
    }
}

#[cfg(test)]
mod tests;
