//! `ioengine=sg`: SCSI commands to a disk, past the block layer: by an ioctl, one at a time, to a block device; to `/dev/sgN` as many at
//! once as the depth of the job says.
//!
//! Syncs are SYNCHRONIZE CACHE of the whole medium, done at once. Trims are UNMAP; those that are committed together go out as one
//! command. The size of a target is what READ CAPACITY says.
//! Facts: reference engines.md, section 10. Must not know: batches. Start reading at `Disks`, then `command`.
#![expect(unsafe_code, reason = "commands point into the buffer area")]

mod command;
#[cfg(test)]
mod tests;

use crate::commands::scsi::blocks;
use crate::contract::options::EngineOptions;
use crate::contract::parts::FailureDetails;
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepare,
    Prepared, Queued, push_in_room, time_left,
};
use crate::files::control;
use crate::files::fd_table::FdTable;
use command::{CommandTerms, UnmapLists};
use ferrio_spec::engines::options::sg::{SG_WRITE_MODE, ScsiWriteMode};
use ferrio_stats::note::ScsiStatus;
use ferrio_sys::arena::Arena;
use ferrio_sys::file::{FileInfo, FileKind, OpenRequest, is_opened_for_sync, set_nonblocking};
use ferrio_sys::scsi::capacity::Capacity;
use ferrio_sys::scsi::cdb::Cdb;
use ferrio_sys::scsi::queue::{ScsiData, ScsiQueue};
use ferrio_sys::{Clock, Errno, poll};
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

const NAME: &str = "sg";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    if options.get(&SG_WRITE_MODE) == ScsiWriteMode::WriteStream {
        let why = "it is not built yet: no device with streams is at hand to test it";
        return Err(EngineError::bad_option(NAME, SG_WRITE_MODE.name(), "write_stream", why));
    }
    Ok(Box::new(Idle { terms: CommandTerms::parse(options) }))
}

/// The engine before it is started.
struct Idle {
    terms: CommandTerms,
}

/// A target that is no disk of SCSI.
fn unfit(step: &'static str, what: &str) -> EngineError {
    EngineError::Unfit { step, what: what.to_owned(), is_named: false, errno: libc::EINVAL }
}

/// The size of the disk behind a file.
fn capacity(file: BorrowedFd<'_>) -> Result<Capacity, EngineError> {
    Capacity::of(file).map_err(|_| {
        let what = "ioengine sg unable to successfully execute read capacity to get block size and maximum lba";
        unfit("fio_sgio_read_capacity", what)
    })
}

impl Prepared for Idle {
    fn target_bytes(&self, name: &Path, _cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        let is_device = |info: FileInfo| matches!(info.kind, FileKind::Block | FileKind::Character);
        if !FileInfo::of_path(name).is_ok_and(is_device) {
            return Err(unfit("wrong file type", "ioengine sg only works on block or character devices"));
        }
        let device = OpenRequest::default()
            .open(name)
            .map_err(|source| EngineError::Target { step: format!("open({})", name.display()), source })?;
        capacity(std::os::fd::AsFd::as_fd(&device)).map(|capacity| Some(capacity.bytes()))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let depth = setup.iodepth;
        Ok(Box::new(Disks {
            terms: self.terms,
            // One slot more, for syncs.
            commands: ScsiQueue::new(depth + 1),
            sync_slot: depth,
            is_direct: setup.direct,
            fds: FdTable::of(&setup),
            by_file: vec![None; setup.n_files as usize],
            flights: vec![None; depth as usize],
            n_in_flight: 0,
            n_uncommitted: 0,
            unmaps: UnmapLists::new(if setup.job.trims { depth } else { 0 })?,
            refused: Vec::with_capacity(depth as usize),
            arena: setup.arena,
            statuses: vec![None; depth as usize],
        }))
    }
}

/// An open target.
#[derive(Debug, Clone, Copy)]
struct Disk {
    block_bytes: u32,
    /// It takes several commands at once: a `/dev/sgN` that is neither direct nor synchronous.
    is_queue: bool,
}

