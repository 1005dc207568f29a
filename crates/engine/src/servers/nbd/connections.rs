//! The connections of a job, over which its requests are spread: a request goes out on the one with the fewest in
//! flight.
//!
//! Must not know: addresses, bytes. Start reading at [`Connections::reap`].

use super::protocol::NbdCommand;
use super::wire::Wire;
use crate::contract::{Cancellation, Completion, IoResult, IoUnit};
use crate::servers::remote::silence::Silence;
use ferrio_sys::poll;
use ferrio_sys::tcp_info::TcpCounts;
use std::time::{Duration, Instant};

/// Connections that a job may have, at most.
pub(super) const MOST: usize = 16;

const _: () = assert!(MOST <= poll::MOST_AT_ONCE);

pub(super) struct Connections {
    wires: Vec<Wire>,
    /// How long each of them has answered nothing.
    silences: Vec<Silence>,
    most_silence: Duration,
    /// Since when the connections are watched, before they are judged again.
    watched_since: Option<Instant>,
    /// The one whose replies are taken first, each in its turn.
    first: usize,
}

impl Connections {
    /// None yet, to a server that may be silent for so long.
    pub(super) fn new(most_silence: Duration) -> Self {
        Self { wires: Vec::new(), silences: Vec::new(), most_silence, watched_since: None, first: 0 }
    }

    pub(super) fn add(&mut self, wire: Wire) {
        self.wires.push(wire);
        self.silences.push(Silence::new(self.most_silence));
    }

    pub(super) fn len(&self) -> usize {
        self.wires.len()
    }

    pub(super) fn tcp_counts(&self) -> impl Iterator<Item = TcpCounts> {
        self.wires.iter().filter_map(Wire::tcp_counts)
    }

    /// Takes a request; the error is the result of the unit. A lost connection gets none as long as there is another.
    pub(super) fn queue(&mut self, unit_index: u32, unit: &IoUnit, command: NbdCommand) -> Result<(), IoResult> {
        match self.wires.iter_mut().min_by_key(|wire| (wire.is_lost(), wire.n_in_flight())) {
            Some(wire) => wire.queue(unit_index, unit, command),
            None => Err(IoResult::END_OF_DATA),
        }
    }

    /// Sends what fits, and returns the number of requests that were taken: all.
    pub(super) fn commit(&mut self) -> u32 {
        self.wires.iter_mut().map(Wire::commit).sum()
    }

    /// Takes between `min` and `max` results; waits for them up to `limit`.
    pub(super) fn reap(&mut self, (min, max): (u32, u32), limit: Duration, completions: &mut Vec<Completion>) {
        let n_before = completions.len();
        let n_most = n_before.saturating_add(max as usize);
        let mut end = None;
        loop {
            self.first = if self.first + 1 < self.wires.len() { self.first + 1 } else { 0 };
            let (before, from) = self.wires.split_at_mut(self.first);
            for wire in from.iter_mut().chain(before) {
                wire.advance(n_most, completions);
            }
            let is_enough = completions.len() - n_before >= min as usize;
            if is_enough || self.wires.iter().all(|wire| wire.n_in_flight() == 0) {
                return;
            }
            let now = Instant::now();
            let left = end.get_or_insert(now + limit).saturating_duration_since(now);
            if self.judge(now, left.is_zero().then_some(limit), completions) || left.is_zero() {
                return;
            }
            poll::wait_for_any(self.wires.iter().filter_map(Wire::wait), left);
        }
    }

    /// Notes how long each connection has answered nothing: at the end of a wait, of which `waited` is the length, and now and then
    /// beside connections that answer. The I/Os of a connection that is gone end. True: there are such.
    pub(super) fn judge(&mut self, now: Instant, waited: Option<Duration>, completions: &mut Vec<Completion>) -> bool {
        let since = *self.watched_since.get_or_insert(now);
        let watched = now.saturating_duration_since(since);
        if waited.is_none() && watched < Cancellation::LOOK {
            return false;
        }
        self.watched_since = Some(now);
        // A job that was stopped, or is late, blames no server for it.
        let silent = watched.min(waited.unwrap_or(Cancellation::LOOK));
        let n_before = completions.len();
        for (wire, silence) in self.wires.iter_mut().zip(&mut self.silences).filter(|(wire, _)| !wire.is_lost()) {
            // Each of them is asked, as that is what the next judgement counts from.
            if wire.take_moved() || wire.n_in_flight() == 0 {
                silence.end();
                continue;
            }
            silence.add(silent);
            if silence.is_too_long() {
                wire.end_silent(completions);
            }
        }
        completions.len() > n_before
    }

    /// True if the server was silent for too long on one of them.
    pub(super) fn are_silent(&self) -> bool {
        self.silences.iter().any(Silence::is_too_long)
    }

    /// Gives up all I/Os in flight, and the connections.
    pub(super) fn give_up(&mut self) {
        self.wires.iter_mut().for_each(Wire::give_up);
    }
}
