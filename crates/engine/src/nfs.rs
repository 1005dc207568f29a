//! `ioengine=nfs`: files of an NFS server, without a mount of the kernel, by libnfs.
//!
//! The library is opened when a job needs it. Each job has one mount, which is one connection; requests go out when they are committed
//! and the library's own event functions drive it, so that no thread stands between. Must not know: functions of the library.
//! Start reading at `Nfs`, then `session`.

mod library;
mod session;

use crate::contract::{
    Complaint, Completion, Connection, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget,
    Patience, Prepare, Prepared, Queued, push_in_room, time_left,
};
use crate::control::error_result;
use crate::options::EngineOptions;
use crate::remote::aside::{self, until};
use ferrio_spec::engines::options::nfs::NFS_URL;
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_sys::signals;
use ferrio_units::Direction;
use library::Libnfs;
use session::{NfsError, NfsFile, NfsMount, NfsSession, Turn};
use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Name of the engine in messages.
const NAME: &str = "nfs";

/// Time in which a server has to answer before the first I/O and after the last.
const LIMIT: Duration = Duration::from_secs(30);

/// Time in which a server has to close or remove a file.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Why libnfs 4 does not encode a request.
const TOO_LONG: &str =
    "this version of libnfs cannot send blocks of this size by NFS version 4; version=3 in the address can";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

/// Opens the library.
pub(crate) fn open_library() -> ferrio_sys::Result<()> {
    Libnfs::get().map(|_| ())
}

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let Some(url) = options.get(&NFS_URL) else {
        let why = "it is required; allowed: nfs://SERVER/EXPORT[?version=3&...]";
        return Err(EngineError::bad_option(NAME, NFS_URL.name(), "", why));
    };
    let api = Libnfs::get().map_err(|error| EngineError::no_library(NAME, &error))?;
    Ok(Box::new(Idle { url: url.to_owned(), api }))
}

/// The engine before it is started.
struct Idle {
    url: String,
    api: &'static Libnfs,
}

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        // The library writes to a connection that the other end has closed.
        signals::block_broken_pipes()
            .map_err(|error| EngineError::Target { step: "init".to_owned(), source: error })?;
        Ok(Box::new(Nfs {
            session: None,
            url: self.url,
            api: self.api,
            arena: setup.arena,
            targets: (0..setup.n_files).map(|_| NfsTarget::Closed).collect(),
            flights: (0..setup.iodepth).map(|_| None).collect(),
            n_in_flight: 0,
            n_uncommitted: 0,
            ended: None,
            complaint: None,
            steps: ServerSteps::default(),
        }))
    }
}

/// A file of a job.
enum NfsTarget {
    Closed,
    Open(NfsFile),
    /// The job was told to end before the server had opened it.
    Unopened,
}

/// An I/O in flight.
#[derive(Debug, Clone, Copy)]
struct NfsFlight {
    unit: IoUnit,
    /// Bytes that were moved by the requests before the present one.
    n_moved: usize,
}

/// A job's mount, with its files.
struct Nfs {
    session: Option<NfsSession>,
    url: String,
    api: &'static Libnfs,
    arena: Rc<RefCell<Arena>>,
    targets: Vec<NfsTarget>,
    /// I/Os in flight, by the slot of their unit.
    flights: Vec<Option<NfsFlight>>,
    n_in_flight: u32,
    n_uncommitted: u32,
    /// Result of all I/Os, because the connection is lost or the I/Os are given up.
    ended: Option<IoResult>,
    complaint: Option<Complaint>,
    steps: ServerSteps,
}

