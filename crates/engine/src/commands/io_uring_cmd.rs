//! `ioengine=io_uring_cmd`: commands of the device's own, past the block layer, by a ring: NVMe commands to the character device of
//! a namespace (`/dev/ngXnY`), or SCSI commands to a disk (`scsi`).
//!
//! All I/Os are commands in the ring: reads, writes (by one of several commands), trims (dataset management) and syncs (flush). Only
//! `syncfs` is a call in the thread of the job. The size of a target is what the namespace says.
//! Must not know: batches, depths. Start reading at [`Passthrough`], then [`Commands`], then `geometry`, `encoding`.
#![expect(unsafe_code, reason = "commands point into the buffer area")]

mod encoding;
mod geometry;
mod options;
mod placement;
mod scsi;
mod status;
mod write_mode;

use crate::commands::payloads::{CheckedReads, Payloads};
use crate::commands::protection::Protection;
use crate::contract::parts::{BlockTraits, DeviceCommands, FailureDetails, TagMismatch, WriteContent};
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, JobFacts, OpenTarget,
    Outcome, Prepare, Prepared, Queued, push_in_room,
};
use crate::files::control;
use crate::files::fd_table::FdTable;
use crate::files::io_uring::buffers::{Windows, register};
use crate::files::io_uring::explain;
use crate::files::io_uring::options::{EveryNth, Vectoring};
use crate::files::io_uring::traffic::Traffic;
use crate::mix::MixDraws;
use ferrio_spec::engines::options::io_uring::{CMD_TYPE, CommandType};
use ferrio_sys::arena::{Arena, Region};
use ferrio_sys::file::{FileInfo, FileKind, OpenRequest};
use ferrio_sys::nvme::NvmeCommand;
use ferrio_sys::uring::{
    CommandCompletion, CommandData, CommandRequest, CommandRing, RingCommand, RingFd, RingOf, RingRequest,
};
use ferrio_sys::{Clock, Errno};
use ferrio_units::Direction;
use geometry::{Blocks, Geometry};
use options::CommandOptions;
use placement::Placements;
use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::rc::Rc;
use write_mode::WriteMode;

const NAME: &str = "io_uring_cmd";

pub(crate) const PREPARE: Prepare = |options| match options.get(&CMD_TYPE) {
    CommandType::Bsg => scsi::prepare(options),
    CommandType::Nvme => Ok(Box::new(Passthrough { options: CommandOptions::parse(options)? })),
};

/// The engine before it is started.
struct Passthrough {
    options: CommandOptions,
}

/// The ring is the first field: dropping it waits for all I/Os in flight, after which the memory may be dropped.
struct Commands {
    ring: CommandRing,
    arena: Rc<RefCell<Arena>>,
    /// What commands need beside their data, by slot: the ranges of a trim, or metadata in a buffer of their own.
    payloads: Payloads,
    options: CommandOptions,
    fds: FdTable,
    /// By file, of those that are open.
    geometries: Vec<Option<Geometry>>,
    /// For jobs with registered buffers.
    windows: Option<Windows>,
    slots: Vec<SlotState>,
    /// Reads are comparisons at present.
    is_comparing: bool,
    /// Units queued whose submission was not yet reported by `commit`.
    n_queued: u32,
    /// Reads and writes that are forced to a worker.
    forced_async: EveryNth,
    write_modes: MixDraws<WriteMode>,
    /// The directives of writes, if the job wants some.
    placements: Option<Placements>,
    /// Reads whose protection information is checked here.
    checked: CheckedReads,
    job: JobFacts,
}

/// What belongs to the next command of a slot, or to the one in flight.
#[derive(Debug, Clone, Copy)]
struct SlotState {
    /// The length that the command reports if it succeeds.
    length: IoResult,
    /// The command of its write, if it was chosen already.
    mode: Option<WriteMode>,
    /// Number of ranges of its trim, which are in its payload; 0: the trim has the one of the unit.
    ranges: Result<u32, Errno>,
}

