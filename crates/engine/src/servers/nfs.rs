//! `ioengine=nfs`: files of an NFS server, without a mount of the kernel, by libnfs.
//!
//! The library is opened when a job needs it. Each job has one mount, which is one connection; requests go out when they are committed
//! and the library's own event functions drive it, so that no thread stands between. Must not know: functions of the library.
//! Start reading at `NfsLink`, then `session`.

mod library;
mod session;

use crate::contract::options::EngineOptions;
use crate::contract::parts::{Complaint, Connection};
use crate::contract::{
    Cancellation, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepare, Prepared,
};
use crate::files::control::error_result;
use crate::servers::remote::aside::{self, until};
use crate::servers::remote::driven::{DrivenEngine, DrivenFlight, DrivenLink, Judgement, LineState, Refusal};
use crate::servers::remote::silence::{self, limit_of};
use crate::servers::server_facts::NfsFacts;
use ferrio_spec::SyncMode;
use ferrio_spec::engines::options::nfs::{NFS_URL, SERVER_TIMEOUT};
use ferrio_spec::secret::{without_passwords, without_passwords_of};
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::signals;
use ferrio_units::Direction;
use library::Libnfs;
use session::{NfsError, NfsFile, NfsMount, NfsSession};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

const NAME: &str = "nfs";

/// Time in which a server has to answer before the first I/O and after the last.
const LIMIT: Duration = Duration::from_secs(30);

/// Time in which a server has to close or remove a file.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Why libnfs 4 does not encode a request.
const TOO_LONG: &str =
    "this version of libnfs cannot send blocks of this size by NFS version 4; version=3 in the address can";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

pub(crate) fn open_library() -> ferrio_sys::Result<()> {
    Libnfs::get().map(|_| ())
}

/// What the server says of an export: by the version that the address names, else by each; `None`: the call was cancelled.
pub(crate) fn inquire(url: &str, cancellation: Cancellation<'_>) -> Result<Option<Vec<NfsFacts>>, EngineError> {
    let api = Libnfs::get().map_err(|error| EngineError::no_library(NAME, &error))?;
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let rest: Vec<&str> = query.split('&').filter(|part| !part.is_empty() && !part.starts_with("version=")).collect();
    let named = query.split('&').find_map(|part| part.strip_prefix("version=")?.parse().ok());
    let versions = named.map_or_else(|| vec![3, 4], |version: u32| vec![version]);
    let mut all = Vec::new();
    for version in versions {
        let url = format!("{address}?version={version}{}{}", if rest.is_empty() { "" } else { "&" }, rest.join("&"));
        let asked = aside::call(cancellation, move |caller| {
            NfsMount::new(api, &url, caller).map(|mount| mount.facts(caller)).map_err(|error| error.text)
        });
        let mount = asked.map_err(|source| EngineError::Failed {
            engine: NAME,
            step: "mount",
            what: "a thread for the mount".to_owned(),
            source,
        })?;
        // A version for which nothing answers may be that of another port.
        match mount {
            Some(mount) => all.push(NfsFacts { version, mount }),
            None => break,
        }
    }
    Ok((!all.is_empty()).then_some(all))
}

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let Some(url) = options.get(&NFS_URL) else {
        let why = "it is required; allowed: nfs://SERVER/EXPORT[?version=3&...]";
        return Err(EngineError::bad_option(NAME, NFS_URL.name(), "", why));
    };
    let api = Libnfs::get().map_err(|error| EngineError::no_library(NAME, &error))?;
    Ok(Box::new(Idle { url: url.to_owned(), api, most_silence: limit_of(options.get(&SERVER_TIMEOUT)) }))
}