/// A unit whose command was started.
#[derive(Debug, Clone, Copy)]
struct Flight {
    /// The slot of its command: that of the first unit of those that share it.
    command: u32,
    n_bytes: usize,
}

/// Targets of a job, and the commands to them.
struct Disks {
    terms: CommandTerms,
    commands: ScsiQueue,
    sync_slot: u32,
    is_direct: bool,
    fds: FdTable,
    by_file: Vec<Option<Disk>>,
    flights: Vec<Option<Flight>>,
    n_in_flight: u32,
    n_uncommitted: u32,
    unmaps: UnmapLists,
    /// Results of units whose command was not taken.
    refused: Vec<Completion>,
    arena: Rc<RefCell<Arena>>,
    /// By slot: what a device has said of a failed command, until it is asked for.
    statuses: Vec<Option<Box<ScsiStatus>>>,
}

impl Disks {
    fn disk(&self, file_index: u32) -> Result<(Disk, BorrowedFd<'_>), Errno> {
        let disk = self.by_file.get(file_index as usize).copied().flatten().ok_or(Errno::BADF)?;
        Ok((disk, self.fds.get(file_index)?))
    }

    /// The result of the command in a slot, which is done, for a unit.
    fn result(&mut self, slot: u32, unit_index: u32, n_bytes: usize) -> IoResult {
        if self.commands.is_well(slot) {
            return IoResult::done(n_bytes);
        }
        let status = self.commands.fault(slot);
        if let Some(place) = self.statuses.get_mut(unit_index as usize) {
            *place = Some(Box::new(status));
        }
        control::error_result(Errno::IO)
    }

    /// Does the I/O at once.
    fn run(&mut self, unit_index: u32, unit: &IoUnit, (cdb, data): (Cdb, ScsiData)) -> IoResult {
        let Self { commands, fds, sync_slot, terms, .. } = self;
        let Ok(fd) = fds.get(unit.file_index) else { return control::error_result(Errno::BADF) };
        // A sync has no slot of its own.
        let slot = if unit.direction.data().is_some() { unit_index } else { *sync_slot };
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot during the call.
        match unsafe { commands.run(slot, fd, cdb, data, terms.is_polled(unit.direction)) } {
            Ok(()) => self.result(slot, unit_index, unit.length_bytes),
            Err(errno) => control::error_result(errno),
        }
    }

    /// Starts the command of a unit; the loop offers the unit again if the device takes no more now.
    fn start(&mut self, unit_index: u32, unit: &IoUnit, (cdb, data): (Cdb, ScsiData)) -> Queued {
        let Self { commands, fds, terms, .. } = self;
        let Ok(fd) = fds.get(unit.file_index) else { return Queued::Completed(control::error_result(Errno::BADF)) };
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot until the unit is reaped.
        match unsafe { commands.start(unit_index, fd, cdb, data, terms.is_polled(unit.direction)) } {
            Ok(()) => {
                self.fly(unit_index, Flight { command: unit_index, n_bytes: unit.length_bytes });
                Queued::Queued
            }
            // EDOM: the queue of the kernel's driver is full.
            Err(Errno::AGAIN | Errno::DOM) if self.n_in_flight > 0 => Queued::Busy,
            Err(errno) => Queued::Completed(control::error_result(errno)),
        }
    }

    fn fly(&mut self, unit_index: u32, flight: Flight) {
        self.flights[unit_index as usize] = Some(flight);
        self.n_in_flight += 1;
        self.n_uncommitted += 1;
    }

    /// Adds a trim to those that go out together.
    fn gather(&mut self, unit_index: u32, unit: &IoUnit, block_bytes: u32) -> Queued {
        let Ok((first, n_blocks)) = blocks(unit, block_bytes) else {
            return Queued::Completed(control::error_result(Errno::INVAL));
        };
        if !self.unmaps.has_room_for(unit.file_index) {
            self.send_unmaps();
        }
        if !self.unmaps.has_room_for(unit.file_index) {
            return Queued::Busy;
        }
        let command = self.unmaps.add(unit_index, unit.file_index, (first, n_blocks));
        self.fly(unit_index, Flight { command, n_bytes: unit.length_bytes });
        Queued::Queued
    }

