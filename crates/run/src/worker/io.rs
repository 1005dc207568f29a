//! What every loop does with an I/O: fill a slot, record its issue, take its result.
//!
//! Must not know: batches. Start reading at [`Worker::fill_slot`].

use super::account::Stamps;
use super::slots::Slot;
use super::{Stop, Worker};
use crate::error::{JobError, job_error};
use crate::events::Stream;
use crate::trace::TraceGroup;
use ferrio_job::spec::ErrorSpec;
use ferrio_units::{DataDirection, Direction, errno_text};
use ferrio_workload::{Next, NextIo};
use std::os::fd::RawFd;

const EIO: i32 = 5;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const EILSEQ: i32 = 84;
const EDQUOT: i32 = 122;

/// What becomes of a slot whose unit has a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Finished {
    /// It is free.
    Done,
    /// The unit goes on with the rest of a short transfer.
    Again,
    /// The job ends.
    Stop(Stop),
}

impl Worker<'_> {
    /// Makes the unit of an I/O in a slot; opens its file if need be; prepares the data of a write.
    #[expect(
        clippy::inline_always,
        reason = "left to itself the compiler does so or not by chance: 31 instructions an I/O"
    )]
    #[inline(always)]
    pub(super) fn fill_slot(&mut self, slot_index: u32, io: &NextIo, start: u64) -> Result<(), Stop> {
        let fd = match self.files.ready(io.file_index) {
            Some(fd) => fd,
            None => self.open_file(io.file_index).map_err(|error| Stop::Failed(Box::new(error)))?,
        };
        let slot = self.slots.get_mut(slot_index);
        slot.stamps = Stamps { start, issue: start };
        slot.wanted_bytes = io.length_bytes;
        slot.was_short = false;
        let unit = &mut slot.unit;
        unit.direction = io.direction;
        unit.file_index = io.file_index;
        unit.fd = fd;
        unit.length = io.length_bytes as usize;
        unit.buffer_offset = slot_index as usize * self.block_bytes;
        match io.direction.data() {
            Some(direction) => {
                unit.offset = io.offset_bytes;
                slot.data_offset = io.offset_bytes;
                self.account.stats.directions[direction].n_issued += 1;
                if direction == DataDirection::Write {
                    self.prepare_write(slot_index, io, start);
                }
            }
            None => self.fill_sync(slot_index, io),
        }
        if self.observes_issues {
            return self.observe_issue(slot_index);
        }
        Ok(())
    }

    /// The data of a write, and what a later `sync_file_range` has to know of it. Not inlined: reads do without.
    #[inline(never)]
    fn prepare_write(&mut self, slot_index: u32, io: &NextIo, start: u64) {
        let start_ns = if self.contents.needs_time() { self.clock.at_ns(start) } else { 0 };
        let mut arena = self.arena.borrow_mut();
        let buffer = arena.slice_mut(slot_index as usize * self.block_bytes, io.length_bytes as usize);
        if self.verifier.as_ref().is_none_or(|verifier| !verifier.makes_contents()) {
            self.contents.prepare(buffer, io.offset_bytes, start_ns);
        }
        let remembered = if let Some(verifier) = &mut self.verifier {
            verifier.stamp(slot_index, self.slots.get(slot_index), buffer, self.clock.at_ns(start))
        } else {
            Ok(())
        };
        drop(arena);
        if let Err(error) = remembered {
            self.fail_soon(error);
        }
        if self.verifier.as_ref().is_some_and(|verifier| verifier.is_backlog_due()) {
            self.control.look_up();
        }
        if self.plan.spec.durability.sync_file_range.is_some() {
            let (low, high) = (io.offset_bytes, io.offset_bytes + io.length_bytes);
            let dirty = &mut self.dirty[io.file_index as usize];
            *dirty = Some(dirty.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
        }
    }

    #[cold]
    fn fill_sync(&mut self, slot_index: u32, io: &NextIo) {
        self.account.stats.n_syncs_issued += 1;
        if io.direction != Direction::SyncFileRange {
            return;
        }
        let (low, high) = self.dirty[io.file_index as usize].take().unwrap_or((0, 0));
        let slot = self.slots.get_mut(slot_index);
        slot.wanted_bytes = high - low;
        slot.unit.offset = low;
        slot.unit.length = (high - low) as usize;
        slot.unit.sync_flags = self.plan.spec.durability.sync_file_range.map_or(0, |(flags, _)| flags);
    }

    #[cold]
    pub(super) fn log_issue(&mut self, slot_index: u32) -> Result<(), JobError> {
        let time_us = self.log_time_us();
        let slot = self.slots.get(slot_index);
        let unit = &slot.unit;
        let (offset, length) =
            if unit.direction.is_sync() { (slot.data_offset, 0) } else { (unit.offset, unit.length as u64) };
        let path = &self.files.plan(unit.file_index).path;
        let Some(log) = &mut self.iolog else { return Ok(()) };
        let logged = log.io(time_us, path, unit.direction.name(), offset, length);
        logged.map_err(|error| job_error!(error.raw_os_error().unwrap_or(EIO), "write iolog"))
    }

    pub(super) fn log_time_us(&self) -> u64 {
        self.clock.now_ns().saturating_sub(self.control.epoch_ns) / 1_000
    }

    /// Takes the result of a unit.
    #[inline]
    pub(super) fn finish(&mut self, slot_index: u32, result: i64, done: u64) -> Finished {
        match self.finish_whole(slot_index, result, done) {
            Some(_) => Finished::Done,
            None => self.finish_odd(slot_index, result, done),
        }
    }

    /// Takes the result of a unit that did all that it was asked to, and gives its file; `None`: it did not.
    #[inline]
    pub(super) fn finish_whole(&mut self, slot_index: u32, result: i64, done: u64) -> Option<u32> {
        let slot = self.slots.get(slot_index);
        if result != slot.unit.length as i64 {
            return None;
        }
        let file_index = slot.unit.file_index;
        match slot.unit.direction.data() {
            Some(data) => {
                self.account.data_done(data, slot.wanted_bytes, &self.clock, slot.stamps, done);
                if self.observes_completions {
                    self.observe_done(slot_index, data, done);
                }
            }
            None => self.sync_done(slot_index, done),
        }
        Some(file_index)
    }

    /// Shows a data I/O that is done to the log.
    #[cold]
    #[inline(never)]
    pub(super) fn log_done(&mut self, slot_index: u32, direction: DataDirection, done: u64) {
        let Some(log) = self.log.as_mut().filter(|_| !self.account.is_ramping()) else { return };
        let slot = self.slots.get(slot_index);
        self.account.sample_io(direction, slot.wanted_bytes, self.clock.between_ns(slot.stamps.issue, done));
        let stalled = log.stalled();
        log.io_done(slot, direction, &self.clock, done);
        if log.stalled() != stalled {
            // The wait is no part of the next I/O: the loop takes a new stamp when it has looked up.
            self.control.look_up();
        }
    }

    /// Shows a data I/O that was handed to the kernel to the log.
    #[inline(never)]
    pub(super) fn log_issued(&mut self, slot_index: u32, direction: DataDirection) {
        if let Some(log) = self.log.as_mut().filter(|_| !self.account.is_ramping()) {
            log.io_issued(self.slots.get(slot_index), direction, &self.clock);
        }
    }

    /// An error, a short transfer, or the end of the file.
    #[cold]
    fn finish_odd(&mut self, slot_index: u32, result: i64, done: u64) -> Finished {
        if result < 0 {
            return self.fail(slot_index, i32::try_from(-result).unwrap_or(EIO));
        }
        let slot = *self.slots.get(slot_index);
        let Some(data) = slot.unit.direction.data() else { return Finished::Done };
        if result == 0 {
            return self.fail(slot_index, EIO);
        }
        if !slot.was_short {
            self.account.stats.directions[data].n_short += 1;
        }
        let moved = result as u64;
        let file_bytes = self.files.plan(slot.unit.file_index).file_bytes;
        if slot.unit.direction == Direction::Read && slot.unit.offset + moved == file_bytes {
            let left = slot.unit.length as u64 - moved;
            self.account.data_done(data, slot.wanted_bytes - left, &self.clock, slot.stamps, done);
            if self.observes_completions {
                self.observe_done(slot_index, data, done);
            }
            return Finished::Done;
        }
        let slot = self.slots.get_mut(slot_index);
        slot.was_short = true;
        slot.unit.offset += moved;
        slot.unit.buffer_offset += result as usize;
        slot.unit.length -= result as usize;
        Finished::Again
    }

    /// A unit failed: tolerated, wanted (`fill_device`), or the end of the job.
    fn fail(&mut self, slot_index: u32, errno: i32) -> Finished {
        self.mark_blocks(slot_index, true);
        self.forget_write(slot_index);
        self.no_longer_in_flight(slot_index);
        let unit = self.slots.get(slot_index).unit;
        let tolerated = self.tolerates(unit.direction, errno);
        if tolerated && !self.plan.spec.errors.dump {
            return Finished::Done;
        }
        let name = &self.files.plan(unit.file_index).name;
        let (text, action) = (errno_text(errno), unit.direction.name());
        let mut message =
            format!("fio: io_u error on file {name}: {text}: {action} offset={}, buflen={}", unit.offset, unit.length);
        if let Some(hint) = self.engine.hint(&unit, errno) {
            message.push_str("\nfio: ");
            message.push_str(hint);
        }
        if self.is_first_direct(errno) {
            message.push_str(
                "\nfio: first direct IO errored. File system may not support direct IO, or iomem_align= is bad, or \
                 invalid block size. Try setting direct=0.",
            );
        }
        self.say(Stream::Error, message);
        if tolerated {
            return Finished::Done;
        }
        let is_full = matches!(errno, ENOSPC | EDQUOT) && unit.direction == Direction::Write;
        if self.plan.spec.extent.fill_device && is_full {
            return Finished::Stop(Stop::Filled);
        }
        Finished::Stop(Stop::Failed(Box::new(job_error!(errno, "io_u error"))))
    }

    /// The very first I/O past the page cache was refused. As in fio only of engines whose I/Os are done when they are queued.
    fn is_first_direct(&self, errno: i32) -> bool {
        let plan = &self.plan;
        errno == EINVAL && plan.spec.durability.direct && plan.engine.inline && self.account.stats.n_issued() <= 1
    }

    /// Counts an error as the job's options want it; true if the job goes on.
    pub(super) fn tolerates(&mut self, direction: Direction, errno: i32) -> bool {
        let treatment = treatment(&self.plan.spec.errors, direction, errno);
        if treatment != Treatment::Fatal {
            // The error that ends the job is counted too where errors are.
            let counts = &mut self.account.stats.tolerated;
            counts.n_total += 1;
            if counts.first_errno == 0 {
                counts.first_errno = errno;
            }
        }
        treatment == Treatment::Tolerated
    }

    /// What the workload says between two I/Os, at the stamp of the last one's end; then the stamp is that of the next one's
    /// start. `Some`: the pass ends.
    #[inline(never)]
    pub(super) fn between_ios(&mut self, next: Next, stamp: &mut u64) -> Option<Stop> {
        if next == Next::Wait {
            match self.trim_between() {
                Ok(true) => {}
                Ok(false) => return self.take_turn(stamp),
                Err(stop) => return Some(stop),
            }
        }
        let stop = self.say_of_files(next);
        *stamp = self.clock.stamp();
        stop
    }

    /// Does what the workload says of files. `Some`: the pass ends.
    fn say_of_files(&mut self, next: Next) -> Option<Stop> {
        match next {
            Next::Io(_) | Next::Wait => None,
            Next::PassEnd => Some(Stop::PassEnd),
            Next::Open(file_index) => self.open_for_replay(file_index),
            Next::Failed => Some(self.stream_failed()),
            Next::Restart(file_index) => {
                self.note_missed();
                self.files.restarted(file_index);
                None
            }
            Next::Close(file_index) => self.end_of_file(file_index).err().map(|error| Stop::Failed(Box::new(error))),
        }
    }

    /// The file has nothing left to do. As seen on fio 3.33, one that gave nothing at all was opened too, unless a trace that
    /// is replayed closes it.
    #[cold]
    fn end_of_file(&mut self, file_index: u32) -> Result<(), JobError> {
        self.note_missed();
        if self.files.ready(file_index).is_none() && self.plan.spec.replay.traces.is_empty() {
            self.open_file(file_index)?;
        }
        if self.files.close_when_idle(file_index) {
            return self.close_file(file_index);
        }
        Ok(())
    }

    /// As seen on fio 3.33: where an I/O that found no place would have begun is what a trace shows for the next sync.
    fn note_missed(&mut self) {
        if let Some(offset_bytes) = self.workload.missed_bytes() {
            let slot_index = self.slots.next();
            self.slots.get_mut(slot_index).data_offset = offset_bytes;
        }
    }

    /// The file is to be open: it opens, or does not close when it was about to.
    #[cold]
    fn open_for_replay(&mut self, file_index: u32) -> Option<Stop> {
        if self.files.stays_open(file_index) {
            return None;
        }
        self.open_file(file_index).err().map(|error| Stop::Failed(Box::new(error)))
    }

    #[cold]
    pub(super) fn stream_failed(&mut self) -> Stop {
        if let Some(failure) = self.workload.zoning_failure() {
            return Stop::Failed(Box::new(self.zone_reset_failed(failure)));
        }
        let text = self.workload.take_error().map_or_else(String::new, |error| error.to_string());
        Stop::Failed(Box::new(job_error!(EIO, "read_iolog").explained(text)))
    }

    #[cold]
    fn open_file(&mut self, file_index: u32) -> Result<RawFd, JobError> {
        let fd = self.files.open(file_index, self.engine.as_mut())?;
        for warning in std::mem::take(&mut self.files.warnings) {
            self.say(Stream::Info, warning);
        }
        self.log_file(file_index, "open");
        self.trace(TraceGroup::File, || format!("fd open {}", self.files.plan(file_index).name));
        Ok(fd)
    }

    /// Closes a file of which nothing is in flight, synced where the job asks for it. As seen on fio 3.33, traces do not show
    /// that sync.
    pub(super) fn close_file(&mut self, file_index: u32) -> Result<(), JobError> {
        let syncs =
            self.plan.spec.durability.fsync_on_close && self.plan.writes() && self.files.ready(file_index).is_some();
        let synced = if syncs { self.sync_untraced(file_index) } else { Ok(()) };
        self.close_as_it_is(file_index);
        synced
    }

    /// Closes a file that needs no sync.
    pub(super) fn close_as_it_is(&mut self, file_index: u32) {
        if self.files.close(file_index, self.engine.as_mut()) {
            self.log_file(file_index, "close");
            self.trace(TraceGroup::File, || format!("fd close {}", self.files.plan(file_index).name));
        }
        self.workload.closed(file_index);
    }

    pub(super) fn log_file(&mut self, file_index: u32, action: &str) {
        let time_us = self.log_time_us();
        let path = &self.files.plan(file_index).path;
        if let Some(log) = &mut self.iolog {
            // The next I/O meets the same error and ends the job with it.
            let _ = log.file(time_us, path, action);
        }
    }

    /// Syncs a file outside of statistics (the reference counts no syncs of the end), by the system call whatever the
    /// engine: other files may have I/O in flight. A failure ends the job; no option tolerates it.
    pub(super) fn sync_file(&mut self, file_index: u32) -> Result<(), JobError> {
        let offset_bytes = self.slots.get(self.slots.next()).data_offset;
        if self.iolog.is_some() {
            let time_us = self.log_time_us();
            let path = &self.files.plan(file_index).path;
            if let Some(log) = &mut self.iolog {
                // The next line meets the same error and ends the job with it.
                let _ = log.io(time_us, path, Direction::Sync.name(), offset_bytes, 0);
            }
        }
        self.sync_untraced(file_index)
    }

    /// The same, of which a trace tells nothing.
    pub(super) fn sync_untraced(&mut self, file_index: u32) -> Result<(), JobError> {
        let Slot { data_offset, wanted_bytes, .. } = *self.slots.get(self.slots.next());
        let errno = self.files.sync(file_index);
        if errno == 0 {
            return self.tell_journal_of_sync(file_index);
        }
        let (name, text) = (&self.files.plan(file_index).name, errno_text(errno));
        let message = format!(
            "fio: io_u error on file {name}: {text}: sync offset={data_offset}, buflen={wanted_bytes}\n\
             fio: end_fsync failed for file {name}"
        );
        self.say(Stream::Error, message);
        Err(job_error!(errno, "io_u error"))
    }
}

/// What an error does to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Treatment {
    /// It is counted, and the job goes on.
    Tolerated,
    /// It is counted, since errors of its class are, and ends the job.
    CountedAndFatal,
    /// It ends the job.
    Fatal,
}

/// `continue_on_error` and `ignore_error`: a class lists its errno values, or has the default ones.
fn treatment(errors: &ErrorSpec, direction: Direction, errno: i32) -> Treatment {
    let (class, continues) = match direction {
        _ if errno == EILSEQ => (2, errors.continue_on.verify),
        Direction::Read => (0, errors.continue_on.read),
        _ => (1, errors.continue_on.write),
    };
    let tolerated = match &errors.ignore[class] {
        Some(list) => list.contains(&errno),
        None if continues => matches!(errno, EIO | EILSEQ),
        None => return Treatment::Fatal,
    };
    if tolerated { Treatment::Tolerated } else { Treatment::CountedAndFatal }
}