impl Nfs {
    /// Sends the request for what is missing of a unit.
    fn send(&mut self, slot: u32, flight: NfsFlight) -> Result<(), IoResult> {
        let NfsFlight { unit, n_moved } = flight;
        let Some(session) = &mut self.session else { return Err(IoResult::END_OF_DATA) };
        let handle = match self.targets.get(unit.file_index as usize) {
            Some(NfsTarget::Open(handle)) => *handle,
            _ => return Err(IoResult::END_OF_DATA),
        };
        let sent = match unit.direction {
            Direction::Read | Direction::Write => {
                let region = self.arena.borrow().region(unit.buffer_offset, unit.length_bytes);
                let part = region.part(n_moved, unit.length_bytes - n_moved);
                let offset_bytes = unit.offset_bytes + n_moved as u64;
                session.transfer(slot, handle, offset_bytes, part, unit.direction == Direction::Read)
            }
            _ => session.sync(slot, handle),
        };
        sent.map_err(|error| {
            self.complaint = Some(Complaint {
                step: "td_io_queue",
                line: Some(format!("nfs: Failed to queue nfs op: {}", error.text)),
                why: error.text.contains("Failed to encode").then(|| TOO_LONG.to_owned()),
            });
            error_result(Errno::IO)
        })?;
        self.flights[slot as usize] = Some(flight);
        Ok(())
    }

    /// Refuses a direction, in fio's words.
    fn refuse(&mut self, line: String, why: &str) -> IoResult {
        self.complaint = Some(Complaint { step: "td_io_queue", line: Some(line), why: Some(why.to_owned()) });
        error_result(Errno::PERM)
    }

    /// Takes what the library has finished: the result of each unit that is done.
    fn take_done(&mut self, n_most: usize, completions: &mut Vec<Completion>) {
        while completions.len() < n_most {
            let Some((slot, status)) = self.session.as_mut().and_then(NfsSession::take_done) else { return };
            let Some(flight) = self.flights.get_mut(slot as usize).and_then(Option::take) else { continue };
            if let Some(result) = self.judge(slot, flight, status) {
                self.n_in_flight -= 1;
                push_in_room(completions, Completion { unit_index: slot, result });
            }
        }
    }