    /// Sends the trims that were gathered, or later if the device takes no more now.
    fn send_unmaps(&mut self) {
        let has_others = self.n_in_flight as usize > self.unmaps.n_gathered();
        let Self { unmaps, commands, fds, .. } = self;
        let Some((slot, file_index, cdb, list)) = unmaps.command() else { return };
        // SAFETY: this list belongs to the slot, which is in use until the command is done.
        let sent = fds
            .get(file_index)
            .and_then(|fd| unsafe { commands.start(slot, fd, cdb, ScsiData::ToDevice(list), false) });
        if has_others && matches!(sent, Err(Errno::AGAIN | Errno::DOM)) {
            return;
        }
        unmaps.mark_sent(slot);
        if let Err(errno) = sent {
            unmaps.free(slot);
            for (unit_index, flight) in self.flights.iter_mut().enumerate() {
                if flight.take_if(|flight| flight.command == slot).is_some() {
                    self.n_in_flight -= 1;
                    let result = control::error_result(errno);
                    self.refused.push(Completion { unit_index: unit_index as u32, result });
                }
            }
        }
    }

    /// Takes what is done, without a wait.
    fn take(&mut self, n_most: usize, completions: &mut Vec<Completion>) {
        while completions.len() < n_most
            && let Some(completion) = self.refused.pop()
        {
            push_in_room(completions, completion);
        }
        if self.n_uncommitted == 0 {
            self.send_unmaps();
        }
        for file_index in 0..self.by_file.len() as u32 {
            while completions.len() < n_most && self.n_in_flight > 0 {
                let Self { commands, fds, by_file, .. } = self;
                let is_queue = by_file[file_index as usize].is_some_and(|disk| disk.is_queue);
                let Some(fd) = fds.get(file_index).ok().filter(|_| is_queue) else { break };
                match commands.finish(fd) {
                    Ok(Some(slot)) => self.finished(slot, completions),
                    Ok(None) | Err(Errno::INTR) => break,
                    Err(errno) => return self.lose_all(errno, completions),
                }
            }
        }
    }

    /// The units of a command that is done.
    fn finished(&mut self, slot: u32, completions: &mut Vec<Completion>) {
        let is_shared = self.unmaps.is_of(slot);
        let units = if is_shared { 0..self.flights.len() as u32 } else { slot..slot + 1 };
        for unit_index in units {
            let Some(place) = self.flights.get_mut(unit_index as usize) else { continue };
            if let Some(flight) = place.take_if(|flight| flight.command == slot) {
                self.n_in_flight -= 1;
                let result = self.result(slot, unit_index, flight.n_bytes);
                push_in_room(completions, Completion { unit_index, result });
            }
        }
        self.unmaps.free(slot);
    }

    /// The device is gone: what is in flight has no result.
    fn lose_all(&mut self, errno: Errno, completions: &mut Vec<Completion>) {
        for (slot, flight) in self.flights.iter_mut().enumerate() {
            if flight.take().is_some() {
                let result = control::error_result(errno);
                push_in_room(completions, Completion { unit_index: slot as u32, result });
            }
        }
        self.n_in_flight = 0;
    }

    /// Takes between `min` and `max` results; waits for them for some time at most.
    fn wait(&mut self, (min, max): (u32, u32), limit: Duration, completions: &mut Vec<Completion>) {
        let n_before = completions.len();
        let mut end = None;
        loop {
            self.take(n_before.saturating_add(max as usize), completions);
            if completions.len() - n_before >= min as usize || self.n_in_flight == 0 {
                return;
            }
            let now = Instant::now();
            let left = end.get_or_insert(now + limit).saturating_duration_since(now);
            if left.is_zero() {
                return;
            }
            let disks = (0..self.by_file.len() as u32).filter_map(|file_index| self.disk(file_index).ok());
            poll::wait_for_any(disks.filter(|(disk, _)| disk.is_queue).map(|(_, fd)| (fd, false)), left);
        }
    }
}

