//! Requests and replies over the connection of a job, without a wait but in [`Wire::reap`], and without an allocation.
//!
//! Requests go out in the order in which they were queued, several in one call. While the socket takes no more, replies
//! are still received, so that neither end waits for the other for ever.
//! Must not know: addresses, options. Start reading at [`Wire::reap`].

use super::protocol::{self, NbdCommand, REPLY_BYTES, REQUEST_BYTES};
use crate::contract::{Completion, IoResult, IoUnit, push_in_room};
use crate::control;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::poll;
use ferrio_sys::socket::Socket;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Requests that one call sends at most.
const N_AT_ONCE: usize = 32;

/// Bytes that are received at once, unless data goes to its place directly. Data shorter than that is copied, which costs
/// less than a call of its own.
const INPUT_BYTES: usize = 16 << 10;

/// The way to the server and back.
pub(super) struct Wire {
    socket: Option<Socket>,
    arena: Rc<RefCell<Arena>>,
    /// I/Os in flight, by the slot of their unit.
    flights: Vec<Option<Flight>>,
    n_in_flight: u32,
    n_uncommitted: u32,
    /// Slots whose requests are not sent completely, oldest first.
    outgoing: VecDeque<u32>,
    /// Bytes of the oldest of them that are sent.
    n_sent: usize,
    input: Input,
    /// The slot whose data is being received, and how much of it has come.
    receiving: Option<(u32, usize)>,
    /// Number of the last request; part of its cookie.
    serial: u32,
    /// Result of all I/Os, because the connection is lost or the I/Os are given up.
    ended: Option<IoResult>,
}

/// A request that has no reply yet.
struct Flight {
    unit: IoUnit,
    header: [u8; REQUEST_BYTES],
    cookie: u64,
    is_sent: bool,
}

impl Flight {
    fn payload_bytes(&self) -> usize {
        if self.unit.direction == Direction::Write { self.unit.length_bytes } else { 0 }
    }
}

impl Wire {
    pub(super) fn new(iodepth: u32, arena: Rc<RefCell<Arena>>) -> Self {
        let depth = iodepth as usize;
        Self {
            socket: None,
            arena,
            flights: (0..depth).map(|_| None).collect(),
            n_in_flight: 0,
            n_uncommitted: 0,
            outgoing: VecDeque::with_capacity(depth),
            n_sent: 0,
            input: Input { buffer: vec![0; INPUT_BYTES], start: 0, end: 0 },
            receiving: None,
            serial: 0,
            ended: None,
        }
    }

    pub(super) fn connect(&mut self, socket: Socket) {
        self.socket = Some(socket);
    }

    /// Takes a request; the error is the result of the unit.
    pub(super) fn queue(&mut self, unit_index: u32, unit: &IoUnit, command: NbdCommand) -> Result<(), IoResult> {
        if let Some(result) = self.ended {
            return Err(result);
        }
        self.serial = self.serial.wrapping_add(1);
        let cookie = u64::from(self.serial) << 32 | u64::from(unit_index);
        // The protocol: a flush has neither offset nor length.
        let (offset_bytes, length_bytes) =
            if command == NbdCommand::Flush { (0, 0) } else { (unit.offset_bytes, unit.length_bytes as u32) };
        let header = protocol::request(command, cookie, offset_bytes, length_bytes);
        self.flights[unit_index as usize] = Some(Flight { unit: *unit, header, cookie, is_sent: false });
        self.outgoing.push_back(unit_index);
        self.n_in_flight += 1;
        self.n_uncommitted += 1;
        Ok(())
    }

    /// Sends what fits, and returns the number of requests that were taken: all.
    pub(super) fn commit(&mut self) -> u32 {
        let sent = self.send();
        self.note(sent);
        std::mem::take(&mut self.n_uncommitted)
    }

    /// Takes between `min` and `max` results; waits for them up to `limit`.
    pub(super) fn reap(&mut self, (min, max): (u32, u32), limit: Duration, completions: &mut Vec<Completion>) {
        let n_before = completions.len();
        let mut end = None;
        loop {
            let sent = self.send();
            self.note(sent);
            // All replies that came before the connection was lost are received, even if nothing more can be sent.
            let n_most = if self.ended.is_some() { usize::MAX } else { n_before.saturating_add(max as usize) };
            let received = self.receive(n_most, completions);
            self.note(received);
            if let Some(result) = self.ended {
                self.end_all(result, completions);
            }
            let is_enough = completions.len() - n_before >= min as usize || self.n_in_flight == 0;
            let Some(socket) = self.socket.as_ref().filter(|_| !is_enough) else { return };
            let now = Instant::now();
            let left = end.get_or_insert(now + limit).saturating_duration_since(now);
            if left.is_zero() {
                return;
            }
            poll::wait_for(socket.as_fd(), !self.outgoing.is_empty(), left);
        }
    }

    /// Gives up all I/Os in flight, and the connection.
    pub(super) fn give_up(&mut self) {
        self.ended.get_or_insert(IoResult::END_OF_DATA);
        self.socket = None;
    }

    /// After an error, the connection carries nothing more.
    fn note(&mut self, moved: Result<(), Errno>) {
        if let Err(errno) = moved {
            self.ended.get_or_insert(control::error_result(errno));
        }
    }

    fn end_all(&mut self, result: IoResult, completions: &mut Vec<Completion>) {
        for (unit_index, flight) in self.flights.iter_mut().enumerate() {
            if flight.take().is_some() {
                push_in_room(completions, Completion { unit_index: unit_index as u32, result });
            }
        }
        self.n_in_flight = 0;
        self.outgoing.clear();
    }