/// The engine before it is started.
struct Idle {
    url: String,
    api: &'static Libnfs,
    most_silence: Duration,
}

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        // The library writes to a connection that the other end has closed.
        signals::block_broken_pipes()
            .map_err(|error| EngineError::Target { step: "init".to_owned(), source: error })?;
        let depth = setup.iodepth as usize;
        let link = NfsLink {
            session: None,
            url: self.url,
            api: self.api,
            arena: setup.arena,
            targets: (0..setup.n_files).map(|_| NfsTarget::Closed).collect(),
            depth,
            is_stable: setup.job.syncs.mode != SyncMode::None,
            steps: ServerSteps::default(),
        };
        Ok(Box::new(DrivenEngine::new(link, depth, self.most_silence)))
    }
}

/// A file of a job.
enum NfsTarget {
    Closed,
    Open(NfsFile),
    /// The job was told to end before the server had opened it.
    Unopened,
}

/// A job's mount, with its files.
struct NfsLink {
    session: Option<NfsSession>,
    url: String,
    api: &'static Libnfs,
    arena: Rc<RefCell<Arena>>,
    targets: Vec<NfsTarget>,
    /// Requests in flight, at most.
    depth: usize,
    /// Each write is durable when it is answered (`sync`).
    is_stable: bool,
    steps: ServerSteps,
}

/// Refuses a direction, in fio's words.
fn refuse(line: &str, why: &str) -> Refusal {
    let complaint = Complaint { step: "td_io_queue", line: Some(line.to_owned()), why: Some(why.to_owned()) };
    Refusal { result: error_result(Errno::PERM), complaint: Some(complaint) }
}

/// The failure of a step before the first I/O.
fn failed(step: &'static str, what: &str, error: &NfsError) -> EngineError {
    let what = format!("nfs: {what}: {}", error.text);
    EngineError::Unfit { step, what, is_named: false, errno: error.code.saturating_neg() }
}

fn too_late() -> NfsError {
    NfsError { code: -Errno::TIMEDOUT.raw_os_error(), text: "the server does not answer".to_owned() }
}

impl DrivenLink for NfsLink {
    /// Bytes, or a negative errno.
    type Status = i32;

    const GONE: &'static str = "the server has closed the connection, or is gone";

    const SILENT: &'static str = silence::SILENT;

    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        if self.session.is_some() {
            return Ok(Connection::Made);
        }
        let (api, url, start) = (self.api, self.url.clone(), Instant::now());
        let is_over = until(cancellation, LIMIT);
        let mounted = aside::call(Cancellation::new(&is_over), move |caller| NfsMount::new(api, &url, caller));
        let mounted = mounted.map_err(|source| EngineError::Failed {
            engine: NAME,
            step: "mount",
            what: "a thread for the mount".to_owned(),
            source,
        })?;
        let mounted = match mounted {
            None if cancellation.is_over() => return Ok(Connection::Awaited),
            None => Err(too_late()),
            Some(mounted) => mounted,
        };
        let mount = mounted.map_err(|error| {
            let text = without_passwords_of(&self.url, &error.text);
            let what = format!("Failed to mount {} with code {}", without_passwords(&self.url), error.code);
            failed("mount", &what, &NfsError { text, ..error })
        })?;
        self.steps.n_connections += 1;
        self.steps.agree.record(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        self.session = Some(NfsSession::new(mount, self.depth));
        Ok(Connection::Made)
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let (OpenTarget::Name(name), Some(session)) = (file.target, &mut self.session) else { return Ok(()) };
        let is_over = until(file.cancellation, LIMIT);
        let opened = match session.open(name, (file.writable, self.is_stable), Cancellation::new(&is_over)) {
            Ok(None) if !file.cancellation.is_over() => Err(too_late()),
            opened => opened,
        };
        let opened =
            opened.map_err(|error| failed("open_file", &format!("Failed to open {}", name.display()), &error))?;
        if let Some(place) = self.targets.get_mut(file.index as usize) {
            *place = opened.map_or(NfsTarget::Unopened, NfsTarget::Open);
        }
        Ok(())
    }

    fn close_file(&mut self, file_index: u32, asks: bool) -> bool {
        let Some(place) = self.targets.get_mut(file_index as usize) else { return true };
        let target = std::mem::replace(place, NfsTarget::Closed);
        let (NfsTarget::Open(handle), Some(session), true) = (target, &mut self.session, asks) else { return true };
        let is_over = until(Cancellation::ENDLESS, END_LIMIT);
        session.close(handle, Cancellation::new(&is_over))
    }

