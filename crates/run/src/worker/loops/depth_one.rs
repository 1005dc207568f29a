//! The loop for one I/O at a time: synchronous engines, and any engine at `iodepth=1`.
//!
//! Must not know: batches. Start reading at [`run`]. The stamp at the end of an I/O is also the start of the next, so
//! there are two reads of the clock per I/O.

use super::between::between_ios;
use super::completed::{Finished, finish};
use super::connection::{give_up, waited_in_vain};
use super::fill::{fill_slot, opened};
use super::in_flight::{mark_one_issued, refused};
use super::{DeadlineHandler, Worker};
use crate::error::failure;
use crate::worker::core::account::Stamps;
use crate::worker::core::{Stop, WorkerCore};
use ferrio_engine::{IoResult, Queued};
use ferrio_sys::errno::EAGAIN;
use ferrio_workload::Next;

/// Does one pass. `BY_ENGINE`: the engine takes the stamps around its calls.
pub(crate) fn run<const BY_ENGINE: bool>(worker: &mut Worker<'_>, deadlines: &mut dyn DeadlineHandler) -> Stop {
    one_by_one(worker, deadlines, do_one::<BY_ENGINE>)
}

/// A pass in which an I/O begins when the one before it is over. `act` does the I/O in slot 0, and returns the stamp at its end.
#[inline]
pub(super) fn one_by_one(
    worker: &mut Worker<'_>,
    deadlines: &mut dyn DeadlineHandler,
    mut act: impl FnMut(&mut Worker<'_>, &mut dyn DeadlineHandler, u64) -> Result<u64, Stop>,
) -> Stop {
    let mut stamp = worker.core.clock.stamp();
    loop {
        if worker.core.control.is_due(stamp) {
            if let Some(stop) = deadlines.on_deadline(worker, stamp) {
                return stop;
            }
            stamp = worker.core.clock.stamp();
        }
        // Here and not in a function that both loops call: it would return the I/O through memory, for 30 instructions.
        let io = match worker.core.workload.next() {
            Next::Io(io) => io,
            other => {
                if let Some(stop) = between_ios(worker, other, &mut stamp) {
                    return stop;
                }
                continue;
            }
        };
        if !worker.core.files.is_open(io.file_index) {
            match opened(worker, &io) {
                Ok(now) => stamp = now,
                Err(stop) => return stop,
            }
        }
        if let Err(stop) = fill_slot(worker, 0, &io, stamp) {
            return stop;
        }
        match act(worker, deadlines, stamp) {
            Ok(done) => stamp = done,
            Err(stop) => return stop,
        }
    }
}

/// Does the unit in slot 0; returns the stamp at its end.
#[inline]
fn do_one<const BY_ENGINE: bool>(
    worker: &mut Worker<'_>,
    deadlines: &mut dyn DeadlineHandler,
    start: u64,
) -> Result<u64, Stop> {
    let (result, done) = if BY_ENGINE { call_timed(worker, start) } else { call(worker, start) }?;
    match finish(worker, 0, result, done) {
        Finished::Done => Ok(done),
        Finished::Again => do_rests(worker, deadlines, done, result),
        Finished::Stop(stop) => Err(stop),
    }
}

/// Lets the engine do the unit in slot 0, with stamps around `queue`, `commit` and `reap`.
#[inline]
fn call(worker: &mut Worker<'_>, start: u64) -> Result<(IoResult, u64), Stop> {
    let core = &mut worker.core;
    let issue = core.stamp_after(start);
    let slot = core.slots.get_mut(0);
    slot.stamps = Stamps { start, issue };
    match core.engine.queue(0, &slot.unit) {
        Queued::Completed(result) => {
            // The stamp comes first, because time after this point is not the device's.
            let done = core.stamp_after(issue);
            count_inline(core);
            Ok((result, done))
        }
        Queued::Queued => commit_and_reap_one(worker, start),
        Queued::Busy => Err(no_room()),
    }
}

/// Lets the engine do the unit in slot 0 and take the stamps.
#[inline]
fn call_timed(worker: &mut Worker<'_>, start: u64) -> Result<(IoResult, u64), Stop> {
    let core = &mut worker.core;
    let slot = core.slots.get_mut(0);
    let (queued, stamps) = core.engine.queue_timed(0, &slot.unit, &core.clock);
    slot.stamps = Stamps { start, issue: stamps.before };
    match queued {
        Queued::Completed(result) => {
            count_inline(core);
            Ok((result, stamps.after))
        }
        Queued::Queued => commit_and_reap_one(worker, start),
        Queued::Busy => Err(no_room()),
    }
}

#[inline]
fn count_inline(core: &mut WorkerCore<'_>) {
    core.account.were_in_flight(1, 1);
    // I/Os that an engine with files does itself (syncs, most trims) count as calls; those of `null` do not.
    if core.rules.counts_calls {
        core.count_call();
    }
}

fn commit_and_reap_one(worker: &mut Worker<'_>, start: u64) -> Result<(IoResult, u64), Stop> {
    commit_one(&mut worker.core)?;
    let submitted = worker.core.stamp_after(start);
    mark_one_issued(worker, 0, submitted);
    let core = &mut worker.core;
    let result = reap_one(core)?;
    let done = core.stamp_after(submitted);
    core.account.were_in_flight(1, 1);
    core.count_call();
    Ok((result, done))
}

/// Does the rest after a short transfer. It is part of the same I/O: stamps and depth stay as they are, but its calls
/// count.
#[cold]
fn do_rests(
    worker: &mut Worker<'_>,
    deadlines: &mut dyn DeadlineHandler,
    last: u64,
    first_result: IoResult,
) -> Result<u64, Stop> {
    let mut result = first_result;
    loop {
        // Waiting for the other end of a connection counts as one call, however often it is repeated; meanwhile
        // requests and deadlines are handled.
        let is_waiting = result == IoResult::NOT_YET;
        if is_waiting && let Some(stop) = attend_waiting(worker, deadlines) {
            return Err(stop);
        }
        let core = &mut worker.core;
        result = match core.queue_slot(0) {
            Queued::Completed(result) => result,
            Queued::Queued => {
                commit_one(core)?;
                reap_one(core)?
            }
            Queued::Busy => return Err(no_room()),
        };
        if !is_waiting {
            core.count_call();
        }
        let done = core.stamp_after(last);
        match finish(worker, 0, result, done) {
            Finished::Done => return Ok(done),
            Finished::Again => {}
            Finished::Stop(stop) => return Err(stop),
        }
    }
}

/// Handles deadlines while an I/O waits for the other end of a connection. `Some`: the pass ends, and the I/O with it.
fn attend_waiting(worker: &mut Worker<'_>, deadlines: &mut dyn DeadlineHandler) -> Option<Stop> {
    let stamp = worker.core.clock.stamp();
    let stop = deadlines.on_deadline(worker, stamp)?;
    give_up(worker, 0, stamp);
    Some(stop)
}

/// Submits the one unit; repeats as long as the kernel takes nothing.
fn commit_one(core: &mut WorkerCore<'_>) -> Result<(), Stop> {
    while core.engine.commit().map_err(|error| refused(&error, "commit"))? == 0 {}
    Ok(())
}

/// Waits for the one unit in flight.
fn reap_one(core: &mut WorkerCore<'_>) -> Result<IoResult, Stop> {
    loop {
        core.reap(1, 1).map_err(|error| refused(&error, "getevents"))?;
        if let Some(completion) = core.completions.first() {
            return Ok(completion.result);
        }
        waited_in_vain(core);
    }
}

/// Nothing is in flight, so an engine that has no room now will never have any.
fn no_room() -> Stop {
    Stop::Failed(Box::new(failure!(EAGAIN, "queue")))
}
