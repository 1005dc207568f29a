//! A job's end of a connection: I/Os and their completions.
//!
//! Must not know: the libraries. Start reading at [`RdmaLink`].

use super::failed;
use super::handshake::address;
use super::library::WorkCompletion;
use super::manager::{CmNews, ConnectionManager, RdmaError, RdmaLibraries};
use super::message::{RdmaMessage, RdmaVerb, RemoteRegion};
use super::queue_pair::{DataRequest, MESSAGE_RECEIVED, MESSAGE_SENT, QueuePair, RdmaWork, status_words};
use super::settings::{RdmaRole, RdmaSettings};
use crate::contract::parts::{Complaint, Connection};
use crate::contract::{Cancellation, EngineError, EngineSetup, IoResult, IoUnit};
use crate::files::control::{self, error_result};
use crate::servers::remote::driven::{DrivenFlight, DrivenLink, Judgement, LineState, Refusal};
use crate::servers::remote::silence;
use ferrio_stats::ServerSteps;
use ferrio_sys::arena::Arena;
use ferrio_sys::{Errno, poll};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RdmaStage {
    /// The client has done nothing.
    Idle,
    /// The client asks for address and route of the server.
    Resolving,
    /// The client has asked the server to accept.
    Asking,
    /// The server has no client.
    Listening,
    /// The first messages are under way.
    Exchanging,
    Made,
    /// The client has said that this was all.
    Ended,
    /// The other end has gone, or this one has ended the connection.
    Gone,
}

/// The parts of a connection; the queue pair goes before the manager.
pub(super) struct RdmaEnd {
    pub(super) pair: Option<QueuePair>,
    pub(super) manager: ConnectionManager,
}

/// A job's end of a connection.
pub(super) struct RdmaLink {
    pub(super) end: Option<RdmaEnd>,
    pub(super) libraries: RdmaLibraries,
    pub(super) settings: RdmaSettings,
    pub(super) arena: Rc<RefCell<Arena>>,
    pub(super) depth: usize,
    /// Largest block.
    pub(super) block_bytes: usize,
    pub(super) stage: RdmaStage,
    pub(super) verb: RdmaVerb,
    /// The message that this end has sent.
    pub(super) own: RdmaMessage,
    /// Memory of the server.
    pub(super) remote: Vec<RemoteRegion>,
    pub(super) done: VecDeque<WorkCompletion>,
    pub(super) progress: Progress,
    pub(super) steps: ServerSteps,
    /// Requests that wait for the next push.
    waiting: Vec<DataRequest>,
    next_region: usize,
}

/// What has been done to make a connection.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The job has been told that this end listens.
    pub(super) is_announced: bool,
    /// The message of this end is at the other one.
    pub(super) is_sent: bool,
    /// The message of the other end is here.
    pub(super) is_answered: bool,
    pub(super) begin: Option<Instant>,
    /// Why the blocks of the client do not fit; it is told first.
    pub(super) misfit: Option<String>,
}

impl RdmaLink {
    /// An end that is not connected. A server listens from now on.
    pub(super) fn new(
        libraries: RdmaLibraries,
        settings: RdmaSettings,
        setup: &EngineSetup,
    ) -> Result<Self, EngineError> {
        let depth = setup.iodepth as usize;
        let mut link = Self {
            end: None,
            libraries,
            settings,
            arena: Rc::clone(&setup.arena),
            depth,
            block_bytes: setup.max_block_bytes,
            stage: RdmaStage::Idle,
            verb: RdmaVerb::Write,
            own: RdmaMessage { verb: None, max_block_bytes: 0, regions: Vec::new() },
            remote: Vec::new(),
            // Data and messages of both directions.
            done: VecDeque::with_capacity(2 * (depth + 1)),
            progress: Progress::default(),
            steps: ServerSteps::default(),
            waiting: Vec::with_capacity(depth),
            next_region: 0,
        };
        if link.settings.role == RdmaRole::Server {
            let at = link.listening_address()?;
            let manager = ConnectionManager::listen(libraries, at).map_err(failed)?;
            link.end = Some(RdmaEnd { pair: None, manager });
            link.stage = RdmaStage::Listening;
        }
        Ok(link)
    }