/// The file is none whose commands this engine sends.
fn wrong_kind() -> EngineError {
    let what = "ioengine io_uring_cmd only works with nvme ns generic char devices (/dev/ngXnY)".to_owned();
    EngineError::Unfit { step: "get_file_size", what, is_named: false, errno: libc::EINVAL }
}

impl Prepared for Passthrough {
    fn target_bytes(&self, name: &Path, _cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        if !FileInfo::of_path(name).is_ok_and(|info| info.kind == FileKind::Character) {
            return Err(wrong_kind());
        }
        let device = OpenRequest::default()
            .open(name)
            .map_err(|source| EngineError::Target { step: format!("open({})", name.display()), source })?;
        Geometry::of(&device, &self.options).map(|geometry| Some(geometry.total_bytes()))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let options = self.options;
        if options.write_modes.have(WriteMode::ZoneAppend) && !setup.job.has_zones {
            let what = "io_uring_cmd with write_mode=zone_append requires zonemode=zbd".to_owned();
            return Err(EngineError::Unfit { step: "init", what, is_named: false, errno: libc::EINVAL });
        }
        let (has_fixed_buffers, max_block_bytes) = (options.ring.has_fixed_buffers, setup.max_block_bytes);
        let mut commands = Commands::new(options, setup)?;
        if has_fixed_buffers {
            // SAFETY: the area lives as long as `commands`, whose ring is dropped first.
            commands.windows =
                Some(unsafe { register(NAME, &commands.ring, &commands.arena.borrow(), max_block_bytes) }?);
        }
        Ok(Box::new(commands))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        status::errno_hint(unit, errno)
    }
}

impl Commands {
    fn new(options: CommandOptions, setup: EngineSetup) -> Result<Self, EngineError> {
        let of_ring = &options.ring;
        let request =
            RingRequest { is_iopoll: of_ring.is_iopoll, sqpoll: of_ring.sqpoll, ..RingRequest::new(setup.iodepth) };
        let ring =
            CommandRing::new(&request).map_err(|error| explain::ring(NAME, of_ring, setup.iodepth, error.errno()))?;
        if of_ring.has_registered_files {
            ring.register_file_table(setup.n_files)
                .map_err(|error| explain::files(NAME, setup.n_files, error.errno()))?;
        }
        let n_slots = setup.iodepth as usize;
        let ranges_bytes = encoding::RANGE_BYTES * setup.job.commands.ranges_per_trim.max(1) as usize;
        let payload_bytes = ranges_bytes.max(options.metadata_bytes as usize);
        let slot = SlotState { length: IoResult::done(0), mode: None, ranges: Ok(0) };
        Ok(Self {
            ring,
            fds: FdTable::of(&setup),
            arena: setup.arena,
            payloads: Payloads::new(NAME, n_slots, payload_bytes)?,
            write_modes: MixDraws::new(options.write_modes.clone(), setup.seed),
            placements: Placements::new(&setup.job.commands.placement, setup.n_files, setup.seed)?,
            checked: CheckedReads::new(n_slots),
            geometries: vec![None; setup.n_files as usize],
            windows: None,
            slots: vec![slot; n_slots],
            is_comparing: false,
            n_queued: 0,
            forced_async: EveryNth::new(of_ring.force_async_every),
            job: setup.job,
            options,
        })
    }

