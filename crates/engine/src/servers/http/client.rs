//! One request and its answer, over a connection that is kept for the next one.
//!
//! No call waits for longer than it is told, however little the server sends. Must not know: what a request asks for, the
//! meaning of a status. Start reading at [`HttpClient::go_on`].

use super::answer::{BodyUse, HttpAnswer, LARGEST_HEAD_BYTES};
use super::fault::HttpFault;
use super::line::{HttpDoor, HttpLine, HttpReach, ns};
use crate::contract::Cancellation;
use crate::servers::remote::lookup::look_up;
use ferrio_stats::{LatencyStat, ServerSteps};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Where a request has got to.
enum Stage {
    Idle,
    Reaching(HttpReach),
    /// Bytes that are sent.
    Sending(usize),
    Receiving,
}

/// Bytes that were received and not used yet: those of the buffer from `n_used` to `n_filled`.
struct HttpInput {
    buffer: Vec<u8>,
    n_used: usize,
    n_filled: usize,
}

/// A connection to a server, and the request that goes over it.
pub(super) struct HttpClient {
    door: HttpDoor,
    addresses: Vec<SocketAddr>,
    line: Option<HttpLine>,
    stage: Stage,
    /// Request line and headers.
    head: Vec<u8>,
    /// The block is the body of the request.
    sends_block: bool,
    pub(super) answer: HttpAnswer,
    input: HttpInput,
    /// The request goes over a connection that was used before.
    is_reused: bool,
    /// First byte sent; first byte received.
    sent_at: Instant,
    begun_at: Option<Instant>,
    /// The last connection was lost.
    is_lost: bool,
    /// Something was sent or received.
    pub(super) has_moved: bool,
    /// Bytes that were sent or received, over all connections.
    pub(super) moved_bytes: u64,
    pub(super) steps: ServerSteps,
}

impl HttpClient {
    pub(super) fn new(door: HttpDoor) -> Self {
        Self {
            door,
            addresses: Vec::new(),
            line: None,
            stage: Stage::Idle,
            head: Vec::with_capacity(2 << 10),
            sends_block: false,
            answer: HttpAnswer::default(),
            input: HttpInput { buffer: vec![0; LARGEST_HEAD_BYTES], n_used: 0, n_filled: 0 },
            is_reused: false,
            sent_at: Instant::now(),
            begun_at: None,
            is_lost: false,
            has_moved: false,
            moved_bytes: 0,
            steps: ServerSteps {
                first_byte: LatencyStat::new(true),
                body: LatencyStat::new(true),
                ..ServerSteps::default()
            },
        }
    }

    /// Makes the connection; false: the call was cancelled.
    pub(super) fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<bool, HttpFault> {
        if self.addresses.is_empty() {
            match look_up(&self.door.place.name, self.door.place.port, cancellation)? {
                Some(addresses) => self.addresses = addresses,
                None => return Ok(false),
            }
        }
        let mut reach = HttpReach::new(&self.addresses);
        while self.line.is_none() {
            if cancellation.is_over() {
                return Ok(false);
            }
            self.line = reach.step(&self.door, &mut self.steps)?;
        }
        // It may be idle for longer than the server likes before its first request.
        self.line.iter_mut().for_each(|line| line.is_used = true);
        Ok(true)
    }

    pub(super) fn tls_version(&self) -> Option<String> {
        self.line.as_ref().and_then(HttpLine::tls_version)
    }

    /// True if the name of the server was found.
    pub(super) fn has_addresses(&self) -> bool {
        !self.addresses.is_empty()
    }

    /// Begins a request, whose head `write` appends to a list. With `sends_block`, the block is its body.
    pub(super) fn begin(&mut self, sends_block: bool, body_use: BodyUse, write: impl FnOnce(&mut Vec<u8>)) {
        self.head.clear();
        write(&mut self.head);
        self.sends_block = sends_block;
        self.answer.clear(body_use);
        self.begun_at = None;
        (self.input.n_used, self.input.n_filled) = (0, 0);
        self.is_reused = self.line.as_ref().is_some_and(|line| line.is_used);
        self.sent_at = Instant::now();
        self.stage = if self.line.is_some() { Stage::Sending(0) } else { self.reach() };
    }

    /// True if a request failed before anything of its answer came, over a connection that was used before: the server has
    /// closed the connection while it was idle, and has not seen the request.
    pub(super) fn was_stale(&self) -> bool {
        self.is_reused && !self.answer.is_begun
    }

    /// Gives up the request and the connection.
    pub(super) fn drop_line(&mut self) {
        self.is_lost |= self.line.is_some();
        self.close_line();
        self.stage = Stage::Idle;
    }

    fn close_line(&mut self) {
        if let Some(counts) = self.line.take().and_then(|line| line.tcp_counts()) {
            self.steps.network.add(counts);
        }
    }

    /// The steps so far, with what the kernel counts of the connection.
    pub(super) fn server_steps(&self) -> ServerSteps {
        let mut steps = self.steps.clone();
        if let Some(counts) = self.line.as_ref().and_then(HttpLine::tcp_counts) {
            steps.network.add(counts);
        }
        steps
    }

