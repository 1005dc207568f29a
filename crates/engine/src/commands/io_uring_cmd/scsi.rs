//! `cmd_type=bsg`: SCSI commands in the ring, to `/dev/bsg/H:C:T:L`. Linux 7.
//!
//! Reads, writes, trims (UNMAP of one range) and syncs (SYNCHRONIZE CACHE of the whole medium) are commands in the ring. The size of a
//! target is what READ CAPACITY says. Facts: reference engines.md, section 8. Must not know: batches, depths. Start reading at
//! [`prepare`], then [`Disks`].
#![expect(unsafe_code, reason = "commands point into the buffer area")]

mod terms;

use super::{NAME, wrong_kind};
use crate::commands::scsi::blocks;
use crate::contract::options::EngineOptions;
use crate::contract::parts::FailureDetails;
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepared,
    Queued, push_in_room,
};
use crate::files::control;
use crate::files::fd_table::FdTable;
use crate::files::io_uring::explain;
use crate::files::io_uring::options::EveryNth;
use crate::files::io_uring::traffic::Traffic;
use ferrio_stats::note::ScsiStatus;
use ferrio_sys::arena::{Arena, ArenaKind, ArenaRequest};
use ferrio_sys::file::{FileInfo, FileKind, OpenRequest};
use ferrio_sys::scsi::bsg;
use ferrio_sys::scsi::capacity::Capacity;
use ferrio_sys::scsi::cdb::{Cdb, UNMAP_HEAD_BYTES, UNMAP_RANGE_BYTES, unmap_list};
use ferrio_sys::scsi::queue::ScsiData;
use ferrio_sys::uring::{
    CommandCompletion, CommandRequest, CommandRing, RingFd, RingOf, RingRequest, RingScsiCommand, ScsiSlots,
};
use ferrio_sys::{Clock, Errno};
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::rc::Rc;
use terms::BsgTerms;

const LIST_BYTES: usize = UNMAP_HEAD_BYTES + UNMAP_RANGE_BYTES;

/// Checks the options of a job with `cmd_type=bsg`.
pub(super) fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    Ok(Box::new(Idle { terms: BsgTerms::parse(options)? }))
}

/// The engine before it is started.
struct Idle {
    terms: BsgTerms,
}

/// The disks of a job. The ring is the first field: dropping it waits for all I/Os in flight, after which the memory may be dropped.
struct Disks {
    ring: CommandRing,
    slots: ScsiSlots,
    arena: Rc<RefCell<Arena>>,
    /// By slot: the range of a trim.
    lists: Arena,
    terms: BsgTerms,
    fds: FdTable,
    /// By file: bytes of a block of those that are open.
    block_bytes: Vec<Option<u32>>,
    /// By slot: the length that a command has when it succeeds.
    lengths: Vec<usize>,
    n_queued: u32,
    forced_async: EveryNth,
}

fn capacity(device: impl AsFd) -> Result<Capacity, EngineError> {
    Capacity::of_bsg(device).map_err(|_| EngineError::Unfit {
        step: "get_file_size",
        what: "the device does not tell its size (READ CAPACITY)".to_owned(),
        is_named: true,
        errno: libc::EIO,
    })
}

impl Prepared for Idle {
    fn target_bytes(&self, name: &Path, _cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        if !FileInfo::of_path(name).is_ok_and(|info| info.kind == FileKind::Character) {
            return Err(wrong_kind());
        }
        let device = OpenRequest::default()
            .open(name)
            .map_err(|source| EngineError::Target { step: format!("open({})", name.display()), source })?;
        capacity(&device).map(|capacity| Some(capacity.bytes()))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let terms = self.terms;
        terms.check(&setup.job)?;
        let of_ring = &terms.ring;
        let request =
            RingRequest { is_iopoll: of_ring.is_iopoll, sqpoll: of_ring.sqpoll, ..RingRequest::new(setup.iodepth) };
        let ring =
            CommandRing::new(&request).map_err(|error| explain::ring(NAME, of_ring, setup.iodepth, error.errno()))?;
        if of_ring.has_registered_files {
            ring.register_file_table(setup.n_files)
                .map_err(|error| explain::files(NAME, setup.n_files, error.errno()))?;
        }
        let n_slots = setup.iodepth as usize;
        let memory = ArenaRequest {
            kind: ArenaKind::Malloc,
            size_bytes: n_slots * LIST_BYTES,
            offset_bytes: 0,
            hugepage_bytes: 0,
        };
        let lists = Arena::new(&memory).map_err(|error| EngineError::Failed {
            engine: NAME,
            step: "init",
            what: "memory for the ranges of trims".to_owned(),
            source: io::Error::from_raw_os_error(error.errno().unwrap_or(libc::ENOMEM)),
        })?;
        Ok(Box::new(Disks {
            ring,
            slots: ScsiSlots::new(setup.iodepth),
            fds: FdTable::of(&setup),
            arena: setup.arena,
            lists,
            block_bytes: vec![None; setup.n_files as usize],
            lengths: vec![0; n_slots],
            n_queued: 0,
            forced_async: EveryNth::new(of_ring.force_async_every),
            terms,
        }))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        terms::hint(unit, errno)
    }
}

