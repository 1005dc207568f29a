//! Requests and replies over a connection, without a wait and without an allocation.
//!
//! Requests go out in the order in which they were queued, several in one call. While the socket takes no more, replies
//! are still received, so that neither end waits for the other for ever.
//! Must not know: addresses, options, other connections. Start reading at [`Wire::advance`].

use super::handshake::Agreed;
use super::input::Input;
use super::protocol::{self, NbdCommand, REQUEST_BYTES};
use super::reply::{self, Chunk, HEAD_BYTES, Head, ReplyForm};
use crate::contract::{Completion, IoResult, IoUnit, push_in_room};
use crate::files::control;
use crate::servers::remote::channel::Channel;
use crate::servers::remote::unanswered::Unanswered;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::tcp_info::TcpCounts;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

/// Requests that one call sends at most.
const N_AT_ONCE: usize = 32;

/// The way to the server and back.
pub(super) struct Wire {
    channel: Channel,
    /// Replies may come in chunks.
    is_structured: bool,
    /// The connection carries nothing more.
    is_over: bool,
    arena: Rc<RefCell<Arena>>,
    unanswered: Unanswered<Flight>,
    /// Slots whose requests are not sent completely, oldest first.
    outgoing: VecDeque<u32>,
    /// Bytes of the oldest of them that are sent.
    n_sent: usize,
    /// The channel holds bytes that the socket has not taken.
    is_unflushed: bool,
    input: Input,
    receiving: Receiving,
    /// Bytes were sent or received since this was asked last.
    has_moved: bool,
    /// Number of the last request; part of its cookie.
    serial: u32,
}

/// A request that has no reply yet.
struct Flight {
    unit: IoUnit,
    header: [u8; REQUEST_BYTES],
    cookie: u64,
    is_sent: bool,
    /// Bytes of a read that have come.
    n_received: usize,
    /// The first error of a reply whose last chunk has not come.
    errno: Option<Errno>,
}

/// What the next bytes from the server are.
#[derive(Debug, Clone, Copy)]
enum Receiving {
    /// The beginning of a reply.
    Head,
    /// Data of a read: the slot, the place of the next byte in its block, the bytes that are missing.
    Data { slot: u32, at: usize, n_missing: usize, is_last: bool },
    /// Bytes that are not looked at.
    Words { slot: u32, n_missing: usize, is_last: bool },
}

impl Flight {
    /// The result at the end of the reply. A read of which a part has not come is a fault of the server.
    fn result(&self) -> Result<IoResult, Errno> {
        if let Some(errno) = self.errno {
            return Ok(control::error_result(errno));
        }
        if self.unit.direction == Direction::Read && self.n_received != self.unit.length_bytes {
            return Err(Errno::PROTO);
        }
        Ok(IoResult::done(self.unit.length_bytes))
    }

    /// The place of a chunk in the block, if all of it belongs there.
    fn place(&self, offset_bytes: u64, n_bytes: u32) -> Result<(usize, usize), Errno> {
        let at = offset_bytes.checked_sub(self.unit.offset_bytes).and_then(|at| usize::try_from(at).ok());
        let is_read = self.unit.direction == Direction::Read;
        let place = at.zip(usize::try_from(n_bytes).ok()).filter(|(at, n_bytes)| {
            is_read && at.checked_add(*n_bytes).is_some_and(|end| end <= self.unit.length_bytes)
        });
        place.ok_or(Errno::PROTO)
    }

    fn payload_bytes(&self) -> usize {
        if self.unit.direction == Direction::Write { self.unit.length_bytes } else { 0 }
    }
}

