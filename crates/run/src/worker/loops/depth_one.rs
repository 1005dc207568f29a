//! The loop for one I/O at a time: synchronous engines, and any engine at `iodepth=1`.
//!
//! Must not know: batches. Start reading at [`run`]. The stamp at the end of an I/O is also the start of the next, so
//! there are two reads of the clock per I/O.

use super::between::between_ios;
use super::completed::{Finished, finish};
use super::connection::{give_up, waited_in_vain};
use super::fill::{fill_slot, opened};
use super::{DeadlineHandler, Worker};
use crate::error::failure;
use crate::worker::core::Stop;
use crate::worker::core::account::Stamps;
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
    let issue = worker.core.stamp_after(start);
    let slot = worker.core.slots.get_mut(0);
    slot.stamps = Stamps { start, issue };
    match worker.core.engine.queue(0, &slot.unit) {
        Queued::Completed(result) => {
            // The stamp comes first, because time after this point is not the device's.
            let done = worker.core.stamp_after(issue);
            count_inline(worker);
            Ok((result, done))
        }
        Queued::Queued => commit_and_reap_one(worker, start),
        Queued::Busy => Err(no_room()),
    }
}

/// Lets the engine do the unit in slot 0 and take the stamps.
#[inline]
fn call_timed(worker: &mut Worker<'_>, start: u64) -> Result<(IoResult, u64), Stop> {
    let slot = worker.core.slots.get_mut(0);
    let (queued, stamps) = worker.core.engine.queue_timed(0, &slot.unit, &worker.core.clock);
    slot.stamps = Stamps { start, issue: stamps.before };
    match queued {
        Queued::Completed(result) => {
            count_inline(worker);
            Ok((result, stamps.after))
        }
        Queued::Queued => commit_and_reap_one(worker, start),
        Queued::Busy => Err(no_room()),
    }
}

#[inline]
fn count_inline(worker: &mut Worker<'_>) {
    worker.core.account.were_in_flight(1, 1);
    // I/Os that an engine with files does itself (syncs, most trims) count as calls; those of `null` do not.
    if worker.core.rules.counts_calls {
        count_calls(worker);
    }
}

fn commit_and_reap_one(worker: &mut Worker<'_>, start: u64) -> Result<(IoResult, u64), Stop> {
    commit_one(worker)?;
    let submitted = worker.core.stamp_after(start);
    let issue = worker.core.issued_at(start, submitted);
    let slot = worker.core.slots.get_mut(0);
    slot.stamps.issue = issue;
    let (stamps, direction) = (slot.stamps, slot.unit.direction.data());
    if let Some(direction) = direction {
        worker.core.account.data_issued(direction, &worker.core.clock, stamps);
        if worker.hooks.logs_each_io {
            worker.hooks.submitted(&worker.core, 0, direction);
        }
    }
    let result = reap_one(worker)?;
    let done = worker.core.stamp_after(submitted);
    worker.core.account.were_in_flight(1, 1);
    count_calls(worker);
    Ok((result, done))
}

#[inline]
fn count_calls(worker: &mut Worker<'_>) {
    worker.core.account.submitted(1);
    worker.core.account.reaped(1);
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
        result = match worker.core.engine.queue(0, &worker.core.slots.get(0).unit) {
            Queued::Completed(result) => result,
            Queued::Queued => {
                commit_one(worker)?;
                reap_one(worker)?
            }
            Queued::Busy => return Err(no_room()),
        };
        if !is_waiting {
            count_calls(worker);
        }
        let done = worker.core.stamp_after(last);
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
fn commit_one(worker: &mut Worker<'_>) -> Result<(), Stop> {
    let refused = |error: std::io::Error| Stop::Failed(Box::new(failure!(error.raw_os_error().unwrap_or(5), "commit")));
    while worker.core.engine.commit().map_err(refused)? == 0 {}
    Ok(())
}

/// Waits for the one unit in flight.
fn reap_one(worker: &mut Worker<'_>) -> Result<IoResult, Stop> {
    loop {
        worker.core.completions.clear();
        let reaped = worker.core.engine.reap(1, 1, &mut worker.core.completions);
        reaped.map_err(|error| Stop::Failed(Box::new(failure!(error.raw_os_error().unwrap_or(5), "getevents"))))?;
        if let Some(completion) = worker.core.completions.first() {
            return Ok(completion.result);
        }
        waited_in_vain(&mut worker.core);
    }
}

/// Nothing is in flight, so an engine that has no room now will never have any.
fn no_room() -> Stop {
    Stop::Failed(Box::new(failure!(EAGAIN, "queue")))
}
