//! `ioengine=io_uring`: requests by a submission ring, completions from a mapped ring.
//!
//! If completions are in the ring already, the engine takes them without a system call; otherwise it enters the kernel
//! once for all that it wants. As in fio (seen by strace), the ring carries syncs and `sync_file_range`, and also trims
//! of block devices. Some calls are done in the thread of the job, after everything queued before them was submitted:
//! `syncfs`, and trims that the kernel (before 6.12) or the device refuses as a request. A ring with `hipri` carries
//! neither syncs nor trims, so they are done in the thread too.
//! Must not know: batches, depths. Start reading at `Uring`, then `Running` and `options`.
#![expect(unsafe_code, reason = "requests point into the buffer area")]

pub(crate) mod buffers;
pub(crate) mod explain;
pub(crate) mod options;
mod protected;
pub(crate) mod traffic;

use crate::contract::{
    Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepare, Prepared, Queued,
    push_in_room,
};
use crate::files::control;
use crate::files::fd_table::FdTable;
use buffers::{Windows, register};
use ferrio_sys::Clock;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::uring::{
    BufferForm, Discard, IoRing, RingCompletion, RingFd, RingIo, RingRequest, SmallCompletion, SmallRequest, SyncKind,
};
use ferrio_units::Direction;
use options::{EveryNth, UringOptions, Vectoring};
use protected::{MetadataOptions, Protected};
use std::cell::RefCell;
use std::io;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use traffic::Traffic;

const NAME: &str = "io_uring";

/// Most bytes that the kernel moves in one I/O (`MAX_RW_COUNT`); a request has 32 bits for its length.
const MAX_IO_BYTES: usize = 0x7fff_f000;

pub(crate) const PREPARE: Prepare = |options| {
    let metadata = MetadataOptions::parse(options)?;
    Ok(Box::new(Uring { options: UringOptions::parse(options)?, metadata }))
};

/// The engine before it is started.
struct Uring {
    options: UringOptions,
    /// Reads and writes have protection information.
    metadata: Option<MetadataOptions>,
}

/// The ring is the first field: dropping it waits for all I/Os in flight, after which the buffers may be dropped.
struct Running {
    ring: IoRing,
    arena: Rc<RefCell<Arena>>,
    options: UringOptions,
    fds: FdTable,
    /// For jobs with registered buffers.
    windows: Option<Windows>,
    is_plain: bool,
    /// By slot: the length that a sync or trim reports; 0 for reads and writes.
    sync_lengths: Vec<IoResult>,
    /// By slot: the trim that is in the ring.
    trims: Vec<Option<IoUnit>>,
    /// By file: trims of this file go through the ring until the kernel refuses one.
    trims_by_ring: Vec<bool>,
    /// Units queued whose submission was not yet reported by `commit`.
    n_queued: u32,
    /// Reads and writes that are forced to a worker.
    forced_async: EveryNth,
}

impl Running {
    fn new(options: &UringOptions, setup: EngineSetup) -> Result<Self, EngineError> {
        let request =
            RingRequest { is_iopoll: options.is_iopoll, sqpoll: options.sqpoll, ..RingRequest::new(setup.iodepth) };
        let ring = IoRing::new(&request).map_err(|error| explain::ring(NAME, options, setup.iodepth, error.errno()))?;
        if options.has_registered_files {
            ring.register_file_table(setup.n_files)
                .map_err(|error| explain::files(NAME, setup.n_files, error.errno()))?;
        }
        Ok(Self {
            is_plain: match options.vectoring {
                Vectoring::Plain => true,
                Vectoring::Vectored => false,
                Vectoring::Probe => ring.supports_plain_io(),
            },
            windows: None,
            sync_lengths: vec![IoResult::done(0); setup.iodepth as usize],
            trims: vec![None; setup.iodepth as usize],
            trims_by_ring: vec![false; setup.n_files as usize],
            n_queued: 0,
            forced_async: EveryNth::new(options.force_async_every),
            options: *options,
            fds: FdTable::of(&setup),
            arena: setup.arena,
            ring,
        })
    }