impl Disks {
    fn request(&mut self, unit_index: u32, unit: &IoUnit) -> Result<RingScsiCommand, Errno> {
        let fd = if self.terms.ring.has_registered_files {
            RingFd::Registered(unit.file_index)
        } else {
            RingFd::Open(self.fds.get(unit.file_index)?.as_raw_fd())
        };
        let block_bytes = self.block_bytes.get(unit.file_index as usize).copied().flatten().ok_or(Errno::BADF)?;
        let (cdb, data) = match unit.direction {
            Direction::Read | Direction::Write => {
                let area = self.arena.borrow().region(unit.buffer_offset, unit.length_bytes);
                self.terms.transfer(unit, block_bytes, area)?
            }
            Direction::Trim => {
                let range = blocks(unit, block_bytes)?;
                let place = unit_index as usize * LIST_BYTES;
                let length = unmap_list(std::iter::once(range), self.lists.slice_mut(place, LIST_BYTES));
                (Cdb::unmap(length), ScsiData::ToDevice(self.lists.region(place, length.into())))
            }
            Direction::Sync | Direction::Datasync => (self.terms.sync(), ScsiData::Nothing),
            Direction::SyncFileRange | Direction::Syncfs => return Err(Errno::INVAL),
        };
        let is_forced_async = unit.direction.data().is_some() && self.forced_async.takes_turn();
        Ok(RingScsiCommand { fd, cdb, data, is_forced_async })
    }
}

impl Traffic for Disks {
    type Requests = CommandRequest;
    type Completions = CommandCompletion;

    fn ring(&mut self) -> &mut RingOf<CommandRequest, CommandCompletion> {
        &mut self.ring
    }

    fn has_polling_thread(&self) -> bool {
        self.terms.ring.sqpoll.is_some()
    }

    fn n_queued(&mut self) -> &mut u32 {
        &mut self.n_queued
    }

    fn pop(&mut self, n_max: usize, completions: &mut Vec<Completion>) {
        let Self { ring, slots, lengths, .. } = self;
        ring.pop_scsi(n_max as u32, slots, |done| {
            let result = match (done.result, done.is_well) {
                (0, true) => IoResult::done(lengths[done.slot as usize]),
                (errno @ ..0, true) => IoResult::of_call(i64::from(errno)),
                _ => IoResult::failed(libc::EIO),
            };
            push_in_room(completions, Completion { unit_index: done.slot, result });
        });
    }
}

impl Engine for Disks {
    fn has_kernel_workers(&self) -> bool {
        true
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let OpenTarget::Descriptor(fd) = file.target else { return Ok(()) };
        self.block_bytes[file.index as usize] = Some(capacity(fd)?.block_bytes);
        self.fds.open(file);
        if !self.terms.ring.has_registered_files {
            return Ok(());
        }
        self.ring.set_registered_file(file.index, Some(fd)).map_err(|error| explain::files(NAME, 1, error.errno()))
    }

    fn close_file(&mut self, file_index: u32) {
        self.fds.close(file_index);
        self.block_bytes[file_index as usize] = None;
        if self.terms.ring.has_registered_files {
            // A file that is not taken out of the table merely stays open.
            let _ = self.ring.set_registered_file(file_index, None);
        }
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let request = match self.request(unit_index, unit) {
            Ok(request) => request,
            Err(errno) => return Queued::Completed(control::error_result(errno)),
        };
        self.lengths[unit_index as usize] = unit.length_bytes;
        // Its memory stays where it is.
        let mut slots = std::mem::take(&mut self.slots);
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot, and does not close the file,
        // until the unit is reaped; the area, the lists and the slots live as long as `self`, whose ring waits when dropped.
        let queued = self.push_or_wait(|ring| unsafe { ring.push_scsi(unit_index, &request, &mut slots) });
        self.slots = slots;
        queued
    }

    fn commit(&mut self) -> io::Result<u32> {
        self.submit_queued()
    }

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
        terms::hint(unit, errno)
    }

    fn sync_apart(&mut self, file_index: u32) -> Option<i32> {
        let fd = self.fds.get(file_index).ok()?;
        // SAFETY: the command has no data.
        let done = unsafe { bsg::run(fd, self.terms.sync(), ScsiData::Nothing) };
        Some(done.map_or_else(Errno::raw_os_error, |()| 0))
    }

    fn failures(&mut self) -> Option<&mut dyn FailureDetails> {
        Some(self)
    }
}

impl FailureDetails for Disks {
    fn take_scsi_status(&mut self, unit_index: u32) -> Option<Box<ScsiStatus>> {
        self.slots.take_fault(unit_index).map(Box::new)
    }
}