    fn send(&mut self) -> Result<(), Errno> {
        let Some(socket) = &self.socket else { return Ok(()) };
        while !self.outgoing.is_empty() {
            let arena = self.arena.borrow();
            let (mut parts, mut n_parts, mut n_skipped) = ([IoSlice::new(&[]); 2 * N_AT_ONCE], 0, self.n_sent);
            for flight in self.outgoing.iter().take(N_AT_ONCE).filter_map(|slot| self.flights[*slot as usize].as_ref())
            {
                for part in [&flight.header[..], arena.slice(flight.unit.buffer_offset, flight.payload_bytes())] {
                    let n_of_part = n_skipped.min(part.len());
                    n_skipped -= n_of_part;
                    if n_of_part < part.len() {
                        parts[n_parts] = IoSlice::new(&part[n_of_part..]);
                        n_parts += 1;
                    }
                }
            }
            match socket.send_parts_now(&parts[..n_parts]) {
                Ok(n_bytes) => self.n_sent += n_bytes,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                // A closed connection may still hold replies.
                Err(Errno::PIPE) => return Err(Errno::CONNRESET),
                Err(errno) => return Err(errno),
            }
            while let Some(flight) = self.outgoing.front().and_then(|slot| self.flights[*slot as usize].as_mut()) {
                let n_bytes = REQUEST_BYTES + flight.payload_bytes();
                if self.n_sent < n_bytes {
                    break;
                }
                flight.is_sent = true;
                self.n_sent -= n_bytes;
                self.outgoing.pop_front();
            }
        }
        Ok(())
    }

    /// Takes replies that have come, until there are `n_most` completions.
    fn receive(&mut self, n_most: usize, completions: &mut Vec<Completion>) -> Result<(), Errno> {
        let Self { socket: Some(socket), arena, flights, input, receiving, n_in_flight, .. } = self else {
            return Ok(());
        };
        while completions.len() < n_most && *n_in_flight > 0 {
            let (unit_index, result) = if let Some((unit_index, n_received)) = receiving {
                let Some(flight) = &flights[*unit_index as usize] else { return Err(Errno::PROTO) };
                let n_missing = flight.unit.length_bytes - *n_received;
                let mut arena = arena.borrow_mut();
                let buffer = arena.slice_mut(flight.unit.buffer_offset + *n_received, n_missing);
                let Some(n_bytes) = input.move_to(socket, buffer)? else { return Ok(()) };
                *n_received += n_bytes;
                if n_bytes < n_missing {
                    continue;
                }
                (*unit_index, IoResult::done(flight.unit.length_bytes))
            } else {
                let Some(bytes) = input.header(socket)? else { return Ok(()) };
                let Some((error, cookie)) = protocol::reply(bytes) else { return Err(Errno::PROTO) };
                let unit_index = cookie as u32;
                let flight = flights.get(unit_index as usize).and_then(Option::as_ref);
                let flight = flight.filter(|flight| flight.cookie == cookie && flight.is_sent).ok_or(Errno::PROTO)?;
                match error {
                    Some(errno) => (unit_index, control::error_result(errno)),
                    None if flight.unit.direction == Direction::Read => {
                        *receiving = Some((unit_index, 0));
                        continue;
                    }
                    None => (unit_index, IoResult::done(flight.unit.length_bytes)),
                }
            };
            *receiving = None;
            flights[unit_index as usize] = None;
            *n_in_flight -= 1;
            push_in_room(completions, Completion { unit_index, result });
        }
        Ok(())
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let (Some(socket), None, 0) = (&self.socket, self.ended, self.n_in_flight) {
            protocol::say_goodbye(socket);
        }
    }
}

/// Bytes that were received and not used yet.
struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    /// Receives what has come; false: nothing has.
    fn fill(&mut self, socket: &Socket) -> Result<bool, Errno> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let n_bytes = now(socket, &mut self.buffer[self.end..])?;
        self.end += n_bytes.unwrap_or(0);
        Ok(n_bytes.is_some())
    }

    /// The header of the next reply, once all of it has come.
    fn header(&mut self, socket: &Socket) -> Result<Option<[u8; REPLY_BYTES]>, Errno> {
        loop {
            if let Some(bytes) = self.buffer[self.start..self.end].first_chunk() {
                self.start += REPLY_BYTES;
                return Ok(Some(*bytes));
            }
            if !self.fill(socket)? {
                return Ok(None);
            }
        }
    }

    /// Moves data to its place, at most as much as fits; returns the number of bytes, `None`: nothing has come.
    fn move_to(&mut self, socket: &Socket, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
        if self.start == self.end {
            if buffer.len() >= INPUT_BYTES {
                return now(socket, buffer);
            }
            if !self.fill(socket)? {
                return Ok(None);
            }
        }
        let n_bytes = buffer.len().min(self.end - self.start);
        buffer[..n_bytes].copy_from_slice(&self.buffer[self.start..self.start + n_bytes]);
        self.start += n_bytes;
        Ok(Some(n_bytes))
    }
}

/// Receives what has come; `None`: nothing has.
fn now(socket: &Socket, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
    match socket.receive_now(buffer) {
        Ok(0) => Err(Errno::CONNRESET),
        Ok(n_bytes) => Ok(Some(n_bytes)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(errno) => Err(errno),
    }
}
