//! Steps between two I/Os that the workload asks for: turns, trims of written blocks, files that start over or end.
//!
//! Must not know: batches, how I/O is done. Start reading at [`between_ios`].

use super::Worker;
use super::in_flight::drain;
use super::open_files::{close_in_pass, open_file};
use super::pacing::wait_until_due;
use super::trims::trim_between;
use super::zones::{quiet_zones, wait_for_zone, zones_failed};
use crate::error::{Failure, failure};
use crate::worker::core::{Stop, WorkerCore};
use ferrio_stats::note::ReplayNote;
use ferrio_sys::errno::EIO;
use ferrio_workload::replay::ReplayStream;
use ferrio_workload::{Next, SharedZoning};

/// Does what the workload asks for between two I/Os. `stamp` is the end of the last I/O, and afterwards the start of
/// the next. `Some`: the pass ends.
#[inline(never)]
pub(crate) fn between_ios(worker: &mut Worker<'_>, next: Next, stamp: &mut u64) -> Option<Stop> {
    if next == Next::Wait {
        // The check that most jobs pass comes first, because a job with a rate gets here before each I/O.
        if !worker.hooks.verifies() {
            return wait_until_due(worker, stamp);
        }
        match trim_between(worker) {
            Ok(true) => {}
            Ok(false) => return wait_until_due(worker, stamp),
            Err(stop) => return Some(stop),
        }
    }
    let stop = say_of_files(worker, next);
    *stamp = worker.core.clock.stamp();
    stop
}

/// Does what the workload asks for with files. `Some`: the pass ends.
fn say_of_files(worker: &mut Worker<'_>, next: Next) -> Option<Stop> {
    match next {
        Next::Io(_) | Next::Wait => None,
        Next::PassEnd => Some(Stop::PassEnd),
        Next::Open(file_index) => open_for_replay(worker, file_index),
        Next::Failed => Some(stream_failed(worker)),
        Next::Drain => quiet_zones(worker).err(),
        Next::Held => {
            wait_for_zone(worker);
            None
        }
        Next::Restart(file_index) => {
            note_missed(&mut worker.core);
            let stop = end_round(worker).err();
            worker.core.files.restarted(file_index);
            stop
        }
        Next::Close(file_index) => end_of_file(worker, file_index).err().map(|error| Stop::Failed(Box::new(error))),
    }
}

/// Waits for all writes in flight before a verified file starts over, because an old and a new write to a block could
/// land in either order.
#[cold]
fn end_round(worker: &mut Worker<'_>) -> Result<(), Stop> {
    if worker.hooks.drains_between_rounds() && worker.core.queue.iodepth > 1 { drain(worker) } else { Ok(()) }
}

/// Ends a file that has nothing left to do.
#[cold]
fn end_of_file(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    note_missed(&mut worker.core);
    let core = &worker.core;
    if !core.files.is_open(file_index) && core.rules.files.opens_empty {
        open_file(worker, file_index)?;
    }
    if worker.core.files.close_when_idle(file_index) {
        return close_in_pass(worker, file_index);
    }
    Ok(())
}

/// The offset of a block that did not fit may be the one that a trace shows for the next sync.
fn note_missed(core: &mut WorkerCore<'_>) {
    if !core.rules.files.traces_missed_place {
        return;
    }
    if let Some(offset_bytes) = core.workload.missed_bytes() {
        let slot_index = core.slots.next();
        core.slots.get_mut(slot_index).data_offset = offset_bytes;
    }
}

/// Opens a file for a replay, or cancels its close.
#[cold]
fn open_for_replay(worker: &mut Worker<'_>, file_index: u32) -> Option<Stop> {
    if worker.core.files.stays_open(file_index) {
        return None;
    }
    open_file(worker, file_index).err().map(|error| Stop::Failed(Box::new(error)))
}

#[cold]
pub(crate) fn stream_failed(worker: &mut Worker<'_>) -> Stop {
    let workload = &worker.core.workload;
    if let Some(failure) = workload.zones().and_then(SharedZoning::failure) {
        return Stop::Failed(Box::new(zones_failed(&worker.core, failure)));
    }
    let failure = failure!(EIO, "read_iolog");
    Stop::Failed(Box::new(match workload.replayed().and_then(ReplayStream::error) {
        Some(error) => failure.explained(ReplayNote::Broken(error.into())),
        None => failure,
    }))
}