    #[inline]
    fn fd_of(&self, unit: &IoUnit) -> Result<RingFd, Errno> {
        if self.options.has_registered_files {
            return Ok(RingFd::Registered(unit.file_index));
        }
        self.fds.get(unit.file_index).map(|fd| RingFd::Open(fd.as_raw_fd()))
    }

    /// The sync that a ring can do for a unit.
    fn sync_of(&self, unit: &IoUnit) -> Option<SyncKind> {
        if self.options.is_iopoll {
            return None;
        }
        match unit.direction {
            Direction::Sync => Some(SyncKind::All),
            Direction::Datasync => Some(SyncKind::Data),
            // Longer ranges do not fit into a request; they are done in the thread of the job.
            Direction::SyncFileRange => u32::try_from(unit.length_bytes).ok().map(|len| SyncKind::Range {
                offset: unit.offset_bytes,
                len,
                flags: unit.sync_flags,
            }),
            _ => None,
        }
    }

    fn queue_control(&mut self, unit_index: u32, unit: &IoUnit, fd: RingFd) -> Queued {
        if unit.direction == Direction::Trim && self.trims_by_ring.get(unit.file_index as usize) == Some(&true) {
            return self.queue_trim(unit_index, fd, unit);
        }
        let Some(kind) = self.sync_of(unit) else {
            return if self.n_queued == 0 { Queued::Completed(control::run(&self.fds, unit)) } else { Queued::Busy };
        };
        // SAFETY: by the contract of engines the file stays open until the unit is reaped.
        self.push(unit_index, IoResult::done(unit.length_bytes), |ring| unsafe { ring.push_sync(unit_index, fd, kind) })
    }

    #[inline]
    fn form_of(&self, unit: &IoUnit) -> BufferForm {
        match self.windows {
            Some(windows) => BufferForm::Registered(windows.index_of(unit.buffer_offset)),
            None if self.is_plain => BufferForm::Plain,
            None => BufferForm::Vector,
        }
    }

    /// The request of a read or write.
    #[inline]
    fn io_of(&mut self, unit: &IoUnit, fd: RingFd) -> RingIo {
        let rw_flags = self.options.flags.of(unit.direction).bits();
        let is_forced_async = self.forced_async.takes_turn();
        RingIo {
            is_write: unit.direction == Direction::Write,
            fd,
            region: self.arena.borrow().region(unit.buffer_offset, unit.length_bytes.min(MAX_IO_BYTES)),
            form: self.form_of(unit),
            offset: unit.offset_bytes,
            rw_flags,
            io_priority: unit.ioprio,
            is_forced_async,
        }
    }

    /// Pushes a request. With a polling kernel thread it waits for room first.
    #[inline]
    fn push(&mut self, unit_index: u32, sync_length: IoResult, push: impl FnMut(&mut IoRing) -> bool) -> Queued {
        let queued = self.push_or_wait(push);
        if queued == Queued::Queued {
            self.sync_lengths[unit_index as usize] = sync_length;
        }
        queued
    }

    fn queue_trim(&mut self, unit_index: u32, fd: RingFd, unit: &IoUnit) -> Queued {
        let discard = Discard { offset: unit.offset_bytes, length: unit.length_bytes as u64 };
        // SAFETY: by the contract of engines the file stays open until the unit is reaped.
        let queued = self.push(unit_index, IoResult::done(unit.length_bytes), |ring| unsafe {
            ring.push_discard(unit_index, fd, discard)
        });
        if queued == Queued::Queued {
            self.trims[unit_index as usize] = Some(*unit);
        }
        queued
    }
}

impl Traffic for Running {
    type Requests = SmallRequest;
    type Completions = SmallCompletion;

    #[inline]
    fn ring(&mut self) -> &mut IoRing {
        &mut self.ring
    }

    #[inline]
    fn has_polling_thread(&self) -> bool {
        self.options.sqpoll.is_some()
    }