    fn listening_address(&self) -> Result<SocketAddr, EngineError> {
        let all = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), self.settings.port);
        let Some(name) = &self.settings.bind else { return Ok(all) };
        // Without a limit the look-up gives an address or an error.
        Ok(address(name, self.settings.port, "bindname", Cancellation::ENDLESS)?.unwrap_or(all))
    }

    /// The next event of the connection manager.
    pub(super) fn next_news(&mut self) -> Result<Option<CmNews>, RdmaError> {
        self.end.as_mut().map_or(Ok(None), |end| end.manager.next_event())
    }

    /// Takes what is complete; returns how much that is.
    pub(super) fn take_completions(&mut self) -> Result<usize, RdmaError> {
        let pair = self.end.as_mut().and_then(|end| end.pair.as_mut());
        pair.map_or(Ok(0), |pair| pair.take_completions(&mut self.done))
    }

    /// Waits until there may be a completion or an event, for a time at most.
    pub(super) fn wait(&mut self, limit: Duration) -> Result<(), RdmaError> {
        let Some(RdmaEnd { pair, manager }) = &mut self.end else { return Ok(()) };
        let Some(pair) = pair else {
            poll::wait_for(manager.fd(), false, limit);
            return Ok(());
        };
        pair.arm()?;
        // What was complete before makes the descriptor readable no more.
        if pair.take_completions(&mut self.done)? == 0 {
            poll::wait_for_any([(pair.fd(), false), (manager.fd(), false)].into_iter(), limit);
            pair.take_wake();
        }
        Ok(())
    }

    /// Looks for completions, and, where there are none, waits and looks whether the other end is there.
    fn look(&mut self, limit: Duration) -> Result<LineState, RdmaError> {
        if self.take_completions()? == 0 && self.done.is_empty() && self.stage == RdmaStage::Made && !limit.is_zero() {
            self.wait(limit)?;
            if self.take_completions()? == 0 && self.done.is_empty() {
                self.look_at_events()?;
            }
        }
        Ok(self.state())
    }

    /// Notes that the other end has gone.
    fn look_at_events(&mut self) -> Result<(), RdmaError> {
        while let Some(news) = self.next_news()? {
            if matches!(news, CmNews::Disconnected | CmNews::Failed(..)) {
                self.stage = RdmaStage::Gone;
                // What came just before.
                while self.take_completions()? > 0 {}
                self.done.retain(|done| done.status == 0);
            }
        }
        Ok(())
    }

    /// State of the connection. What has come before its end is handed out first.
    fn state(&mut self) -> LineState {
        let is_server = self.settings.role == RdmaRole::Server;
        if self.done.iter().any(|done| done.id == MESSAGE_RECEIVED && done.status == 0) {
            self.stage = RdmaStage::Ended;
        }
        match self.stage {
            RdmaStage::Ended => LineState::Ended,
            RdmaStage::Gone if !self.done.is_empty() => LineState::Alive,
            // The client of a server that receives says no other word.
            RdmaStage::Gone if is_server && !self.verb.is_one_sided() => LineState::Ended,
            RdmaStage::Gone => LineState::Lost,
            _ => LineState::Alive,
        }
    }

    /// The request for a unit; `None`: there is nothing to request.
    fn request(&mut self, slot: u32, unit: &IoUnit) -> Option<DataRequest> {
        let is_server = self.settings.role == RdmaRole::Server;
        let kind = match self.verb {
            RdmaVerb::Send if is_server => RdmaWork::Receive,
            RdmaVerb::Send => RdmaWork::Send,
            // The client alone acts, until it says that it has ended.
            _ if is_server => return None,
            verb => {
                let region = *self.remote.get(self.next_region)?;
                self.next_region = (self.next_region + 1) % self.remote.len();
                if verb == RdmaVerb::Read { RdmaWork::Read(region) } else { RdmaWork::Write(region) }
            }
        };
        let region = self.arena.borrow().region(unit.buffer_offset, unit.length_bytes);
        Some(DataRequest { slot, kind, region })
    }

    /// Says to a server that waits for the end of this client that it has come.
    fn say_end(&mut self, cancellation: Cancellation<'_>) -> Result<(), RdmaError> {
        let is_client = self.settings.role != RdmaRole::Server;
        let Some(pair) = self.end.as_mut().and_then(|end| end.pair.as_mut()) else { return Ok(()) };
        if !is_client || !self.verb.is_one_sided() {
            return Ok(());
        }
        self.done.clear();
        pair.send_message(&self.own)?;
        while !cancellation.is_over() && self.stage == RdmaStage::Made {
            self.take_completions()?;
            if self.done.iter().any(|done| done.id == MESSAGE_SENT || done.status != 0) {
                break;
            }
            self.done.clear();
            self.wait(Cancellation::LOOK)?;
            self.look_at_events()?;
        }
        Ok(())
    }

    /// Waits until the client has ended the connection: as long as it has not, it may wait for the last acknowledgement of what it sent,
    /// which comes from the queue pair of this end.
    fn await_client(&mut self, cancellation: Cancellation<'_>) -> Result<(), RdmaError> {
        let end = Instant::now() + FAREWELL;
        while self.stage != RdmaStage::Gone && !cancellation.is_over() && Instant::now() < end {
            self.done.clear();
            self.wait(Cancellation::LOOK)?;
            self.look_at_events()?;
        }
        Ok(())
    }

    fn end(&mut self) {
        if let Some(mut end) = self.end.take() {
            if self.progress.is_sent {
                end.manager.disconnect();
            }
            self.stage = RdmaStage::Gone;
        }
    }
}