    fn remove_target(&mut self, name: &Path) -> bool {
        let is_over = until(Cancellation::ENDLESS, END_LIMIT);
        self.session.as_mut().is_none_or(|session| session.remove(name, Cancellation::new(&is_over)))
    }

    fn send(&mut self, slot: u32, flight: &DrivenFlight) -> Result<(), Refusal> {
        let DrivenFlight { unit, n_moved } = *flight;
        match unit.direction {
            Direction::Read | Direction::Write | Direction::Sync | Direction::Datasync => {}
            Direction::Trim => return Err(refuse("nfs: trim is not supported", "files of NFS have no trims")),
            _ => return Err(refuse("nfs: unhandled io 3", "a server syncs whole files")),
        }
        let Some(session) = &mut self.session else { return Err(IoResult::END_OF_DATA.into()) };
        let handle = match self.targets.get(unit.file_index as usize) {
            Some(NfsTarget::Open(handle)) => *handle,
            _ => return Err(IoResult::END_OF_DATA.into()),
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
            let complaint = Complaint {
                step: "td_io_queue",
                line: Some(format!("nfs: Failed to queue nfs op: {}", error.text)),
                why: error.text.contains("Failed to encode").then(|| TOO_LONG.to_owned()),
            };
            Refusal { result: error_result(Errno::IO), complaint: Some(complaint) }
        })
    }

    fn push(&mut self) -> LineState {
        self.session.as_mut().map_or(LineState::Alive, NfsSession::push)
    }

    fn turn(&mut self, limit: Duration) -> LineState {
        self.session.as_mut().map_or(LineState::Lost, |session| session.turn(limit))
    }

    fn take_answer(&mut self) -> Option<(u32, i32)> {
        self.session.as_mut().and_then(NfsSession::take_done)
    }

    fn judge(&mut self, flight: &DrivenFlight, status: i32) -> Judgement {
        let DrivenFlight { unit, n_moved } = *flight;
        let Ok(n_bytes) = usize::try_from(status) else {
            return Judgement::Done(error_result(Errno::from_raw_os_error(status.saturating_neg())));
        };
        if !matches!(unit.direction, Direction::Read | Direction::Write) {
            return Judgement::Done(IoResult::done(unit.length_bytes));
        }
        let n_moved = n_moved + n_bytes;
        let is_read = unit.direction == Direction::Read;
        if n_moved == 0 && is_read {
            // As in fio, it is said, and the read counts as one of no bytes.
            let line = "Got NFS EOF, this is probably not expected".to_owned();
            let complaint = Complaint { step: "io_u error", line: Some(line), why: None };
            return Judgement::Failed(Refusal { result: IoResult::done(0), complaint: Some(complaint) });
        }
        if n_moved >= unit.length_bytes || (n_bytes == 0 && is_read) {
            return Judgement::Done(IoResult::done(n_moved));
        }
        if n_bytes == 0 {
            return Judgement::Done(error_result(Errno::IO));
        }
        Judgement::Missing(DrivenFlight { n_moved, ..*flight })
    }

    fn hint(&self, _unit: &IoUnit, errno: Errno) -> Option<&'static str> {
        match errno {
            Errno::NOSPC | Errno::DQUOT => Some("the file system of the server is full, or a quota is reached"),
            Errno::STALE => {
                Some("the server does not know the file any more: it was removed, or its export has changed")
            }
            Errno::PERM | Errno::ACCESS => {
                Some("the server refuses it; see uid and gid in the address, and the export")
            }
            Errno::ROFS => Some("the server exports the file system read-only"),
            _ => None,
        }
    }

    fn server_steps(&self) -> ServerSteps {
        let mut steps = self.steps.clone();
        self.session.iter().filter_map(NfsSession::tcp_counts).for_each(|counts| steps.network.add(counts));
        steps
    }
}
