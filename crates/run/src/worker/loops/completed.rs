//! The steps after an I/O: its result is taken, and counted or handled.
//!
//! Must not know: the kind of loop, batches. Start reading at [`finish_whole`], then [`finish`].

use super::Worker;
use super::connection::give_up;
use super::failure::{IoFault, fail};
use crate::worker::core::Stop;
use ferrio_engine::{IoResult, Outcome};
use ferrio_sys::errno::EIO;
use ferrio_units::{DataDirection, Direction};

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
    let Worker { core, hooks, .. } = worker;
    let slot = core.slots.get(slot_index);
    if !result.is_done_with(slot.unit.length_bytes) {
        return None;
    }
    let file_index = slot.unit.file_index;
    match slot.unit.direction.data() {
        Some(data) => {
            core.account.data_done(data, slot.length_bytes, &core.clock, slot.stamps, done);
            if hooks.sees_completions {
                hooks.done(core, slot_index, data, done);
            }
        }
        None => hooks.sync_done(core, slot_index, done),
    }
    Some(file_index)
}

/// Handles an error, a short transfer, or the end of the file.
#[cold]
fn finish_odd(worker: &mut Worker<'_>, slot_index: u32, result: IoResult, done: u64) -> Finished {
    let moved = match result.outcome() {
        Outcome::Done(n_bytes) => n_bytes,
        Outcome::Short(n_bytes) => return short_object(worker, slot_index, n_bytes, done),
        Outcome::Failed(errno) => return failed(worker, slot_index, IoFault::Errno(errno)),
        Outcome::NvmeStatus(status) => return failed(worker, slot_index, IoFault::Nvme(status)),
        Outcome::NotYet => return Finished::Again,
        Outcome::EndOfData => {
            give_up(worker, slot_index, done);
            return Finished::Stop(Stop::Ended);
        }
    };
    let core = &mut worker.core;
    let slot = *core.slots.get(slot_index);
    let Some(data) = slot.unit.direction.data() else { return Finished::Done };
    if moved == 0 {
        if slot.unit.direction == Direction::Read && slot.length_bytes == slot.unit.length_bytes as u64 {
            core.account.read_nothing();
        }
        let is_done_empty = slot.unit.direction == Direction::Read && core.rules.errors.empty_reads_are_done;
        // A read whose contents are checked needs them: what the buffer held before must not pass for them.
        if worker.hooks.checks(slot_index) || !is_done_empty {
            return failed(worker, slot_index, IoFault::Errno(EIO));
        }
        core.say_complaint();
        let moved = slot.length_bytes.saturating_sub(slot.unit.length_bytes as u64);
        return count_part(worker, slot_index, (data, moved), done);
    }
    if !slot.was_short {
        core.account.data_was_short(data);
    }
    let file_bytes = core.files.plan(slot.unit.file_index).file_bytes;
    if slot.unit.direction == Direction::Read && slot.unit.offset_bytes + moved == file_bytes {
        let left = slot.unit.length_bytes as u64 - moved;
        return count_part(worker, slot_index, (data, slot.length_bytes - left), done);
    }
    let slot = core.slots.get_mut(slot_index);
    slot.was_short = true;
    slot.unit.offset_bytes += moved;
    slot.unit.buffer_offset += moved as usize;
    slot.unit.length_bytes -= moved as usize;
    Finished::Again
}

/// Ends an I/O on an object that is shorter than the block: it counts with the bytes that have come. One whose contents are checked fails,
/// because it needs them all.
fn short_object(worker: &mut Worker<'_>, slot_index: u32, moved: u64, done: u64) -> Finished {
    let core = &mut worker.core;
    let Some(data) = core.slots.get(slot_index).unit.direction.data() else { return Finished::Done };
    core.account.data_was_short(data);
    if worker.hooks.checks(slot_index) {
        return failed(worker, slot_index, IoFault::Errno(EIO));
    }
    // Nothing is wrong with this I/O.
    drop(core.take_complaint());
    count_part(worker, slot_index, (data, moved), done)
}

/// Counts an I/O that ends with fewer bytes than it has.
fn count_part(
    worker: &mut Worker<'_>,
    slot_index: u32,
    (direction, n_bytes): (DataDirection, u64),
    done: u64,
) -> Finished {
    let Worker { core, hooks, .. } = worker;
    let slot = core.slots.get(slot_index);
    debug_assert!(n_bytes <= slot.length_bytes, "an I/O moves no more bytes than it has");
    core.account.data_done(direction, n_bytes, &core.clock, slot.stamps, done);
    if hooks.sees_completions {
        hooks.done(core, slot_index, direction, done);
    }
    Finished::Done
}

fn failed(worker: &mut Worker<'_>, slot_index: u32, fault: IoFault) -> Finished {
    fail(worker, slot_index, fault).map_or_else(Finished::Stop, |()| Finished::Done)
}