    #[inline]
    fn request(&mut self, unit_index: u32, unit: &IoUnit) -> Result<RingCommand, Errno> {
        let fd = if self.options.ring.has_registered_files {
            RingFd::Registered(unit.file_index)
        } else {
            RingFd::Open(self.fds.get(unit.file_index)?.as_raw_fd())
        };
        let geometry = match self.geometries.get(unit.file_index as usize) {
            Some(Some(geometry)) => *geometry,
            _ => return Err(Errno::BADF),
        };
        let id = geometry.namespace.id;
        let blocks = || geometry.blocks(unit.offset_bytes, unit.length_bytes);
        let (command, data, metadata) = match unit.direction {
            Direction::Read if self.is_comparing => self.compare(unit_index, unit, &geometry, blocks()?)?,
            Direction::Read => {
                let blocks = blocks()?;
                self.checked.note(unit_index, geometry.checks_here().then_some(*unit));
                let metadata = self.metadata(unit_index, &geometry, blocks)?;
                (encoding::read(&geometry, blocks, &self.options)?, self.data(unit), metadata)
            }
            Direction::Write => self.write(unit_index, unit, &geometry, blocks()?)?,
            Direction::Trim => {
                let n_ranges = match self.slots[unit_index as usize].ranges? {
                    0 => self.put_range(unit_index, 0, blocks()?).map(|()| 1)?,
                    n_ranges => n_ranges,
                };
                let ranges = self.payloads.region(unit_index, n_ranges as usize * encoding::RANGE_BYTES);
                (encoding::deallocate(id, n_ranges), CommandData::Plain(ranges), None)
            }
            Direction::Sync | Direction::Datasync => (encoding::flush(id), CommandData::None, None),
            Direction::SyncFileRange | Direction::Syncfs => return Err(Errno::INVAL),
        };
        let is_forced_async = unit.direction.data().is_some() && self.forced_async.takes_turn();
        Ok(RingCommand { fd, command, data, metadata, is_forced_async })
    }

    /// The command of a write, by the mode that is its turn, with its protection information.
    #[inline]
    fn write(
        &mut self,
        unit_index: u32,
        unit: &IoUnit,
        geometry: &Geometry,
        blocks: Blocks,
    ) -> Result<(NvmeCommand, CommandData, Option<Region>), Errno> {
        let mode = self.slots[unit_index as usize].mode.unwrap_or_else(|| self.write_modes.next());
        let mut command = encoding::write(mode, geometry, blocks, &self.options)?;
        if matches!(mode, WriteMode::Zeroes | WriteMode::Verify) {
            return Ok((command, CommandData::None, None));
        }
        if let Some(placements) = &mut self.placements {
            encoding::direct(&mut command, placements.next(unit.file_index, unit.offset_bytes));
        }
        let metadata = self.filled_metadata(unit_index, unit, geometry, blocks)?;
        Ok((command, self.data(unit), metadata))
    }

    /// A comparison of the data in the buffer of a read with those of the device.
    fn compare(
        &mut self,
        unit_index: u32,
        unit: &IoUnit,
        geometry: &Geometry,
        blocks: Blocks,
    ) -> Result<(NvmeCommand, CommandData, Option<Region>), Errno> {
        let metadata = self.filled_metadata(unit_index, unit, geometry, blocks)?;
        Ok((encoding::compare(geometry, blocks)?, self.data(unit), metadata))
    }

    /// Puts a range of a trim at its place in the payload of a slot.
    fn put_range(&mut self, unit_index: u32, index: usize, blocks: Blocks) -> Result<(), Errno> {
        let range = encoding::range(blocks)?;
        let end = (index + 1) * encoding::RANGE_BYTES;
        self.payloads.slice_mut(unit_index, end)[end - encoding::RANGE_BYTES..].copy_from_slice(&range);
        Ok(())
    }

    /// The same for all ranges of a trim; returns their number.
    fn put_all(&mut self, unit_index: u32, unit: &IoUnit, ranges: &[Range<u64>]) -> Result<u32, Errno> {
        let geometry = self.geometries.get(unit.file_index as usize).copied().flatten().ok_or(Errno::BADF)?;
        for (index, range) in ranges.iter().enumerate() {
            let blocks = geometry.blocks(range.start, (range.end - range.start) as usize)?;
            self.put_range(unit_index, index, blocks)?;
        }
        Ok(ranges.len() as u32)
    }

