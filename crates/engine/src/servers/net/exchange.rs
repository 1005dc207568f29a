//! Moves data between a buffer and the other end of a connection.
//!
//! Must not know: addresses, units. Start reading at [`Exchange::receive`].

use super::link::{CLOSING, Link};
use crate::contract::{IoResult, Outcome};
use crate::files::control;
use crate::files::splice::PIPE_BYTES;
use ferrio_sys::Errno;
use ferrio_sys::pipe::Pipe;

/// How data gets between buffer and socket.
#[derive(Debug, Default)]
pub(super) enum Way {
    /// `send` and `recv`.
    #[default]
    Call,
    /// `splice` through a pipe.
    Pipe(Pipe),
}

/// State of the I/O that is under way; with `pingpong` an I/O has two parts, each with its own count.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    way: Way,
    /// The connection carries a stream of bytes, not datagrams.
    is_stream: bool,
    /// The other end sends a closing word before it closes.
    has_closing: bool,
    /// Data is copied into the pipe, because the buffer may change while the pipe still holds the data.
    is_copied: bool,
    n_first: usize,
    n_second: usize,
    /// The bytes received last ended like a closing word.
    is_closing: bool,
    /// Bytes of a write that are in the pipe and wait for the socket.
    n_in_pipe: usize,
}

/// Result of a call to the socket.
type Moved = Result<usize, Errno>;

impl Exchange {
    pub(super) fn new(way: Way, is_stream: bool, has_closing: bool, is_copied: bool) -> Self {
        Self { way, is_stream, has_closing, is_copied, ..Self::default() }
    }

    /// The I/O under way is given up.
    pub(super) fn forget(&mut self) {
        (self.n_first, self.n_second, self.is_closing) = (0, 0, false);
        if std::mem::take(&mut self.n_in_pipe) > 0 {
            self.empty_pipe();
        }
    }

    /// Drops the pipe, and with it the bytes left in it.
    fn empty_pipe(&mut self) {
        if let Way::Pipe(pipe) = &mut self.way
            && let Ok(empty) = Pipe::new()
        {
            *pipe = empty;
        }
    }

    /// Receives up to a block.
    pub(super) fn receive(&mut self, link: &mut Link, buffer: &mut [u8]) -> IoResult {
        let received = self.receive_some(link, buffer);
        match received {
            Ok(0) if self.is_stream => self.other_end_is_closed(),
            Ok(n_bytes) if buffer[..n_bytes] == CLOSING => IoResult::END_OF_DATA,
            // An empty datagram carries nothing.
            Ok(0) => IoResult::NOT_YET,
            Ok(n_bytes) => {
                self.is_closing = buffer[..n_bytes].ends_with(&CLOSING);
                IoResult::done(n_bytes)
            }
            Err(errno) => not_moved(errno),
        }
    }

    /// The connection is closed. That is a proper end if the closing word came, or if the protocol has no closing word.
    fn other_end_is_closed(&self) -> IoResult {
        if self.is_closing || !self.has_closing {
            IoResult::END_OF_DATA
        } else {
            control::error_result(Errno::CONNRESET)
        }
    }

    fn receive_some(&mut self, link: &mut Link, buffer: &mut [u8]) -> Moved {
        if !self.is_stream {
            let (n_bytes, sender) = link.socket()?.receive_from(buffer)?;
            if !link.takes(sender) {
                return Err(Errno::AGAIN);
            }
            return Ok(n_bytes);
        }
        let socket = link.socket()?;
        let Way::Pipe(pipe) = &self.way else { return socket.receive(buffer) };
        let n_bytes = pipe.fill_from(socket, None, buffer.len().min(PIPE_BYTES), false)?;
        let mut n_drained = 0;
        while n_drained < n_bytes {
            match pipe.drain_into(&mut buffer[n_drained..n_bytes]) {
                Ok(n) if n > 0 => n_drained += n,
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => {
                    self.empty_pipe();
                    return Err(errno);
                }
            }
        }
        Ok(n_bytes)
    }

    /// Sends up to a block.
    pub(super) fn send(&mut self, link: &Link, buffer: &[u8], has_more: bool) -> IoResult {
        match self.send_some(link, buffer, has_more) {
            Ok(n_bytes) => IoResult::done(n_bytes),
            Err(errno) => not_moved(errno),
        }
    }

    fn send_some(&mut self, link: &Link, buffer: &[u8], has_more: bool) -> Moved {
        let socket = link.socket()?;
        if let (false, Some(other)) = (self.is_stream, &link.other) {
            return socket.send_to(buffer, other);
        }
        let Way::Pipe(pipe) = &self.way else { return socket.send(buffer, has_more) };
        if self.n_in_pipe == 0 {
            let part = &buffer[..buffer.len().min(PIPE_BYTES)];
            self.n_in_pipe = if self.is_copied { pipe.fill_with_copy(part)? } else { pipe.fill_with(part)? };
        }
        let moved = pipe.drain_to(socket, None, self.n_in_pipe, false)?;
        self.n_in_pipe -= moved;
        Ok(moved)
    }

    /// Receives up to a block and sends it back.
    pub(super) fn receive_and_return(&mut self, link: &mut Link, buffer: &mut [u8]) -> IoResult {
        if self.n_first == 0 {
            let received = self.receive(link, buffer);
            let Some(n_bytes) = moved(received) else { return received };
            self.n_first = n_bytes;
        }
        while self.n_second < self.n_first {
            let sent = self.send(link, &buffer[self.n_second..self.n_first], false);
            let Some(n_bytes) = moved(sent) else { return self.interrupted_by(sent) };
            self.n_second += n_bytes;
        }
        let n_bytes = self.n_first;
        self.ended_with(IoResult::done(n_bytes))
    }

    /// Sends a block and waits until as much has come back.
    pub(super) fn send_and_await(&mut self, link: &mut Link, buffer: &mut [u8]) -> IoResult {
        while self.n_first < buffer.len() {
            let sent = self.send(link, &buffer[self.n_first..], false);
            let Some(n_bytes) = moved(sent) else { return self.interrupted_by(sent) };
            self.n_first += n_bytes;
        }
        while self.n_second < buffer.len() {
            let received = self.receive(link, &mut buffer[self.n_second..]);
            let Some(n_bytes) = moved(received) else { return self.interrupted_by(received) };
            self.n_second += n_bytes;
        }
        self.ended_with(IoResult::done(buffer.len()))
    }

    /// The I/O goes on later, or has ended.
    fn interrupted_by(&mut self, result: IoResult) -> IoResult {
        if result == IoResult::NOT_YET { result } else { self.ended_with(result) }
    }

    fn ended_with(&mut self, result: IoResult) -> IoResult {
        (self.n_first, self.n_second) = (0, 0);
        result
    }
}

/// The bytes that a call has moved, if any.
fn moved(result: IoResult) -> Option<usize> {
    match result.outcome() {
        Outcome::Done(n_bytes @ 1..) => Some(n_bytes as usize),
        _ => None,
    }
}

/// A wait that timed out is no error: the loop tries again.
fn not_moved(errno: Errno) -> IoResult {
    if matches!(errno, Errno::AGAIN | Errno::INTR) { IoResult::NOT_YET } else { control::error_result(errno) }
}
