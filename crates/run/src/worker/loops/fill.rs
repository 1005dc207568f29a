//! The steps before an I/O is handed to the engine: its file is opened, its slot is filled, and the hooks see it.
//!
//! Must not know: the kind of loop, engines. Start reading at [`fill_slot`].

use super::Worker;
use super::in_flight::{collect_some, drain};
use super::open_files::{make_room, open_file};
use crate::worker::core::account::Stamps;
use crate::worker::core::{Stop, WorkerCore};
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::NextIo;
use std::ops::Range;

/// Opens the file of an I/O, and returns the stamp after that: the time of the I/O begins with an open file.
#[cold]
#[inline(never)]
pub(crate) fn opened(worker: &mut Worker<'_>, io: &NextIo) -> Result<u64, Stop> {
    if worker.hooks.verifies() && !make_room(worker)? {
        drain(worker)?;
        make_room(worker)?;
    }
    open_file(worker, io.file_index)?;
    Ok(worker.core.clock.stamp())
}

/// Makes the unit of an I/O in a slot: prepares the data of a write. Its file is open.
#[expect(
    clippy::inline_always,
    reason = "left to itself the compiler does so or not by chance: 31 instructions an I/O"
)]
#[inline(always)]
pub(crate) fn fill_slot(worker: &mut Worker<'_>, slot_index: u32, io: &NextIo, start: u64) -> Result<(), Stop> {
    let core = &mut worker.core;
    let slot = core.slots.get_mut(slot_index);
    slot.stamps = Stamps { start, issue: start };
    slot.length_bytes = io.length_bytes;
    slot.was_short = false;
    let unit = &mut slot.unit;
    unit.direction = io.direction;
    unit.file_index = io.file_index;
    unit.length_bytes = io.length_bytes as usize;
    unit.buffer_offset = core.buffers.place(slot_index);
    match io.direction.data() {
        Some(direction) => {
            unit.offset_bytes = io.offset_bytes;
            slot.data_offset = io.offset_bytes;
            core.account.data_begins(direction);
            if direction == DataDirection::Write {
                prepare_write(worker, slot_index, io, start);
            }
        }
        None => fill_sync(core, slot_index, io),
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
    let Worker { core, hooks, .. } = worker;
    hooks.fill(core, slot_index, start);
    if core.rules.syncs.range_flags.is_some() {
        core.unsynced.wrote(io.file_index, io.offset_bytes..io.offset_bytes + io.length_bytes);
    }
}

#[cold]
fn fill_sync(core: &mut WorkerCore<'_>, slot_index: u32, io: &NextIo) {
    core.account.sync_begins();
    if io.direction != Direction::SyncFileRange {
        return;
    }
    let Range { start: low, end: high } = core.unsynced.take(io.file_index);
    let slot = core.slots.get_mut(slot_index);
    slot.length_bytes = high - low;
    slot.unit.offset_bytes = low;
    slot.unit.length_bytes = (high - low) as usize;
    slot.unit.sync_flags = core.rules.syncs.range_flags.unwrap_or(0);
}

/// Calls the hooks that see the I/O before it is handed to the engine.
#[cold]
#[inline(never)]
fn observe_issue(worker: &mut Worker<'_>, slot_index: u32) -> Result<(), Stop> {
    if worker.hooks.is_blocked(&worker.core, slot_index) {
        collect_overlapping(worker, slot_index)?;
    }
    worker.hooks.issue(&mut worker.core, slot_index)
}

/// Waits until no I/O in flight touches the bytes of the I/O in this slot. The wait is not part of its latency.
fn collect_overlapping(worker: &mut Worker<'_>, slot_index: u32) -> Result<(), Stop> {
    worker.core.slots.hold_one_back();
    let mut collected = Ok(());
    while collected.is_ok() && worker.hooks.is_blocked(&worker.core, slot_index) {
        collected = collect_some(worker);
    }
    let core = &mut worker.core;
    core.slots.count_it_again();
    if collected.is_err() {
        never_issued(worker, slot_index);
        return collected;
    }
    let now = core.clock.stamp();
    core.slots.get_mut(slot_index).stamps = Stamps { start: now, issue: now };
    Ok(())
}

/// The job ends while an I/O waits. The caller, who filled the slot, frees it.
fn never_issued(worker: &mut Worker<'_>, slot_index: u32) {
    let Worker { core, hooks, .. } = worker;
    hooks.never_issued(core, slot_index);
    if let Some(data) = core.slots.get(slot_index).unit.direction.data() {
        core.account.data_is_withdrawn(data);
    }
}