    /// The part of a slot for metadata of these blocks, with tuples where the host makes them.
    #[inline]
    fn filled_metadata(
        &mut self,
        unit_index: u32,
        unit: &IoUnit,
        geometry: &Geometry,
        blocks: Blocks,
    ) -> Result<Option<Region>, Errno> {
        let metadata = self.metadata(unit_index, geometry, blocks)?;
        if let Some(protection) = geometry.protection.filter(Protection::is_by_host) {
            let mut arena = self.arena.borrow_mut();
            let buffer = arena.slice_mut(unit.buffer_offset, unit.length_bytes);
            let apart = self.payloads.slice_mut(unit_index, metadata.map_or(0, Region::len));
            protection.fill(buffer, apart, blocks.first);
        }
        Ok(metadata)
    }

    /// The part of a slot for metadata of these blocks; `None`: they need none. EINVAL: there is too little room.
    #[inline]
    fn metadata(&self, unit_index: u32, geometry: &Geometry, blocks: Blocks) -> Result<Option<Region>, Errno> {
        let length = blocks.n.saturating_mul(geometry.apart_bytes);
        if length > u64::from(self.options.metadata_bytes) {
            return Err(Errno::INVAL);
        }
        Ok((length > 0).then(|| self.payloads.region(unit_index, length as usize)))
    }

    /// Checks the protection information of a read that the device has done; a mismatch is an error of the I/O.
    fn check(&mut self, unit_index: u32) -> Option<TagMismatch> {
        let unit = self.checked.done(unit_index)?;
        let geometry = self.geometries.get(unit.file_index as usize)?.as_ref()?;
        let blocks = geometry.blocks(unit.offset_bytes, unit.length_bytes).ok()?;
        let mut arena = self.arena.borrow_mut();
        let buffer = arena.slice_mut(unit.buffer_offset, unit.length_bytes);
        let apart = self.payloads.slice_mut(unit_index, (blocks.n * geometry.apart_bytes) as usize);
        geometry.protection?.check(buffer, apart, blocks.first)
    }

    #[inline]
    fn data(&self, unit: &IoUnit) -> CommandData {
        let region: Region = self.arena.borrow().region(unit.buffer_offset, unit.length_bytes);
        match self.windows {
            Some(windows) => CommandData::Registered(region, windows.index_of(unit.buffer_offset)),
            None if self.options.ring.vectoring == Vectoring::Vectored => CommandData::Vector(region),
            None => CommandData::Plain(region),
        }
    }
}

impl Commands {
    fn check_reads(&mut self, completions: &mut [Completion]) {
        for completion in completions {
            if !matches!(completion.result.outcome(), Outcome::Done(_)) {
                self.checked.note(completion.unit_index, None);
                continue;
            }
            if let Some(mismatch) = self.check(completion.unit_index) {
                self.checked.keep(completion.unit_index, mismatch);
                completion.result = IoResult::failed(libc::EIO);
            }
        }
    }
}

impl Traffic for Commands {
    type Requests = CommandRequest;
    type Completions = CommandCompletion;

    #[inline]
    fn ring(&mut self) -> &mut RingOf<CommandRequest, CommandCompletion> {
        &mut self.ring
    }

    #[inline]
    fn has_polling_thread(&self) -> bool {
        self.options.ring.sqpoll.is_some()
    }

    #[inline]
    fn n_queued(&mut self) -> &mut u32 {
        &mut self.n_queued
    }

    #[inline]
    fn pop(&mut self, n_max: usize, completions: &mut Vec<Completion>) {
        let n_before = completions.len();
        let Self { ring, slots, .. } = self;
        ring.pop(n_max as u32, |done| {
            let result = match done.result {
                0 => slots[done.slot as usize].length,
                status @ 1.. => IoResult::nvme_status(status as u16),
                errno => IoResult::of_call(i64::from(errno)),
            };
            push_in_room(completions, Completion { unit_index: done.slot, result });
        });
        if !self.options.protection.by_device {
            self.check_reads(&mut completions[n_before..]);
        }
    }
}