impl Engine for Disks {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let OpenTarget::Descriptor(fd) = file.target else { return Ok(()) };
        let is_generic = FileInfo::of_file(&fd).is_ok_and(|info| info.kind == FileKind::Character);
        let block_bytes = capacity(fd)?.block_bytes;
        let is_queue = is_generic && !self.is_direct && !is_opened_for_sync(fd);
        if is_queue {
            set_nonblocking(fd).map_err(|source| EngineError::Target { step: "open".to_owned(), source })?;
        }
        self.by_file[file.index as usize] = Some(Disk { block_bytes, is_queue });
        self.fds.open(file);
        Ok(())
    }

    fn close_file(&mut self, file_index: u32) {
        self.fds.close(file_index);
        self.by_file[file_index as usize] = None;
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let disk = match self.disk(unit.file_index) {
            Ok((disk, _)) => disk,
            Err(errno) => return Queued::Completed(control::error_result(errno)),
        };
        let is_alone = !disk.is_queue;
        match unit.direction {
            Direction::Sync | Direction::Datasync => {
                if self.n_in_flight > 0 {
                    self.send_unmaps();
                    return Queued::Busy;
                }
                Queued::Completed(self.run(unit_index, unit, (Cdb::synchronize_cache(), ScsiData::Nothing)))
            }
            Direction::SyncFileRange | Direction::Syncfs => Queued::Completed(control::error_result(Errno::INVAL)),
            Direction::Trim if !is_alone => self.gather(unit_index, unit, disk.block_bytes),
            Direction::Trim => {
                let command = blocks(unit, disk.block_bytes).map(|range| self.unmaps.alone(unit_index, range));
                match command {
                    Ok((cdb, list)) => Queued::Completed(self.run(unit_index, unit, (cdb, ScsiData::ToDevice(list)))),
                    Err(errno) => Queued::Completed(control::error_result(errno)),
                }
            }
            Direction::Read | Direction::Write => {
                let area = self.arena.borrow().region(unit.buffer_offset, unit.length_bytes);
                match self.terms.transfer(unit, disk.block_bytes, area) {
                    Ok(command) if is_alone => Queued::Completed(self.run(unit_index, unit, command)),
                    Ok(command) => self.start(unit_index, unit, command),
                    Err(errno) => Queued::Completed(control::error_result(errno)),
                }
            }
        }
    }

    fn commit(&mut self) -> io::Result<u32> {
        self.send_unmaps();
        Ok(std::mem::take(&mut self.n_uncommitted))
    }

    fn hint(&self, _unit: &IoUnit, errno: i32) -> Option<&'static str> {
        match Errno::from_raw_os_error(errno) {
            Errno::INVAL => {
                Some("an I/O is whole blocks of the disk, and a disk can only be synced as a whole; see bs and fsync")
            }
            _ => None,
        }
    }

    fn sync_apart(&mut self, file_index: u32) -> Option<i32> {
        let Self { commands, fds, sync_slot, .. } = self;
        let fd = fds.get(file_index).ok()?;
        // SAFETY: the command has no data.
        let done = unsafe { commands.run(*sync_slot, fd, Cdb::synchronize_cache(), ScsiData::Nothing, false) };
        Some(match done {
            Ok(()) if commands.is_well(*sync_slot) => 0,
            Ok(()) => libc::EIO,
            Err(errno) => errno.raw_os_error(),
        })
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.wait((min, max), Cancellation::LOOK, completions);
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.wait((1, max), time_left(clock, until_ns).min(Cancellation::LOOK), completions);
        Ok(())
    }

    fn failures(&mut self) -> Option<&mut dyn FailureDetails> {
        Some(self)
    }
}

impl FailureDetails for Disks {
    fn take_scsi_status(&mut self, unit_index: u32) -> Option<Box<ScsiStatus>> {
        self.statuses.get_mut(unit_index as usize)?.take()
    }
}