impl Wire {
    /// A connection to a server with which all is agreed.
    pub(super) fn new(agreed: Agreed, iodepth: u32, arena: Rc<RefCell<Arena>>) -> Self {
        let depth = iodepth as usize;
        Self {
            channel: agreed.channel,
            is_structured: agreed.is_structured,
            is_over: false,
            arena,
            unanswered: Unanswered::new(depth),
            outgoing: VecDeque::with_capacity(depth),
            n_sent: 0,
            is_unflushed: false,
            input: Input::default(),
            receiving: Receiving::Head,
            has_moved: false,
            serial: 0,
        }
    }

    /// Requests without a reply.
    pub(super) fn n_in_flight(&self) -> u32 {
        self.unanswered.n_in_flight()
    }

    /// True if the connection takes no requests any more.
    pub(super) fn is_lost(&self) -> bool {
        self.unanswered.ended().is_some()
    }

    /// What the kernel counts of the connection, if it is one of TCP.
    pub(super) fn tcp_counts(&self) -> Option<TcpCounts> {
        TcpCounts::of(self.channel.as_fd())
    }

    /// What to wait for: the descriptor, and whether it has to be writable too. `None`: nothing will come.
    pub(super) fn wait(&self) -> Option<(BorrowedFd<'_>, bool)> {
        (self.n_in_flight() > 0 && !self.is_over).then(|| (self.channel.as_fd(), self.holds_output()))
    }

    fn holds_output(&self) -> bool {
        !self.outgoing.is_empty() || self.is_unflushed
    }

    /// Takes a request; the error is the result of the unit.
    pub(super) fn queue(&mut self, unit_index: u32, unit: &IoUnit, command: NbdCommand) -> Result<(), IoResult> {
        if let Some(result) = self.unanswered.ended() {
            return Err(result);
        }
        self.serial = self.serial.wrapping_add(1);
        let cookie = u64::from(self.serial) << 32 | u64::from(unit_index);
        // The protocol: a flush has neither offset nor length.
        let (offset_bytes, length_bytes) =
            if command == NbdCommand::Flush { (0, 0) } else { (unit.offset_bytes, unit.length_bytes as u32) };
        let header = protocol::request(command, cookie, offset_bytes, length_bytes);
        let flight = Flight { unit: *unit, header, cookie, is_sent: false, n_received: 0, errno: None };
        self.unanswered.begin(unit_index, flight);
        self.unanswered.note_queued();
        self.outgoing.push_back(unit_index);
        Ok(())
    }

    /// Sends what fits, and returns the number of requests that were taken: all.
    pub(super) fn commit(&mut self) -> u32 {
        let sent = self.send();
        self.note(sent);
        self.unanswered.commit()
    }

    /// Sends what fits and takes replies that have come, until there are `n_most` completions.
    pub(super) fn advance(&mut self, n_most: usize, completions: &mut Vec<Completion>) {
        let sent = self.send();
        self.note(sent);
        // All replies that came before the connection was lost are received, even if nothing more can be sent.
        let n_most = if self.unanswered.ended().is_some() { usize::MAX } else { n_most };
        let received = self.receive(n_most, completions);
        self.note(received);
        if let Some(result) = self.unanswered.ended() {
            self.end_all(result, completions);
        }
    }

    /// Gives up all I/Os in flight, and the connection.
    pub(super) fn give_up(&mut self) {
        self.unanswered.give_up();
        self.is_over = true;
    }