    #[inline]
    fn n_queued(&mut self) -> &mut u32 {
        &mut self.n_queued
    }

    #[inline]
    fn pop(&mut self, n_max: usize, completions: &mut Vec<Completion>) {
        let Self { sync_lengths, trims, trims_by_ring, fds, .. } = self;
        self.ring.pop(n_max as u32, |done| {
            let result = match done.result {
                1.. => IoResult::of_call(i64::from(done.result)),
                0 => {
                    // The trim is done; without this, the next error of this slot would count as the error of a trim.
                    trims[done.slot as usize] = None;
                    sync_lengths[done.slot as usize]
                }
                _ => failed(done, trims, trims_by_ring, fds),
            };
            push_in_room(completions, Completion { unit_index: done.slot, result });
        });
    }
}

/// The result of a request that failed. A trim that the kernel or the device refuses as a request is done at once in
/// the thread, and so are later trims of its file.
#[cold]
fn failed(done: RingCompletion, trims: &mut [Option<IoUnit>], trims_by_ring: &mut [bool], fds: &FdTable) -> IoResult {
    let result = IoResult::of_call(i64::from(done.result));
    match trims[done.slot as usize].take() {
        Some(unit) if matches!(-done.result, libc::EOPNOTSUPP | libc::EINVAL) => {
            trims_by_ring[unit.file_index as usize] = false;
            control::run(fds, &unit)
        }
        _ => result,
    }
}

impl Prepared for Uring {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let mut options = self.options;
        options.flags = options.flags.with_atomic(setup.atomic);
        let (max_block_bytes, job) =
            (setup.max_block_bytes, self.metadata.map(|metadata| (metadata, setup.job.clone())));
        let mut running = Running::new(&options, setup)?;
        if options.has_fixed_buffers {
            // SAFETY: the area lives as long as `running`, whose ring is dropped first.
            running.windows = Some(unsafe { register(NAME, &running.ring, &running.arena.borrow(), max_block_bytes) }?);
        }
        match job {
            Some((metadata, job)) => Ok(Box::new(Protected::new(running, metadata, job)?)),
            None => Ok(Box::new(running)),
        }
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        explain::io(&self.options, unit, errno)
    }
}

impl Engine for Running {
    fn has_kernel_workers(&self) -> bool {
        true
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let OpenTarget::Descriptor(fd) = file.target else { return Ok(()) };
        self.fds.open(file);
        if file.writable && !self.options.is_iopoll {
            let is_block = FileInfo::of_file(&fd).is_ok_and(|info| info.kind == FileKind::Block);
            self.trims_by_ring[file.index as usize] = is_block;
        }
        if !self.options.has_registered_files {
            return Ok(());
        }
        self.ring.set_registered_file(file.index, Some(fd)).map_err(|error| explain::files(NAME, 1, error.errno()))
    }

    fn close_file(&mut self, file_index: u32) {
        self.fds.close(file_index);
        if self.options.has_registered_files {
            // A file that is not taken out of the table merely stays open.
            let _ = self.ring.set_registered_file(file_index, None);
        }
    }

    #[inline]
    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let fd = match self.fd_of(unit) {
            Ok(fd) => fd,
            Err(errno) => return Queued::Completed(control::error_result(errno)),
        };
        if control::is_control(unit.direction) {
            return self.queue_control(unit_index, unit, fd);
        }
        let io = self.io_of(unit, fd);
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot, and does not
        // close the file, until the unit is reaped; the area lives as long as `self`, whose ring waits when dropped.
        self.push(unit_index, IoResult::done(0), |ring| unsafe { ring.push_io(unit_index, &io) })
    }

    #[inline]
    fn commit(&mut self) -> io::Result<u32> {
        self.submit_queued()
    }

    #[inline]
    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.take(min, max, completions)
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.take_until(max, until_ns, clock, completions)
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        explain::io(&self.options, unit, errno)
    }
}

#[cfg(test)]
mod tests;
