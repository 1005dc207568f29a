//! The connections of a job, over which its requests are spread: a request goes out on the one with the fewest in
//! flight.
//!
//! Must not know: addresses, bytes. Start reading at [`Connections::reap`].

use super::protocol::NbdCommand;
use super::wire::Wire;
use crate::contract::{Completion, IoResult, IoUnit};
use crate::servers::remote::silence::Silence;
use ferrio_sys::poll;
use ferrio_sys::tcp_info::TcpCounts;
use std::time::{Duration, Instant};

/// Connections that a job may have, at most.
pub(super) const MOST: usize = 16;

const _: () = assert!(MOST <= poll::MOST_AT_ONCE);

pub(super) struct Connections {
    wires: Vec<Wire>,
    silence: Silence,
    /// The one whose replies are taken first, each in its turn.
    first: usize,
}

impl Connections {
    /// None yet, to a server that may be silent for so long.
    pub(super) fn new(most_silence: Duration) -> Self {
        Self { wires: Vec::new(), silence: Silence::new(most_silence), first: 0 }
    }

    pub(super) fn add(&mut self, wire: Wire) {
        self.wires.push(wire);
    }

    pub(super) fn len(&self) -> usize {
        self.wires.len()
    }

    pub(super) fn tcp_counts(&self) -> impl Iterator<Item = TcpCounts> {
        self.wires.iter().filter_map(Wire::tcp_counts)
    }

    /// Takes a request; the error is the result of the unit.
    pub(super) fn queue(&mut self, unit_index: u32, unit: &IoUnit, command: NbdCommand) -> Result<(), IoResult> {
        match self.wires.iter_mut().min_by_key(|wire| wire.n_in_flight()) {
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
            if left.is_zero() {
                return self.note_wait(completions.len() - n_before, limit, completions);
            }
            poll::wait_for_any(self.wires.iter().filter_map(Wire::wait), left);
        }
    }

    /// Notes that a wait has brought so few results. A server that is gone ends all I/Os.
    fn note_wait(&mut self, n_new: usize, waited: Duration, completions: &mut Vec<Completion>) {
        // Each of them is asked, as that is what the next wait counts from.
        let n_moved = self.wires.iter_mut().filter_map(|wire| wire.take_moved().then_some(())).count();
        if n_new > 0 || n_moved > 0 {
            return self.silence.end();
        }
        self.silence.add(waited);
        if self.silence.is_too_long() {
            self.wires.iter_mut().for_each(|wire| wire.end_silent(completions));
        }
    }

    /// True if the server was silent for too long.
    pub(super) fn are_silent(&self) -> bool {
        self.silence.is_too_long()
    }

    /// Gives up all I/Os in flight, and the connections.
    pub(super) fn give_up(&mut self) {
        self.wires.iter_mut().for_each(Wire::give_up);
    }
}
