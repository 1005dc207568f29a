//! The steps that every loop does for an I/O: fill a slot, record the submission, take the result.
//!
//! Must not know: batches. Start reading at [`fill_slot`], then [`finish`].

use super::Worker;
use super::connection::give_up;
use super::failure::fail;
use super::open_files::open_file;
use super::queued::collect_some;
use crate::compat;
use crate::work::lane::Stop;
use crate::work::lane::account::Stamps;
use ferrio_engine::{IoResult, Outcome};
use ferrio_sys::errno::EIO;
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::NextIo;
use std::ops::Range;

/// State of a slot whose unit has a result.
#[derive(Debug, PartialEq)]
pub(crate) enum Finished {
    /// The slot is free.
    Done,
    /// The unit continues with the rest of a short transfer.
    Again,
    /// The job ends.
    Stop(Stop),
}

/// Opens the file of an I/O, and returns the stamp after that: the time of the I/O begins with an open file.
#[cold]
#[inline(never)]
pub(crate) fn opened(worker: &mut Worker<'_>, io: &NextIo) -> Result<u64, Stop> {
    open_file(worker, io.file_index)?;
    Ok(worker.lane.clock.stamp())
}

/// Makes the unit of an I/O in a slot: prepares the data of a write. Its file is open.
#[expect(
    clippy::inline_always,
    reason = "left to itself the compiler does so or not by chance: 31 instructions an I/O"
)]
#[inline(always)]
pub(crate) fn fill_slot(worker: &mut Worker<'_>, slot_index: u32, io: &NextIo, start: u64) -> Result<(), Stop> {
    let slot = worker.lane.slots.get_mut(slot_index);
    slot.stamps = Stamps { start, issue: start };
    slot.length_bytes = io.length_bytes;
    slot.was_short = false;
    let unit = &mut slot.unit;
    unit.direction = io.direction;
    unit.file_index = io.file_index;
    unit.length_bytes = io.length_bytes as usize;
    unit.buffer_offset = worker.lane.buffers.place(slot_index);
    match io.direction.data() {
        Some(direction) => {
            unit.offset_bytes = io.offset_bytes;
            slot.data_offset = io.offset_bytes;
            worker.lane.account.data_begins(direction);
            if direction == DataDirection::Write {
                prepare_write(worker, slot_index, io, start);
            }
        }
        None => fill_sync(worker, slot_index, io),
    }
    if worker.hooks.sees_issues {
        return observe_issue(worker, slot_index);
    }
    Ok(())
}

/// Prepares the data of a write, and records its range for a later `sync_file_range`. Not inlined, because reads do not
/// need it.
#[inline(never)]
fn prepare_write(worker: &mut Worker<'_>, slot_index: u32, io: &NextIo, start: u64) {
    if worker.hooks.verifier.as_ref().is_none_or(|verifier| !verifier.makes_contents()) {
        worker.lane.fill(slot_index, start);
    }
    let Worker { lane, hooks, .. } = worker;
    let remembered = if let Some(verifier) = &mut hooks.verifier {
        lane.buffers.with(slot_index, io.length_bytes as usize, |block| {
            verifier.stamp(slot_index, lane.slots.get(slot_index), block, lane.clock.at_ns(start))
        })
    } else {
        Ok(())
    };
    if let Err(error) = remembered {
        worker.lane.control.fail_soon(error);
    }
    if worker.hooks.verifier.as_ref().is_some_and(|verifier| verifier.is_backlog_due()) {
        worker.lane.control.look_up();
    }
    if worker.lane.plan.spec.durability.sync_file_range.is_some() {
        worker.lane.unsynced.wrote(io.file_index, io.offset_bytes..io.offset_bytes + io.length_bytes);
    }
}

#[cold]
fn fill_sync(worker: &mut Worker<'_>, slot_index: u32, io: &NextIo) {
    worker.lane.account.sync_begins();
    if io.direction != Direction::SyncFileRange {
        return;
    }
    let Range { start: low, end: high } = worker.lane.unsynced.take(io.file_index);
    let slot = worker.lane.slots.get_mut(slot_index);
    slot.length_bytes = high - low;
    slot.unit.offset_bytes = low;
    slot.unit.length_bytes = (high - low) as usize;
    slot.unit.sync_flags = worker.lane.plan.spec.durability.sync_file_range.map_or(0, |(flags, _)| flags);
}

/// Takes the result of a unit.
#[inline]
pub(crate) fn finish(worker: &mut Worker<'_>, slot_index: u32, result: IoResult, done: u64) -> Finished {
    match finish_whole(worker, slot_index, result, done) {
        Some(_) => Finished::Done,
        None => finish_odd(worker, slot_index, result, done),
    }
}

/// Takes the result of a unit that moved all of its bytes, and returns its file; `None`: it did not.
#[inline]
pub(crate) fn finish_whole(worker: &mut Worker<'_>, slot_index: u32, result: IoResult, done: u64) -> Option<u32> {
    let slot = worker.lane.slots.get(slot_index);
    if !result.is_done_with(slot.unit.length_bytes) {
        return None;
    }
    let file_index = slot.unit.file_index;
    match slot.unit.direction.data() {
        Some(data) => {
            worker.lane.account.data_done(data, slot.length_bytes, &worker.lane.clock, slot.stamps, done);
            if worker.hooks.sees_completions {
                worker.hooks.done(&mut worker.lane, slot_index, data, done);
            }
        }
        None => worker.hooks.sync_done(&mut worker.lane, slot_index, done),
    }
    Some(file_index)
}