impl Engine for Commands {
    fn has_kernel_workers(&self) -> bool {
        true
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let OpenTarget::Descriptor(fd) = file.target else { return Ok(()) };
        if !FileInfo::of_file(&fd).is_ok_and(|info| info.kind == FileKind::Character) {
            return Err(wrong_kind());
        }
        let geometry = Geometry::of(fd, &self.options)?;
        geometry.check(&self.job, &self.options)?;
        if let Some(placements) = self.placements.as_mut().filter(|_| self.job.writes) {
            placements.open(file.index, fd, geometry.namespace.id)?;
        }
        self.geometries[file.index as usize] = Some(geometry);
        self.fds.open(file);
        if !self.options.ring.has_registered_files {
            return Ok(());
        }
        self.ring.set_registered_file(file.index, Some(fd)).map_err(|error| explain::files(NAME, 1, error.errno()))
    }

    fn close_file(&mut self, file_index: u32) {
        self.fds.close(file_index);
        self.geometries[file_index as usize] = None;
        if self.options.ring.has_registered_files {
            // A file that is not taken out of the table merely stays open.
            let _ = self.ring.set_registered_file(file_index, None);
        }
    }

    #[inline]
    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        if unit.direction == Direction::Syncfs {
            return if self.n_queued == 0 { Queued::Completed(control::run(&self.fds, unit)) } else { Queued::Busy };
        }
        let request = match self.request(unit_index, unit) {
            Ok(request) => request,
            Err(errno) => return Queued::Completed(control::error_result(errno)),
        };
        self.slots[unit_index as usize].length = IoResult::done(unit.length_bytes);
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot, and does not
        // close the file, until the unit is reaped; the area and the payloads, whose part belongs to the slot, live as long
        // as `self`, whose ring waits when dropped.
        self.push_or_wait(|ring| unsafe { ring.push_command(unit_index, &request) })
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
        status::errno_hint(unit, errno)
    }

    fn sync_apart(&mut self, file_index: u32) -> Option<i32> {
        let (fd, geometry) = (self.fds.get(file_index).ok()?, self.geometries.get(file_index as usize)?.as_ref()?);
        let flushed = ferrio_sys::nvme::flush(fd, geometry.namespace.id);
        Some(flushed.map_or_else(|error| error.errno().unwrap_or(libc::EIO), |()| 0))
    }

    fn device(&mut self) -> Option<&mut dyn DeviceCommands> {
        Some(self)
    }

    fn failures(&mut self) -> Option<&mut dyn FailureDetails> {
        Some(self)
    }
}

impl DeviceCommands for Commands {
    fn block_traits(&self) -> BlockTraits {
        let modes = &self.options.write_modes;
        let varies_writes = modes.have(WriteMode::Zeroes) || modes.have(WriteMode::Verify);
        BlockTraits { varies_writes, compares_reads: self.options.compares }
    }

    fn content_of_write(&mut self, unit_index: u32) -> WriteContent {
        let mode = self.write_modes.next();
        self.slots[unit_index as usize].mode = Some(mode);
        match mode {
            WriteMode::Write | WriteMode::ZoneAppend => WriteContent::Data,
            WriteMode::Zeroes => WriteContent::Zeroes,
            WriteMode::Verify => WriteContent::Unchanged,
        }
    }

    fn set_comparing(&mut self, is_comparing: bool) {
        self.is_comparing = is_comparing;
    }

    fn put_ranges(&mut self, unit_index: u32, unit: &IoUnit, ranges: &[Range<u64>]) {
        // What is wrong with a range is the result of the trim.
        self.slots[unit_index as usize].ranges = self.put_all(unit_index, unit, ranges);
    }
}

impl FailureDetails for Commands {
    fn status_hint(&self, status: u16) -> Option<&'static str> {
        status::hint(status)
    }

    fn take_mismatch(&mut self, unit_index: u32) -> Option<TagMismatch> {
        self.checked.take_mismatch(unit_index)
    }
}

#[cfg(test)]
mod tests;
