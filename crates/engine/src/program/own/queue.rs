//! `ioengine=own_async`: storage of the program around the run that has many I/Os in flight.
//!
//! The storage is handed each I/O with its buffer, and says from any thread that it is done. Must not know: loops.
//! Start reading at [`StorageQueue`].
#![expect(unsafe_code, reason = "the buffer of an I/O in flight is a place in the buffer area")]

use super::{StorageAccess, asked_for, errno_of, failed};
use crate::contract::parts::Complaint;
use crate::contract::{Cancellation, Engine, EngineError, EngineSetup, IoResult, IoUnit, JobFacts, Prepare, Prepared};
use crate::files::control::error_result;
use crate::servers::clients::driver::{AwaitedStep, ClientEngine, ClientLink, ClientPlan};
use crate::servers::clients::mailbox::{ClientEnd, ClientMail, Ticket};
use crate::servers::remote::silence::MOST_SILENCE;
use ferrio_stats::IoKind;
use ferrio_sys::Errno;
use ferrio_sys::arena::Region;
use ferrio_units::Direction;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

const NAME: &str = "own_async";

pub(crate) const PREPARE: Prepare = |options| Ok(Box::new(IdleQueue(asked_for(NAME, options)?)));

/// A job that asks a storage for a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageJob<'a> {
    pub name: &'a str,
    /// Most I/Os in flight.
    pub iodepth: u32,
    /// Number of targets; their indexes are below it.
    pub n_targets: u32,
    pub max_io_bytes: usize,
}

/// I/Os in flight of a job on a storage ([`Storage::queue`](super::Storage::queue)).
///
/// Calls come from the thread of the job. The queue is dropped when the job ends, but left alone if I/Os are in flight that did not end
/// in time; those may be completed later, or dropped. A storage that ends no I/O for two minutes is gone: what is in flight fails with
/// ETIMEDOUT.
pub trait StorageQueue: Send {
    /// Opens a target. It may not wait for long.
    ///
    /// # Errors
    /// It cannot be opened: the job fails.
    fn open(&mut self, target_index: u32, name: &str, access: StorageAccess) -> io::Result<()>;

    /// Starts an I/O. [`StorageIo::complete`] says that it is done, within this call or later, from any thread.
    ///
    /// No more than the job's depth are in flight. The call may not wait for the I/O, or the job has only one in flight.
    fn submit(&mut self, io: StorageIo);
}

/// An I/O in flight, with its buffer. One that is dropped without a result fails with EIO.
#[derive(Debug)]
pub struct StorageIo {
    kind: IoKind,
    target_index: u32,
    offset_bytes: u64,
    length_bytes: usize,
    /// Of reads and writes; empty for others.
    block: Region,
    reply: Option<Reply>,
}

/// Where the result of an I/O goes.
struct Reply {
    mailbox: Arc<ClientMail>,
    slot: u32,
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reply").field("slot", &self.slot).finish_non_exhaustive()
    }
}

impl StorageIo {
    /// What is to be done: a read fills the buffer, a write stores it, a trim discards a range, a sync makes all that has completed before durable.
    pub const fn kind(&self) -> IoKind {
        self.kind
    }

    pub const fn target_index(&self) -> u32 {
        self.target_index
    }

    /// First byte in the target; 0 for syncs.
    pub const fn offset_bytes(&self) -> u64 {
        self.offset_bytes
    }

    /// Number of bytes; 0 for syncs.
    pub const fn length_bytes(&self) -> usize {
        self.length_bytes
    }

    /// The data of a write; empty for trims and syncs.
    pub fn data(&self) -> &[u8] {
        // SAFETY: the loop leaves the block alone until the I/O has ended, which this value says once; the area is never freed
        // while an I/O is in flight (`driver`).
        unsafe { self.block.as_slice() }
    }

    /// The place for the data of a read; empty for trims and syncs. The data of a write may be changed in it, too.
    pub fn buffer(&mut self) -> &mut [u8] {
        // SAFETY: as above, and there is only this value for the block.
        unsafe { self.block.as_mut_slice() }
    }

