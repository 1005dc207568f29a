//! The making of a connection: one step at each look, none of which waits for longer than a moment.
//!
//! Must not know: I/Os. Start reading at [`RdmaLink::step`].

use super::NAME;
use super::failed;
use super::library::WorkCompletion;
use super::link::{RdmaEnd, RdmaLink, RdmaStage};
use super::manager::{CmNews, ConnectionManager, RdmaError};
use super::message::{RdmaMessage, RdmaVerb};
use super::queue_pair::{MESSAGE_RECEIVED, MESSAGE_SENT, QueuePair, RemoteRight, status_words};
use super::settings::RdmaRole;
use crate::contract::parts::Connection;
use crate::contract::{Cancellation, EngineError};
use crate::servers::remote::lookup::look_up;
use ferrio_sys::Errno;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Time in which the other end has to answer before the first I/O.
const LIMIT: Duration = Duration::from_secs(30);

/// Makes an error of a step before the first I/O.
fn trouble(step: &'static str, errno: Errno, what: &str) -> EngineError {
    EngineError::Unfit { step, what: format!("{NAME}: {what}"), is_named: false, errno: errno.raw_os_error() }
}

impl RdmaLink {
    /// Makes the connection; waits for a moment at most.
    pub(super) fn reach(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        if self.is_made() {
            return Ok(Connection::Made);
        }
        if self.settings.role == RdmaRole::Server && !std::mem::replace(&mut self.progress.is_announced, true) {
            return Ok(Connection::Listening);
        }
        let end = Instant::now() + Cancellation::LOOK;
        loop {
            self.step(cancellation)?;
            if self.is_made() {
                return Ok(Connection::Made);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || cancellation.is_over() {
                let is_free = self.stage == RdmaStage::Listening;
                return Ok(if is_free { Connection::Listening } else { Connection::Awaited });
            }
            self.check_patience()?;
            self.wait(left).map_err(failed)?;
        }
    }

    /// Both messages have come. What happened since shows at the first I/O.
    fn is_made(&self) -> bool {
        self.progress.is_sent && self.progress.is_answered
    }

    /// An end that began to connect has a limited time.
    fn check_patience(&mut self) -> Result<(), EngineError> {
        if self.stage == RdmaStage::Listening {
            return Ok(());
        }
        let begin = *self.progress.begin.get_or_insert_with(Instant::now);
        if begin.elapsed() < LIMIT {
            return Ok(());
        }
        let other = self.other_end();
        Err(trouble("connect", Errno::TIMEDOUT, &format!("{other} does not answer while the connection is made")))
    }

    /// Does what can be done now.
    pub(super) fn step(&mut self, cancellation: Cancellation<'_>) -> Result<(), EngineError> {
        if self.stage == RdmaStage::Idle {
            return self.begin(cancellation);
        }
        while let Some(news) = self.next_news().map_err(failed)? {
            if news == CmNews::Disconnected {
                // The other end may have said why, just before.
                self.read_messages()?;
            }
            self.hear(news)?;
        }
        self.read_messages()
    }

    /// Acts on the requests for messages that are complete.
    fn read_messages(&mut self) -> Result<(), EngineError> {
        self.take_completions().map_err(failed)?;
        let mut end = None;
        while let Some(done) = self.done.pop_front() {
            if done.id == MESSAGE_RECEIVED && self.progress.is_answered {
                // A client with little to do has said its end already.
                end = Some(done);
            } else {
                self.complete(done)?;
            }
        }
        self.done.extend(end);
        Ok(())
    }

    /// Begins to resolve the address of the server.
    fn begin(&mut self, cancellation: Cancellation<'_>) -> Result<(), EngineError> {
        let RdmaRole::Client { host, .. } = &self.settings.role else { return Ok(()) };
        let Some(to) = address(host, self.settings.port, "hostname", cancellation)? else { return Ok(()) };
        let from = match &self.settings.bind {
            None => None,
            Some(name) => match address(name, 0, "bindname", cancellation)? {
                Some(from) => Some(from),
                None => return Ok(()),
            },
        };
        let manager = ConnectionManager::resolve(self.libraries, from, to).map_err(failed)?;
        self.end = Some(RdmaEnd { pair: None, manager });
        self.stage = RdmaStage::Resolving;
        Ok(())
    }

    /// Acts on an event of the connection manager.
    fn hear(&mut self, news: CmNews) -> Result<(), EngineError> {
        match (self.stage, news) {
            (_, CmNews::Failed(event, status)) => Err(self.refused(event, status)),
            (RdmaStage::Made, CmNews::Disconnected) => {
                self.stage = RdmaStage::Gone;
                Ok(())
            }
            (_, CmNews::Disconnected) => {
                let what = format!("{} has ended the connection before the first I/O", self.other_end());
                Err(trouble("connect", Errno::CONNRESET, &what))
            }
            (RdmaStage::Resolving, CmNews::AddressResolved) => self.with_manager(ConnectionManager::resolve_route),
            (RdmaStage::Resolving, CmNews::RouteResolved) => {
                let number = self.make_pair()?;
                self.stage = RdmaStage::Asking;
                self.with_manager(|manager| manager.connect(number))
            }
            (RdmaStage::Asking, CmNews::Response) => self.greet(),
            (RdmaStage::Listening, CmNews::Request) => {
                self.make_pair()?;
                self.stage = RdmaStage::Exchanging;
                self.progress.begin = Some(Instant::now());
                self.with_manager(ConnectionManager::accept)?;
                let pair = self.end.as_mut().and_then(|end| end.pair.as_mut());
                pair.map_or(Ok(()), QueuePair::be_quick).map_err(failed)
            }
            _ => Ok(()),
        }
    }

    fn with_manager(
        &mut self,
        act: impl FnOnce(&mut ConnectionManager) -> Result<(), RdmaError>,
    ) -> Result<(), EngineError> {
        self.end.as_mut().map_or(Ok(()), |end| act(&mut end.manager)).map_err(failed)
    }

    /// Makes the queues, and waits for the first message of the other end; returns the number of the queue pair.
    fn make_pair(&mut self) -> Result<u32, EngineError> {
        let is_server = self.settings.role == RdmaRole::Server;
        let Some(end) = &mut self.end else { return Ok(0) };
        let pair = QueuePair::new(self.libraries, &end.manager, (self.depth, is_server), &self.arena);
        let mut pair = pair.map_err(failed)?;
        pair.await_message().map_err(failed)?;
        if !is_server {
            pair.register_data(RemoteRight::Nothing).map_err(failed)?;
        }
        let number = pair.number();
        end.pair = Some(pair);
        Ok(number)
    }

    /// Sends the first message, as the client.
    fn greet(&mut self) -> Result<(), EngineError> {
        let (RdmaRole::Client { verb, .. }, Some(end)) = (&self.settings.role, &mut self.end) else { return Ok(()) };
        let Some(pair) = &mut end.pair else { return Ok(()) };
        pair.be_ready(&end.manager).map_err(failed)?;
        end.manager.establish().map_err(failed)?;
        let regions = pair.told_regions(self.depth, self.block_bytes);
        self.own = RdmaMessage { verb: Some(*verb), max_block_bytes: self.block_bytes as u32, regions };
        pair.send_message(&self.own).map_err(failed)?;
        self.verb = *verb;
        self.stage = RdmaStage::Exchanging;
        Ok(())
    }

    /// Acts on the end of a request for a message.
    fn complete(&mut self, done: WorkCompletion) -> Result<(), EngineError> {
        if done.status != 0 {
            let words = status_words(self.libraries, done.status);
            let what = format!("cq completion status {}({words}) while the connection is made", done.status);
            return Err(trouble("connect", Errno::IO, &what));
        }
        match done.id {
            MESSAGE_RECEIVED => self.understand(done.n_bytes),
            MESSAGE_SENT => {
                self.progress.is_sent = true;
                if let Some(what) = self.progress.misfit.take() {
                    return Err(trouble("connect", Errno::INVAL, &what));
                }
                self.finish();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The connection is made when both messages have come.
    fn finish(&mut self) {
        if self.is_made() {
            self.stage = RdmaStage::Made;
            self.steps.n_connections += 1;
            let took =
                self.progress.begin.map_or(0, |begin| u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX));
            self.steps.connect.record(took);
        }
    }

    /// Reads the message of the other end; the server answers it.
    fn understand(&mut self, n_bytes: u32) -> Result<(), EngineError> {
        let other = self.other_end();
        let bad =
            |why: String| trouble("connect", Errno::PROTO, &format!("the message of {other} is not valid: {why}"));
        let Some(pair) = self.end.as_ref().and_then(|end| end.pair.as_ref()) else { return Ok(()) };
        let message = pair.message(n_bytes).map_err(bad)?;
        let theirs = u64::from(message.max_block_bytes);
        let (of_server, of_client) = match self.settings.role {
            RdmaRole::Client { .. } => (theirs, self.block_bytes as u64),
            RdmaRole::Server => (self.block_bytes as u64, theirs),
        };
        let misfit = (of_server < of_client).then(|| {
            format!(
                "Server's block size ({of_server}) must be greater than or equal to the client's block size ({of_client})!"
            )
        });
        match (&self.settings.role, message.verb) {
            (RdmaRole::Client { .. }, None) => {
                if let Some(what) = misfit {
                    return Err(trouble("connect", Errno::INVAL, &what));
                }
                if self.verb.is_one_sided() {
                    message.check_room(self.block_bytes).map_err(bad)?;
                }
                self.remote = message.regions;
            }
            (RdmaRole::Client { .. }, Some(_)) => return Err(bad("it is one of a client".to_owned())),
            (RdmaRole::Server, Some(verb)) => {
                self.answer(verb, misfit.is_none())?;
                self.progress.misfit = misfit;
            }
            (RdmaRole::Server, None) => return Err(bad("it is one of a server".to_owned())),
        }
        self.progress.is_answered = true;
        self.finish();
        Ok(())
    }

    /// Tells the client where the buffers are, as the server. A client whose blocks do not fit learns from the answer that they do not, but
    /// gets no right to use the buffers.
    fn answer(&mut self, verb: RdmaVerb, fits: bool) -> Result<(), EngineError> {
        let Some(pair) = self.end.as_mut().and_then(|end| end.pair.as_mut()) else { return Ok(()) };
        self.verb = verb;
        pair.register_data(if fits { RemoteRight::Of(verb) } else { RemoteRight::Nothing }).map_err(failed)?;
        if verb.is_one_sided() {
            // The client sends its message once more at its end.
            pair.await_message().map_err(failed)?;
        }
        let regions = pair.told_regions(self.depth, self.block_bytes);
        self.own = RdmaMessage { verb: None, max_block_bytes: self.block_bytes as u32, regions };
        pair.send_message(&self.own).map_err(failed)
    }

    /// The error of a step of the connection manager.
    fn refused(&self, event: &'static str, status: i32) -> EngineError {
        let errno = match event {
            "RDMA_CM_EVENT_REJECTED" => Errno::CONNREFUSED,
            "RDMA_CM_EVENT_UNREACHABLE" => Errno::HOSTUNREACH,
            "RDMA_CM_EVENT_DEVICE_REMOVAL" => Errno::NODEV,
            _ => status.checked_neg().filter(|errno| *errno > 0).map_or(Errno::IO, Errno::from_raw_os_error),
        };
        let why = match event {
            "RDMA_CM_EVENT_REJECTED" => "nobody listens there, or the server has another client",
            "RDMA_CM_EVENT_ADDR_ERROR" => "no RDMA device has a way to this address, or the host is not there",
            "RDMA_CM_EVENT_UNREACHABLE" => "the host does not answer",
            _ => "the connection cannot be made",
        };
        let what = format!("{}: event is {event} (status {status}): {why}", self.other_end());
        trouble("connect", errno, &what)
    }

    fn other_end(&self) -> String {
        match &self.settings.role {
            RdmaRole::Client { host, .. } => format!("the server {host} port {}", self.settings.port),
            RdmaRole::Server => format!("the client at port {}", self.settings.port),
        }
    }
}

/// The first address of a host; `None`: the call was cancelled.
pub(super) fn address(
    name: &str,
    port: u16,
    option: &'static str,
    cancellation: Cancellation<'_>,
) -> Result<Option<SocketAddr>, EngineError> {
    let found = look_up(name, port, cancellation)
        .map_err(|why| EngineError::bad_option(NAME, option, name, why.to_string()))?;
    // A lookup without an address is an error.
    Ok(found.and_then(|found| found.first().copied()))
}