    /// The result of a unit whose request has this status: bytes, or a negative errno; `None`: the rest is on its way.
    fn judge(&mut self, slot: u32, flight: NfsFlight, status: i32) -> Option<IoResult> {
        if let Some(result) = self.ended {
            return Some(result);
        }
        let Ok(n_bytes) = usize::try_from(status) else {
            let errno = Errno::from_raw_os_error(status.saturating_neg());
            // The library's number for whatever is wrong with the protocol.
            return Some(error_result(if errno == Errno::FAULT { Errno::IO } else { errno }));
        };
        if !matches!(flight.unit.direction, Direction::Read | Direction::Write) {
            return Some(IoResult::done(flight.unit.length_bytes));
        }
        let n_moved = flight.n_moved + n_bytes;
        let is_read = flight.unit.direction == Direction::Read;
        if n_moved >= flight.unit.length_bytes || (n_bytes == 0 && is_read) {
            return Some(IoResult::done(n_moved));
        }
        if n_bytes == 0 {
            return Some(error_result(Errno::IO));
        }
        self.send(slot, NfsFlight { n_moved, ..flight }).err()
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

    /// Takes between `min` and `max` results; waits for them up to `limit`.
    fn reap_within(&mut self, (min, max): (u32, u32), limit: Duration, completions: &mut Vec<Completion>) {
        let n_before = completions.len();
        let n_most = n_before.saturating_add(max as usize);
        let end = Instant::now() + limit;
        let mut is_first = true;
        loop {
            self.take_done(n_most, completions);
            if let Some(result) = self.ended {
                return self.end_all(result, completions);
            }
            let is_enough = completions.len() - n_before >= min as usize;
            let left = end.saturating_duration_since(Instant::now());
            if self.n_in_flight == 0 || (!is_first && (is_enough || left.is_zero())) {
                return;
            }
            is_first = false;
            let wait = if is_enough { Duration::ZERO } else { left };
            if self.session.as_mut().is_none_or(|session| session.turn(wait) == Turn::Lost) {
                self.ended.get_or_insert(error_result(Errno::CONNRESET));
            }
        }
    }
}

/// The failure of a step before the first I/O.
fn failed(step: &'static str, what: &str, error: &NfsError) -> EngineError {
    let what = format!("nfs: {what}: {}", error.text);
    EngineError::Unfit { step, what, is_named: false, errno: error.code.saturating_neg() }
}

fn too_late() -> NfsError {
    NfsError { code: -Errno::TIMEDOUT.raw_os_error(), text: "the server does not answer".to_owned() }
}

impl Engine for Nfs {
    fn connect(&mut self, patience: Patience<'_>) -> Result<Connection, EngineError> {
        if self.session.is_some() {
            return Ok(Connection::Made);
        }
        let (api, url, start) = (self.api, self.url.clone(), Instant::now());
        let is_over = until(patience, LIMIT);
        let mounted = aside::call(Patience::new(&is_over), move |caller| NfsMount::new(api, &url, caller));
        let mounted = mounted.map_err(|source| EngineError::Failed {
            engine: NAME,
            step: "mount",
            what: "a thread for the mount".to_owned(),
            source,
        })?;
        let mounted = match mounted {
            None if patience.is_over() => return Ok(Connection::Awaited),
            None => Err(too_late()),
            Some(mounted) => mounted,
        };
        let mount = mounted.map_err(|error| {
            failed("mount", &format!("Failed to mount {} with code {}", self.url, error.code), &error)
        })?;
        self.steps.n_connections += 1;
        self.steps.agree.record(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        self.session = Some(NfsSession::new(mount, self.flights.len()));
        Ok(Connection::Made)
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let (OpenTarget::Name(name), Some(session)) = (file.target, &mut self.session) else { return Ok(()) };
        let is_over = until(file.patience, LIMIT);
        let opened = match session.open(name, file.writable, Patience::new(&is_over)) {
            Ok(None) if !file.patience.is_over() => Err(too_late()),
            opened => opened,
        };
        let opened =
            opened.map_err(|error| failed("open_file", &format!("Failed to open {}", name.display()), &error))?;
        if let Some(place) = self.targets.get_mut(file.index as usize) {
            *place = opened.map_or(NfsTarget::Unopened, NfsTarget::Open);
        }
        Ok(())
    }

    fn close_file(&mut self, file_index: u32) {
        let Some(place) = self.targets.get_mut(file_index as usize) else { return };
        let target = std::mem::replace(place, NfsTarget::Closed);
        if let (NfsTarget::Open(handle), Some(session), None) = (target, &mut self.session, self.ended) {
            let is_over = until(Patience::ENDLESS, END_LIMIT);
            session.close(handle, Patience::new(&is_over));
        }
    }

    fn remove_target(&mut self, name: &Path) {
        if let (Some(session), None) = (&mut self.session, self.ended) {
            let is_over = until(Patience::ENDLESS, END_LIMIT);
            session.remove(name, Patience::new(&is_over));
        }
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        self.complaint = None;
        if let Some(result) = self.ended {
            return Queued::Completed(result);
        }
        let sent = match unit.direction {
            Direction::Read | Direction::Write | Direction::Sync | Direction::Datasync => {
                self.send(unit_index, NfsFlight { unit: *unit, n_moved: 0 })
            }
            Direction::Trim => Err(self.refuse("nfs: trim is not supported".to_owned(), "files of NFS have no trims")),
            _ => Err(self.refuse("nfs: unhandled io 3".to_owned(), "a server syncs whole files")),
        };
        match sent {
            Ok(()) => {
                self.n_in_flight += 1;
                self.n_uncommitted += 1;
                Queued::Queued
            }
            Err(result) => Queued::Completed(result),
        }
    }

    fn commit(&mut self) -> io::Result<u32> {
        if let Some(session) = &mut self.session
            && session.push() == Turn::Lost
        {
            self.ended.get_or_insert(error_result(Errno::CONNRESET));
        }
        Ok(std::mem::take(&mut self.n_uncommitted))
    }

    fn hint(&self, _unit: &IoUnit, errno: i32) -> Option<&'static str> {
        (errno == Errno::CONNRESET.raw_os_error()).then_some("the server has closed the connection, or is gone")
    }

    fn take_complaint(&mut self) -> Option<Complaint> {
        self.complaint.take()
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.reap_within((min, max), Patience::LOOK, completions);
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.reap_within((1, max), time_left(clock, until_ns).min(Patience::LOOK), completions);
        Ok(())
    }

    fn server_steps(&self) -> Option<ServerSteps> {
        let mut steps = self.steps.clone();
        self.session.iter().filter_map(NfsSession::tcp_counts).for_each(|counts| steps.network.add(counts));
        Some(steps)
    }

    fn give_up(&mut self) {
        self.ended.get_or_insert(IoResult::END_OF_DATA);
    }
}