/// Handles an error, a short transfer, or the end of the file.
#[cold]
fn finish_odd(worker: &mut Worker<'_>, slot_index: u32, result: IoResult, done: u64) -> Finished {
    let moved = match result.outcome() {
        Outcome::Done(n_bytes) => n_bytes,
        Outcome::Failed(errno) => return fail(worker, slot_index, errno),
        Outcome::NotYet => return Finished::Again,
        Outcome::EndOfData => {
            give_up(worker, slot_index, done);
            return Finished::Stop(Stop::Ended);
        }
    };
    let slot = *worker.lane.slots.get(slot_index);
    let Some(data) = slot.unit.direction.data() else { return Finished::Done };
    if moved == 0 {
        if slot.unit.direction == Direction::Read && slot.length_bytes == slot.unit.length_bytes as u64 {
            worker.lane.account.read_nothing();
        }
        // A read whose contents are checked needs them: what the buffer held before must not pass for them.
        let is_checked =
            worker.hooks.verifier.as_ref().is_some_and(|verifier| verifier.expectations.checks(slot_index));
        if is_checked || !compat::is_done_without_a_byte(worker.lane.plan, slot.unit.direction) {
            return fail(worker, slot_index, EIO);
        }
        let moved = slot.length_bytes.saturating_sub(slot.unit.length_bytes as u64);
        worker.lane.account.data_done(data, moved, &worker.lane.clock, slot.stamps, done);
        if worker.hooks.sees_completions {
            worker.hooks.done(&mut worker.lane, slot_index, data, done);
        }
        return Finished::Done;
    }
    if !slot.was_short {
        worker.lane.account.data_was_short(data);
    }
    let file_bytes = worker.lane.files.plan(slot.unit.file_index).file_bytes;
    if slot.unit.direction == Direction::Read && slot.unit.offset_bytes + moved == file_bytes {
        let left = slot.unit.length_bytes as u64 - moved;
        worker.lane.account.data_done(data, slot.length_bytes - left, &worker.lane.clock, slot.stamps, done);
        if worker.hooks.sees_completions {
            worker.hooks.done(&mut worker.lane, slot_index, data, done);
        }
        return Finished::Done;
    }
    let slot = worker.lane.slots.get_mut(slot_index);
    slot.was_short = true;
    slot.unit.offset_bytes += moved;
    slot.unit.buffer_offset += moved as usize;
    slot.unit.length_bytes -= moved as usize;
    Finished::Again
}

/// Calls the hooks that see the I/O before it is handed to the engine.
#[cold]
#[inline(never)]
fn observe_issue(worker: &mut Worker<'_>, slot_index: u32) -> Result<(), Stop> {
    let Worker { lane, hooks, .. } = worker;
    if let Some(verifier) = &mut hooks.verifier {
        verifier.stop_where_state_ends(lane, slot_index)?;
    }
    if hooks.serializer.as_ref().is_some_and(|serializer| serializer.is_blocked(lane.slots.get(slot_index))) {
        collect_overlapping(worker, slot_index)?;
    }
    worker.hooks.issue(&mut worker.lane, slot_index)
}

/// Waits until no I/O in flight touches the bytes of the I/O in this slot. The wait is not part of its latency.
fn collect_overlapping(worker: &mut Worker<'_>, slot_index: u32) -> Result<(), Stop> {
    let is_blocked = |worker: &Worker<'_>| {
        let slot = worker.lane.slots.get(slot_index);
        worker.hooks.serializer.as_ref().is_some_and(|serializer| serializer.is_blocked(slot))
    };
    worker.lane.slots.hold_one_back();
    let mut collected = Ok(());
    while collected.is_ok() && is_blocked(worker) {
        collected = collect_some(worker);
    }
    worker.lane.slots.count_it_again();
    if collected.is_err() {
        never_issued(worker, slot_index);
        return collected;
    }
    let now = worker.lane.clock.stamp();
    worker.lane.slots.get_mut(slot_index).stamps = Stamps { start: now, issue: now };
    Ok(())
}

/// The job ends while an I/O waits. The caller, who filled the slot, frees it.
fn never_issued(worker: &mut Worker<'_>, slot_index: u32) {
    let Worker { lane, hooks, .. } = worker;
    if let Some(verifier) = &mut hooks.verifier {
        verifier.failed(lane, slot_index);
    }
    if let Some(data) = lane.slots.get(slot_index).unit.direction.data() {
        lane.account.data_is_withdrawn(data);
    }
}

/// Passes a data I/O that was handed to the kernel to the log.
#[inline(never)]
pub(crate) fn log_issued(worker: &mut Worker<'_>, slot_index: u32, direction: DataDirection) {
    if let Some(log) = &mut worker.hooks.log {
        log.issued(&worker.lane, slot_index, direction);
    }
}