    /// Ends the I/O: the number of bytes that were moved, fewer than its length at the end of the target; of trims and syncs the number
    /// has no meaning. An error without an errno is EIO.
    pub fn complete(mut self, result: io::Result<usize>) {
        let result = match result {
            Ok(n_bytes) => i64::try_from(n_bytes.min(self.length_bytes)).unwrap_or(i64::MAX),
            Err(error) => -i64::from(errno_of(&error)),
        };
        self.send(result);
    }

    fn send(&mut self, result: i64) {
        if let Some(Reply { mailbox, slot }) = self.reply.take() {
            mailbox.put(ClientEnd { slot, result });
        }
    }
}

impl Drop for StorageIo {
    fn drop(&mut self) {
        self.send(-i64::from(Errno::IO.raw_os_error()));
    }
}

/// The engine before it is started.
struct IdleQueue(Arc<dyn super::Storage>);

impl Prepared for IdleQueue {
    fn target_bytes(&self, name: &Path, _cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        let name = name.to_string_lossy();
        self.0.size_bytes(&name).map(Some).map_err(|source| failed(NAME, "size", &name, source))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let job = StorageJob {
            name: &setup.job.name,
            iodepth: setup.iodepth,
            n_targets: setup.n_files,
            max_io_bytes: setup.max_block_bytes,
        };
        let queue = self.0.queue(&job).map_err(|source| failed(NAME, "queue", job.name, source))?;
        let access = StorageAccess { writes: setup.job.writes || setup.job.trims };
        let made = Mutex::new(Some(QueueLink { queue, access }));
        let connect = move |_: &JobFacts| {
            let link = made.lock().unwrap_or_else(PoisonError::into_inner).take();
            link.ok_or_else(|| failed(NAME, "queue", "the job", Errno::ALREADY.into()))
        };
        let plan = ClientPlan {
            engine: NAME,
            connect: Arc::new(connect),
            awaited: AwaitedStep::default(),
            spins: false,
            waits: false,
            most_silence: MOST_SILENCE,
        };
        Ok(Box::new(ClientEngine::new(plan, setup)))
    }
}

struct QueueLink {
    queue: Box<dyn StorageQueue>,
    access: StorageAccess,
}

impl ClientLink for QueueLink {
    type Request = ();

    fn begin(&mut self, unit: &IoUnit, block: Region, ticket: *const Ticket) -> Result<(), Errno> {
        let (kind, length_bytes) = match unit.direction {
            Direction::Read => (IoKind::Read, unit.length_bytes),
            Direction::Write => (IoKind::Write, unit.length_bytes),
            Direction::Trim => (IoKind::Trim, unit.length_bytes),
            Direction::Sync | Direction::Datasync => (IoKind::Sync, 0),
            Direction::SyncFileRange | Direction::Syncfs => return Err(Errno::OPNOTSUPP),
        };
        // SAFETY: a ticket lives until the loop has the result of its I/O, and this one has just begun.
        let (mailbox, slot) = unsafe { &*ticket }.reply();
        self.queue.submit(StorageIo {
            kind,
            target_index: unit.file_index,
            offset_bytes: unit.offset_bytes,
            length_bytes,
            block,
            reply: Some(Reply { mailbox, slot }),
        });
        Ok(())
    }

    fn end(&mut self, unit: &IoUnit, _block: Region, result: i64) -> IoResult {
        match usize::try_from(result) {
            Ok(n_moved) if matches!(unit.direction, Direction::Read | Direction::Write) => {
                IoResult::done(n_moved.min(unit.length_bytes))
            }
            Ok(_) => IoResult::done(unit.length_bytes),
            Err(_) => error_result(Errno::from_raw_os_error((-result) as i32)),
        }
    }

    fn open_file(&mut self, index: u32, name: &Path) -> Result<(), EngineError> {
        let name = name.to_string_lossy();
        self.queue.open(index, &name, self.access).map_err(|source| failed(NAME, "open", &name, source))
    }

    fn complaint(&self, unit: &IoUnit, _errno: Errno) -> Option<Complaint> {
        matches!(unit.direction, Direction::SyncFileRange | Direction::Syncfs).then(|| Complaint {
            step: "xfer",
            line: None,
            why: Some("a storage has no other sync than that of fsync and fdatasync".to_owned()),
        })
    }
}