    fn reach(&mut self) -> Stage {
        self.steps.n_reconnects += u64::from(std::mem::take(&mut self.is_lost));
        Stage::Reaching(HttpReach::new(&self.addresses))
    }

    /// Goes on with the request until its answer is there, or until `end`: `None`. `block` is its body, or takes its data.
    pub(super) fn go_on(&mut self, block: &mut [u8], end: Instant) -> Option<Result<(), HttpFault>> {
        loop {
            let moved = self.advance(block);
            if let Err(fault) = moved {
                self.drop_line();
                return Some(Err(fault));
            }
            if self.answer.is_whole() {
                self.end();
                return Some(Ok(()));
            }
            self.has_moved |= moved == Ok(true);
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            if moved == Ok(false) {
                self.wait(left.min(Cancellation::LOOK));
            }
        }
    }

    /// Waits until the connection can go on.
    pub(super) fn wait(&self, limit: Duration) {
        if let Some(line) = &self.line {
            line.wait(matches!(self.stage, Stage::Sending(_)), limit);
        }
    }

    fn end(&mut self) {
        if let Some(begun_at) = self.begun_at {
            self.steps.body.record(ns(begun_at.elapsed()));
        }
        // An answer that comes before all of the request was sent ends the connection, and so do bytes behind an answer.
        let is_clean = matches!(self.stage, Stage::Receiving) && self.input.n_used == self.input.n_filled;
        self.stage = Stage::Idle;
        match &mut self.line {
            Some(line) if is_clean && self.answer.keeps_alive => line.is_used = true,
            _ => self.close_line(),
        }
    }

    /// Does what can be done now; false: nothing can.
    fn advance(&mut self, block: &mut [u8]) -> Result<bool, HttpFault> {
        match &mut self.stage {
            Stage::Idle => Err(HttpFault::NoRequest),
            Stage::Reaching(reach) => {
                let reached = reach.step(&self.door, &mut self.steps);
                if let Some(line) = reached? {
                    self.line = Some(line);
                    self.sent_at = Instant::now();
                    self.stage = Stage::Sending(0);
                }
                Ok(true)
            }
            Stage::Sending(_) => {
                let has_sent = self.send(block)?;
                // A server may answer before it has read all, and then close the connection.
                Ok(has_sent || self.receive(block)?)
            }
            Stage::Receiving => self.receive(block),
        }
    }

    fn send(&mut self, block: &[u8]) -> Result<bool, HttpFault> {
        let (Some(line), Stage::Sending(n_sent)) = (&mut self.line, &mut self.stage) else { return Ok(false) };
        let body = if self.sends_block { block } else { &[] };
        let n_all = self.head.len() + body.len();
        let from_head = (*n_sent).min(self.head.len());
        match line.send([&self.head[from_head..], &body[*n_sent - from_head..]]) {
            Ok(0) => Ok(false),
            Ok(n_bytes) => {
                *n_sent += n_bytes;
                self.moved_bytes += n_bytes as u64;
                if *n_sent >= n_all {
                    self.stage = Stage::Receiving;
                }
                Ok(true)
            }
            // A closed connection may still hold the answer that says why.
            Err(fault) => {
                while self.receive(&mut []).is_ok_and(|has_moved| has_moved) && !self.answer.is_whole() {}
                if self.answer.is_whole() { Ok(true) } else { Err(fault.into()) }
            }
        }
    }

    fn receive(&mut self, block: &mut [u8]) -> Result<bool, HttpFault> {
        let Some(line) = &mut self.line else { return Ok(false) };
        let data = self.answer.next_data().filter(|_| self.input.n_used == self.input.n_filled && !self.sends_block);
        let place = data.and_then(|(start, length)| block.get_mut(start..start.saturating_add(length)));
        let is_in_place = place.is_some();
        let received = if let Some(place) = place {
            line.receive(place)
        } else {
            self.input.buffer.copy_within(self.input.n_used..self.input.n_filled, 0);
            (self.input.n_used, self.input.n_filled) = (0, self.input.n_filled - self.input.n_used);
            line.receive(&mut self.input.buffer[self.input.n_filled..])
        };
        let n_bytes = match received {
            Ok(Some(0)) => {
                self.answer.close()?;
                return Ok(true);
            }
            Ok(Some(n_bytes)) => n_bytes,
            Ok(None) => return Ok(false),
            Err(fault) => return Err(fault.into()),
        };
        self.moved_bytes += n_bytes as u64;
        if self.begun_at.is_none() {
            self.begun_at = Some(Instant::now());
            self.steps.first_byte.record(ns(self.sent_at.elapsed()));
        }
        if is_in_place {
            self.answer.has_received(n_bytes);
            return Ok(true);
        }
        self.input.n_filled += n_bytes;
        // The block of a request that is being sent takes no data.
        let room = if self.sends_block { &mut [] } else { block };
        let taken = self.answer.take(&self.input.buffer[self.input.n_used..self.input.n_filled], room);
        self.input.n_used += taken?;
        Ok(true)
    }
}

/// Longest time of one call that goes on with a request.
pub(super) const SLICE: Duration = Cancellation::LOOK;
