//! The loop for several I/Os in flight: prepare, commit in batches, reap when the depth is reached.
//!
//! Must not know: what engines do. Start reading at [`run`]; how units are committed and reaped is in
//! [`in_flight`](super::in_flight).
//! Facts: reference "Queue handling". A unit's start is the last stamp before its preparation.

use super::between::between_ios;
use super::fill::{fill_slot, opened};
use super::in_flight::{commit, drain, reap, reap_here, refused, take_result};
use super::{DeadlineHandler, Worker};
use crate::worker::core::Stop;
use ferrio_engine::Queued;
use ferrio_spec::engines::Completes;
use ferrio_workload::Next;

/// Does one pass; nothing is in flight at its end.
pub(crate) fn run(worker: &mut Worker<'_>, deadlines: &mut dyn DeadlineHandler) -> Stop {
    let stop = match fill_and_collect(worker, deadlines) {
        Ok(stop) | Err(stop) => stop,
    };
    match drain(worker) {
        Err(late) if !matches!(stop, Stop::Failed(_)) => late,
        _ => stop,
    }
}

fn fill_and_collect(worker: &mut Worker<'_>, deadlines: &mut dyn DeadlineHandler) -> Result<Stop, Stop> {
    let polls = worker.core.queue.batch_complete_min == 0 && worker.core.queue.batch_complete_max == 0;
    let (commits_each, completes_on_commit) =
        (worker.core.queue.batch_submit == 1, worker.core.rules.engine.completes == Completes::OnCommit);
    let mut stamp = worker.core.clock.stamp();
    loop {
        if worker.core.control.is_due(stamp) {
            if let Some(stop) = deadlines.on_deadline(worker, stamp) {
                return Ok(stop);
            }
            stamp = worker.core.clock.stamp();
        }
        let io = match worker.core.workload.next() {
            Next::Io(io) => io,
            other => {
                if let Some(stop) = between_ios(worker, other, &mut stamp) {
                    return Ok(stop);
                }
                continue;
            }
        };
        if !worker.core.files.is_open(io.file_index) {
            wait_for_closing(worker, &mut stamp)?;
            stamp = opened(worker, &io)?;
        }
        // There is a free slot, because the loop collects results whenever there is none.
        let Some(slot_index) = worker.core.slots.take() else { return Ok(Stop::PassEnd) };
        if let Err(stop) = fill_slot(worker, slot_index, &io, stamp) {
            // The slot must be free before a wait for all I/Os in flight, because this unit will never be in flight.
            worker.core.slots.give_back(slot_index);
            return Err(stop);
        }
        worker.core.files.takes_off(io.file_index);
        if commits_each && worker.core.prepared.is_empty() {
            submit_one(worker, slot_index, &mut stamp)?;
        } else {
            enqueue(worker, slot_index, &mut stamp)?;
            if worker.core.prepared.len() >= worker.core.queue.batch_submit {
                commit(worker, &mut stamp)?;
            }
        }
        if worker.core.slots.is_full() {
            collect_full(worker, &mut stamp)?;
        } else if completes_on_commit {
            if worker.core.prepared.is_empty() {
                reap_here(worker, 1, worker.core.queue.iodepth, &mut stamp)?;
            }
        } else if polls {
            commit(worker, &mut stamp)?;
            reap(worker, 0, worker.core.queue.iodepth, &mut stamp)?;
        }
    }
}

/// Waits for I/Os in flight until a file that waits for its last I/O is closed, if no more files may be open (`openfiles`). As in
/// fio 3.41, only the I/Os of that file are waited for.
#[cold]
fn wait_for_closing(worker: &mut Worker<'_>, stamp: &mut u64) -> Result<(), Stop> {
    while worker.core.files.awaits_close() {
        commit(worker, stamp)?;
        reap(worker, 1, worker.core.queue.iodepth, stamp)?;
    }
    Ok(())
}

/// Submits a filled slot when no other is prepared: the usual case for most jobs.
#[inline]
fn submit_one(worker: &mut Worker<'_>, slot_index: u32, stamp: &mut u64) -> Result<(), Stop> {
    let queued = worker.core.engine.queue(slot_index, &worker.core.slots.get(slot_index).unit);
    if queued != Queued::Queued {
        take_queued(worker, slot_index, queued, stamp)?;
        return commit(worker, stamp);
    }
    match worker.core.engine.commit() {
        Ok(1) => {}
        Ok(_) => {
            worker.core.prepared.push(slot_index);
            return commit(worker, stamp);
        }
        Err(error) => return Err(refused(&error, "commit")),
    }
    *stamp = worker.core.stamp_after(*stamp);
    let start = worker.core.slots.get(slot_index).stamps.start;
    let issue = worker.core.issued_at(start, *stamp);
    let slot = worker.core.slots.get_mut(slot_index);
    slot.stamps.issue = issue;
    let (stamps, direction) = (slot.stamps, slot.unit.direction.data());
    if let Some(direction) = direction {
        worker.core.account.data_issued(direction, &worker.core.clock, stamps);
        if worker.hooks.logs_each_io {
            worker.hooks.submitted(&worker.core, slot_index, direction);
        }
    }
    worker.core.count_commit(1, 1);
    Ok(())
}

/// Hands a filled slot to the engine.
#[inline]
fn enqueue(worker: &mut Worker<'_>, slot_index: u32, stamp: &mut u64) -> Result<(), Stop> {
    let queued = worker.core.engine.queue(slot_index, &worker.core.slots.get(slot_index).unit);
    take_queued(worker, slot_index, queued, stamp)
}

/// Continues according to the engine's answer for a slot, until the unit is queued or done.
#[inline]
fn take_queued(worker: &mut Worker<'_>, slot_index: u32, mut queued: Queued, stamp: &mut u64) -> Result<(), Stop> {
    loop {
        match queued {
            Queued::Queued => {
                worker.core.prepared.push(slot_index);
                return Ok(());
            }
            Queued::Completed(result) => {
                *stamp = worker.core.stamp_after(*stamp);
                let is_new = !worker.core.slots.get(slot_index).was_short;
                worker.core.count_commit(1, is_new.into());
                worker.core.account.reaped(1);
                if take_result(worker, slot_index, result, *stamp)? {
                    return Ok(());
                }
            }
            Queued::Busy => {
                if !worker.core.prepared.is_empty() {
                    commit(worker, stamp)?;
                }
                reap(worker, 1, worker.core.queue.batch_complete_max.max(1), stamp)?;
            }
        }
        queued = worker.core.engine.queue(slot_index, &worker.core.slots.get(slot_index).unit);
    }
}

/// Called when no slot is free: collects results until no more slots than the low mark are in use.
#[inline]
fn collect_full(worker: &mut Worker<'_>, stamp: &mut u64) -> Result<(), Stop> {
    let min = worker.core.queue.batch_complete_min.max(1);
    loop {
        commit(worker, stamp)?;
        if !worker.core.slots.is_full() && worker.core.slots.n_used() <= worker.core.queue.low {
            return Ok(());
        }
        reap(worker, min, worker.core.queue.batch_complete_max.max(min), stamp)?;
        if worker.core.control.is_terminated() && !worker.core.slots.is_full() {
            return Ok(());
        }
    }
}