/// Longest wait for the end of the connection by the client, which has little to do until then.
const FAREWELL: Duration = Duration::from_secs(1);

fn errno_of(status: u32) -> Errno {
    match status {
        // IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR: a block did not fit.
        1 | 9 => Errno::MSGSIZE,
        // IBV_WC_LOC_PROT_ERR, IBV_WC_REM_ACCESS_ERR.
        4 | 10 => Errno::ACCESS,
        // IBV_WC_WR_FLUSH_ERR.
        5 => Errno::CONNRESET,
        // IBV_WC_RETRY_EXC_ERR, IBV_WC_RNR_RETRY_EXC_ERR.
        12 | 13 => Errno::HOSTUNREACH,
        _ => Errno::IO,
    }
}

/// A status that no device has: the request could not be posted, for the errno that is in place of the vendor's error.
const NOT_POSTED: u32 = u32::MAX;

impl DrivenLink for RdmaLink {
    type Status = WorkCompletion;

    const GONE: &'static str =
        "the other end of the connection is gone: it ended, or was killed, before this job had moved all of its size";

    const SILENT: &'static str = silence::SILENT;

    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        self.reach(cancellation)
    }

    fn disconnect(&mut self, asks: bool, cancellation: Cancellation<'_>) {
        // The other end may be gone already.
        let _ = match self.settings.role {
            RdmaRole::Server if matches!(self.stage, RdmaStage::Made | RdmaStage::Ended) => {
                self.await_client(cancellation)
            }
            RdmaRole::Client { .. } if asks && self.stage == RdmaStage::Made => self.say_end(cancellation),
            _ => Ok(()),
        };
        self.end();
    }

    fn send(&mut self, slot: u32, flight: &DrivenFlight) -> Result<(), Refusal> {
        if control::is_control(flight.unit.direction) {
            // A sync has nothing to do; trims are refused before the job starts.
            return Err(IoResult::done(flight.unit.length_bytes).into());
        }
        if let Some(request) = self.request(slot, &flight.unit) {
            self.waiting.push(request);
        }
        Ok(())
    }

    fn push(&mut self) -> LineState {
        if self.waiting.is_empty() {
            return LineState::Alive;
        }
        let pair = self.end.as_mut().and_then(|end| end.pair.as_mut());
        let posted = pair.map_or(Ok(()), |pair| pair.post(&self.waiting));
        if let Err(error) = posted {
            let errno = error.errno.raw_os_error().unsigned_abs();
            self.done
                .extend(self.waiting.iter().map(|request| WorkCompletion::failed(request.slot, NOT_POSTED, errno)));
        }
        self.waiting.clear();
        LineState::Alive
    }

    fn turn(&mut self, limit: Duration) -> LineState {
        self.push();
        self.look(limit).unwrap_or(LineState::Lost)
    }

    fn take_answer(&mut self) -> Option<(u32, WorkCompletion)> {
        while let Some(done) = self.done.pop_front() {
            if done.id < MESSAGE_SENT {
                return Some((done.id as u32, done));
            }
        }
        None
    }

    fn judge(&mut self, flight: &DrivenFlight, done: WorkCompletion) -> Judgement {
        let length_bytes = flight.unit.length_bytes;
        if done.status == 0 {
            let is_received = self.settings.role == RdmaRole::Server;
            let n_bytes = if is_received { (done.n_bytes as usize).min(length_bytes) } else { length_bytes };
            // A block of the client that is shorter has no rest.
            let is_short = n_bytes < length_bytes;
            return Judgement::Done(if is_short { IoResult::short(n_bytes) } else { IoResult::done(n_bytes) });
        }
        let (errno, line) = if done.status == NOT_POSTED {
            let errno = Errno::from_raw_os_error(done.vendor_error.cast_signed());
            (errno, format!("ibv_post_send fail: {}", std::io::Error::from(errno)))
        } else {
            let words = status_words(self.libraries, done.status);
            (errno_of(done.status), format!("cq completion status {}({words})", done.status))
        };
        let complaint = Complaint { step: "cq completion", line: Some(line), why: None };
        Judgement::Failed(Refusal { result: error_result(errno), complaint: Some(complaint) })
    }

    fn hint(&self, _unit: &IoUnit, errno: Errno) -> Option<&'static str> {
        match errno {
            Errno::HOSTUNREACH => Some("the other end does not answer, or has no buffer for what is sent"),
            Errno::MSGSIZE => Some("the buffer of the server is smaller than the block of the client (bs)"),
            _ => None,
        }
    }

    fn server_steps(&self) -> ServerSteps {
        self.steps.clone()
    }
}

impl Drop for RdmaLink {
    fn drop(&mut self) {
        self.end();
    }
}