    /// True if bytes were sent or received since this was asked.
    pub(super) fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.has_moved)
    }

    /// Ends all I/Os, and the connection, because the server is silent: that is the result `gone`.
    pub(super) fn end_silent(&mut self, gone: IoResult, completions: &mut Vec<Completion>) {
        let result = self.unanswered.end(gone);
        self.is_over = true;
        self.end_all(result, completions);
    }

    /// After an error, the connection carries nothing more.
    fn note(&mut self, moved: Result<(), Errno>) {
        if let Err(errno) = moved {
            self.unanswered.end(control::error_result(errno));
        }
    }

    fn end_all(&mut self, result: IoResult, completions: &mut Vec<Completion>) {
        self.unanswered.hand_over(result, completions);
        self.outgoing.clear();
    }

    fn send(&mut self) -> Result<(), Errno> {
        if self.is_over {
            return Ok(());
        }
        while !self.outgoing.is_empty() {
            let arena = self.arena.borrow();
            let (mut parts, mut n_parts, mut n_skipped) = ([IoSlice::new(&[]); 2 * N_AT_ONCE], 0, self.n_sent);
            for flight in self.outgoing.iter().take(N_AT_ONCE).filter_map(|slot| self.unanswered.get(*slot)) {
                for part in [&flight.header[..], arena.slice(flight.unit.buffer_offset, flight.payload_bytes())] {
                    let n_of_part = n_skipped.min(part.len());
                    n_skipped -= n_of_part;
                    if n_of_part < part.len() {
                        parts[n_parts] = IoSlice::new(&part[n_of_part..]);
                        n_parts += 1;
                    }
                }
            }
            match self.channel.send_parts_now(&parts[..n_parts]) {
                Ok(n_bytes) => {
                    self.n_sent += n_bytes;
                    self.has_moved |= n_bytes > 0;
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                // A closed connection may still hold replies.
                Err(Errno::PIPE) => return Err(Errno::CONNRESET),
                Err(errno) => return Err(errno),
            }
            while let Some(flight) = self.outgoing.front().and_then(|slot| self.unanswered.get_mut(*slot)) {
                let n_bytes = REQUEST_BYTES + flight.payload_bytes();
                if self.n_sent < n_bytes {
                    break;
                }
                flight.is_sent = true;
                self.n_sent -= n_bytes;
                self.outgoing.pop_front();
            }
        }
        self.is_unflushed = !self.channel.flush_now()?;
        Ok(())
    }

    /// Takes replies that have come, until there are `n_most` completions.
    fn receive(&mut self, n_most: usize, completions: &mut Vec<Completion>) -> Result<(), Errno> {
        while completions.len() < n_most && self.n_in_flight() > 0 && !self.is_over {
            let ended = match self.receiving {
                Receiving::Head => self.receive_head()?,
                Receiving::Data { slot, at, n_missing, is_last } => self.receive_data(slot, at, n_missing, is_last)?,
                Receiving::Words { slot, n_missing, is_last } => self.receive_words(slot, n_missing, is_last)?,
            };
            self.has_moved |= !matches!(ended, WireProgress::Nothing);
            match ended {
                WireProgress::Nothing => return Ok(()),
                WireProgress::Part => {}
                WireProgress::Reply(slot) => {
                    let flight = self.unanswered.take(slot).ok_or(Errno::PROTO)?;
                    let outcome = flight.result();
                    let result = outcome.unwrap_or_else(control::error_result);
                    push_in_room(completions, Completion { unit_index: slot, result });
                    outcome?;
                }
            }
        }
        Ok(())
    }

    fn receive_head(&mut self) -> Result<WireProgress, Errno> {
        let Self { channel, is_structured, input, unanswered, arena, receiving, .. } = self;
        let Some(bytes) = input.peek(channel, HEAD_BYTES)? else { return Ok(WireProgress::Nothing) };
        let head = bytes.first_chunk().and_then(|bytes| Head::parse(*bytes)).ok_or(Errno::PROTO)?;
        let slot = head.cookie as u32;
        let flight = unanswered.get_mut(slot);
        let flight = flight.filter(|flight| flight.cookie == head.cookie && flight.is_sent).ok_or(Errno::PROTO)?;
        let length_bytes = flight.unit.length_bytes;
        let (next, is_last) = match head.kind {
            ReplyForm::Simple(errno) => {
                input.skip(HEAD_BYTES);
                flight.errno = errno;
                let has_data = errno.is_none() && flight.unit.direction == Direction::Read;
                let data = Receiving::Data { slot, at: 0, n_missing: length_bytes, is_last: true };
                (has_data.then_some(data), true)
            }
            ReplyForm::Chunk { .. } if !*is_structured => return Err(Errno::PROTO),
            ReplyForm::Chunk { is_last, code } => {
                let n_fixed = reply::fixed_bytes(code).ok_or(Errno::PROTO)?;
                let Some(bytes) = input.peek(channel, n_fixed)? else { return Ok(WireProgress::Nothing) };
                let chunk = Chunk::parse(code, &bytes[..n_fixed]).ok_or(Errno::PROTO)?;
                input.skip(n_fixed);
                let next = match chunk {
                    Chunk::Nothing => None,
                    Chunk::Data { offset_bytes, n_bytes } => {
                        let (at, n_missing) = flight.place(offset_bytes, n_bytes)?;
                        Some(Receiving::Data { slot, at, n_missing, is_last })
                    }
                    Chunk::Hole { offset_bytes, n_bytes } => {
                        let (at, n_bytes) = flight.place(offset_bytes, n_bytes)?;
                        arena.borrow_mut().slice_mut(flight.unit.buffer_offset + at, n_bytes).fill(0);
                        flight.n_received = flight.n_received.saturating_add(n_bytes);
                        None
                    }
                    Chunk::Failure { errno, n_bytes } => {
                        flight.errno.get_or_insert(errno);
                        Some(Receiving::Words { slot, n_missing: n_bytes as usize, is_last })
                    }
                };
                (next, is_last)
            }
        };
        Ok(match next {
            Some(next) => {
                *receiving = next;
                WireProgress::Part
            }
            None if is_last => WireProgress::Reply(slot),
            None => WireProgress::Part,
        })
    }

    fn receive_data(&mut self, slot: u32, at: usize, n_missing: usize, is_last: bool) -> Result<WireProgress, Errno> {
        let Some(flight) = self.unanswered.get_mut(slot) else { return Err(Errno::PROTO) };
        if n_missing > 0 {
            let mut arena = self.arena.borrow_mut();
            let buffer = arena.slice_mut(flight.unit.buffer_offset + at, n_missing);
            let Some(n_bytes) = self.input.move_to(&mut self.channel, buffer)? else {
                return Ok(WireProgress::Nothing);
            };
            flight.n_received = flight.n_received.saturating_add(n_bytes);
            if n_bytes < n_missing {
                let (at, n_missing) = (at + n_bytes, n_missing - n_bytes);
                self.receiving = Receiving::Data { slot, at, n_missing, is_last };
                return Ok(WireProgress::Part);
            }
        }
        Ok(self.end_chunk(slot, is_last))
    }

    fn receive_words(&mut self, slot: u32, n_missing: usize, is_last: bool) -> Result<WireProgress, Errno> {
        if n_missing > 0 {
            let Some(bytes) = self.input.peek(&mut self.channel, 1)? else { return Ok(WireProgress::Nothing) };
            let n_bytes = bytes.len().min(n_missing);
            self.input.skip(n_bytes);
            if n_bytes < n_missing {
                self.receiving = Receiving::Words { slot, n_missing: n_missing - n_bytes, is_last };
                return Ok(WireProgress::Part);
            }
        }
        Ok(self.end_chunk(slot, is_last))
    }

    fn end_chunk(&mut self, slot: u32, is_last: bool) -> WireProgress {
        self.receiving = Receiving::Head;
        if is_last { WireProgress::Reply(slot) } else { WireProgress::Part }
    }
}

/// What a look at the connection has brought.
enum WireProgress {
    /// No byte has come.
    Nothing,
    /// Bytes have come.
    Part,
    /// The reply to the request of this slot is complete.
    Reply(u32),
}

impl Drop for Wire {
    fn drop(&mut self) {
        if !self.is_over && self.unanswered.ended().is_none() && self.n_in_flight() == 0 {
            protocol::say_goodbye(&mut self.channel);
        }
    }
}
