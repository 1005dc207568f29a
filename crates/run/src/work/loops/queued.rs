//! The loop for several I/Os in flight: prepare, commit in batches, reap when the depth is reached.
//!
//! Must not know: what engines do. Start reading at [`run`].
//! Facts: reference "Queue handling". Units of one system call share its stamp: the issue stamp is taken when the
//! commit returns, the completion stamp when the reap returns. A unit's start is the last stamp before its preparation.

use super::between::between_ios;
use super::connection::waited_in_vain;
use super::io::{Finished, fill_slot, finish, finish_whole, log_issued, opened};
use super::open_files::close_file;
use super::{Attendant, Worker};
use crate::error::failure;
use crate::work::hooks::Hooks;
use crate::work::lane::{Lane, Stop};
use ferrio_engine::{Completion, IoResult, Queued};
use ferrio_spec::engines::Completes;
use ferrio_stats::FailedStep;
use ferrio_sys::errno::EAGAIN;
use ferrio_workload::Next;

/// Does one pass; nothing is in flight at its end.
pub(crate) fn run(worker: &mut Worker<'_>, attendant: &mut dyn Attendant) -> Stop {
    let stop = match fill_and_collect(worker, attendant) {
        Ok(stop) | Err(stop) => stop,
    };
    match drain(worker) {
        Err(late) if !matches!(stop, Stop::Failed(_)) => late,
        _ => stop,
    }
}

fn fill_and_collect(worker: &mut Worker<'_>, attendant: &mut dyn Attendant) -> Result<Stop, Stop> {
    let polls = worker.lane.queue.batch_complete_min == 0 && worker.lane.queue.batch_complete_max == 0;
    let (commits_each, completes_on_commit) =
        (worker.lane.queue.batch_submit == 1, worker.lane.plan.engine.def.completes == Completes::OnCommit);
    let mut stamp = worker.lane.clock.stamp();
    loop {
        if worker.lane.control.is_due(stamp) {
            if let Some(stop) = attendant.attend(worker, stamp) {
                return Ok(stop);
            }
            stamp = worker.lane.clock.stamp();
        }
        let io = match worker.lane.workload.next() {
            Next::Io(io) => io,
            other => {
                if let Some(stop) = between_ios(worker, other, &mut stamp) {
                    return Ok(stop);
                }
                continue;
            }
        };
        if !worker.lane.files.is_open(io.file_index) {
            wait_for_closing(worker, &mut stamp)?;
            stamp = opened(worker, &io)?;
        }
        // There is a free slot, because the loop collects results whenever there is none.
        let Some(slot_index) = worker.lane.slots.take() else { return Ok(Stop::PassEnd) };
        if let Err(stop) = fill_slot(worker, slot_index, &io, stamp) {
            // The slot must be free before a wait for all I/Os in flight, because this unit will never be in flight.
            worker.lane.slots.give_back(slot_index);
            return Err(stop);
        }
        worker.lane.files.takes_off(io.file_index);
        if commits_each && worker.lane.prepared.is_empty() {
            submit_one(worker, slot_index, &mut stamp)?;
        } else {
            enqueue(worker, slot_index, &mut stamp)?;
            if worker.lane.prepared.len() >= worker.lane.queue.batch_submit {
                commit(worker, &mut stamp)?;
            }
        }
        if worker.lane.slots.is_full() {
            collect_full(worker, &mut stamp)?;
        } else if completes_on_commit {
            if worker.lane.prepared.is_empty() {
                reap_here(worker, 1, worker.lane.queue.iodepth, &mut stamp)?;
            }
        } else if polls {
            commit(worker, &mut stamp)?;
            reap(worker, 0, worker.lane.queue.iodepth, &mut stamp)?;
        }
    }
}

/// Waits for I/Os in flight until a file that waits for its last I/O is closed, if no more files may be open (`openfiles`). As in
/// fio 3.41, only the I/Os of that file are waited for.
#[cold]
fn wait_for_closing(worker: &mut Worker<'_>, stamp: &mut u64) -> Result<(), Stop> {
    while worker.lane.files.awaits_close() {
        commit(worker, stamp)?;
        reap(worker, 1, worker.lane.queue.iodepth, stamp)?;
    }
    Ok(())
}

/// Submits a filled slot when no other is prepared: the usual case for most jobs.
#[inline]
fn submit_one(worker: &mut Worker<'_>, slot_index: u32, stamp: &mut u64) -> Result<(), Stop> {
    let queued = worker.lane.engine.queue(slot_index, &worker.lane.slots.get(slot_index).unit);
    if queued != Queued::Queued {
        take_queued(worker, slot_index, queued, stamp)?;
        return commit(worker, stamp);
    }
    match worker.lane.engine.commit() {
        Ok(1) => {}
        Ok(_) => {
            worker.lane.prepared.push(slot_index);
            return commit(worker, stamp);
        }
        Err(error) => return Err(refused(&error, "commit")),
    }
    *stamp = worker.lane.stamp_after(*stamp);
    let start = worker.lane.slots.get(slot_index).stamps.start;
    let issue = worker.lane.issued_at(start, *stamp);
    let slot = worker.lane.slots.get_mut(slot_index);
    slot.stamps.issue = issue;
    let (stamps, direction) = (slot.stamps, slot.unit.direction.data());
    if let Some(direction) = direction {
        worker.lane.account.data_issued(direction, &worker.lane.clock, stamps);
        if worker.hooks.logs_each_io {
            log_issued(worker, slot_index, direction);
        }
    }
    worker.lane.count_commit(1, 1);
    Ok(())
}

/// Hands a filled slot to the engine.
#[inline]
fn enqueue(worker: &mut Worker<'_>, slot_index: u32, stamp: &mut u64) -> Result<(), Stop> {
    let queued = worker.lane.engine.queue(slot_index, &worker.lane.slots.get(slot_index).unit);
    take_queued(worker, slot_index, queued, stamp)
}

/// Continues according to the engine's answer for a slot, until the unit is queued or done.
#[inline]
fn take_queued(worker: &mut Worker<'_>, slot_index: u32, mut queued: Queued, stamp: &mut u64) -> Result<(), Stop> {
    loop {
        match queued {
            Queued::Queued => {
                worker.lane.prepared.push(slot_index);
                return Ok(());
            }
            Queued::Completed(result) => {
                *stamp = worker.lane.stamp_after(*stamp);
                let is_new = !worker.lane.slots.get(slot_index).was_short;
                worker.lane.count_commit(1, is_new.into());
                worker.lane.account.reaped(1);
                if take_result(worker, slot_index, result, *stamp)? {
                    return Ok(());
                }
            }
            Queued::Busy => {
                if !worker.lane.prepared.is_empty() {
                    commit(worker, stamp)?;
                }
                reap(worker, 1, worker.lane.queue.batch_complete_max.max(1), stamp)?;
            }
        }
        queued = worker.lane.engine.queue(slot_index, &worker.lane.slots.get(slot_index).unit);
    }
}

/// Hands all prepared units to the kernel.
#[inline]
fn commit(worker: &mut Worker<'_>, stamp: &mut u64) -> Result<(), Stop> {
    while !worker.lane.prepared.is_empty() {
        let n_taken = match worker.lane.engine.commit() {
            Ok(0) => {
                wait_for_room(worker, stamp)?;
                continue;
            }
            Ok(n_taken) => n_taken,
            Err(error) => return Err(refused(&error, "commit")),
        };
        *stamp = worker.lane.stamp_after(*stamp);
        let n_new = mark_issued(worker, n_taken, *stamp);
        worker.lane.count_commit(n_taken, n_new);
    }
    Ok(())
}

/// Submits all prepared units, and takes at least one result.
pub(crate) fn collect_some(worker: &mut Worker<'_>) -> Result<(), Stop> {
    let mut stamp = worker.lane.clock.stamp();
    commit(worker, &mut stamp)?;
    reap(worker, 1, worker.lane.queue.iodepth, &mut stamp)
}

/// Submits all prepared units, and takes the results that come before `until_ns`.
pub(crate) fn collect_until(worker: &mut Worker<'_>, until_ns: u64) -> Result<(), Stop> {
    let mut stamp = worker.lane.clock.stamp();
    commit(worker, &mut stamp)?;
    worker.lane.completions.clear();
    let Lane { engine, completions, clock, queue, .. } = &mut worker.lane;
    engine.reap_until(queue.iodepth, until_ns, clock, completions).map_err(|error| refused(&error, "getevents"))?;
    if worker.lane.completions.is_empty() {
        return Ok(());
    }
    stamp = worker.lane.stamp_after(stamp);
    worker.lane.account.reaped(worker.lane.completions.len() as u32);
    take_all(worker, stamp)
}

/// The kernel takes nothing now: reaps, or tries again if nothing is in flight.
#[cold]
fn wait_for_room(worker: &mut Worker<'_>, stamp: &mut u64) -> Result<(), Stop> {
    if worker.lane.slots.n_used() > worker.lane.prepared.len() {
        reap(worker, 1, worker.lane.queue.iodepth, stamp)
    } else {
        Ok(())
    }
}

/// Records that the oldest prepared units are with the kernel. Returns how many of them are not rests of short
/// transfers; a rest keeps the stamps of its I/O.
#[inline]
fn mark_issued(worker: &mut Worker<'_>, n_units: u32, stamp: u64) -> u32 {
    let mut n_new = 0;
    let Lane { prepared, slots, account, clock, stamper, .. } = &mut worker.lane;
    let Hooks { log, logs_each_io, .. } = &mut worker.hooks;
    prepared.commit(n_units, |slot_index| {
        let slot = slots.get_mut(*slot_index);
        if slot.was_short {
            return;
        }
        n_new += 1;
        slot.stamps.issue = if stamper.issues_when_queued { slot.stamps.start } else { stamp };
        if let Some(direction) = slot.unit.direction.data() {
            account.data_issued(direction, clock, slot.stamps);
            if *logs_each_io
                && let Some(log) = log
                && !account.is_ramping()
            {
                log.io_issued(slot, direction, clock);
            }
        }
    });
    n_new
}

/// Called when no slot is free: collects results until no more slots than the low mark are in use.
#[inline]
fn collect_full(worker: &mut Worker<'_>, stamp: &mut u64) -> Result<(), Stop> {
    let min = worker.lane.queue.batch_complete_min.max(1);
    loop {
        commit(worker, stamp)?;
        if !worker.lane.slots.is_full() && worker.lane.slots.n_used() <= worker.lane.queue.low {
            return Ok(());
        }
        reap(worker, min, worker.lane.queue.batch_complete_max.max(min), stamp)?;
        if worker.lane.control.is_terminated() && !worker.lane.slots.is_full() {
            return Ok(());
        }
    }
}

/// Takes between `min` and `max` results.
#[inline(never)]
fn reap(worker: &mut Worker<'_>, min: u32, max: u32, stamp: &mut u64) -> Result<(), Stop> {
    reap_here(worker, min, max, stamp)
}

/// The same, inlined for the place that most I/Os pass.
#[expect(clippy::inline_always, reason = "a call saves registers and hands over the stamp in memory")]
#[inline(always)]
fn reap_here(worker: &mut Worker<'_>, min: u32, max: u32, stamp: &mut u64) -> Result<(), Stop> {
    let n_committed = worker.lane.slots.n_used() - worker.lane.prepared.len();
    worker.lane.completions.clear();
    if let Err(error) = worker.lane.engine.reap(min.min(n_committed), max, &mut worker.lane.completions) {
        return Err(refused(&error, "getevents"));
    }
    *stamp = worker.lane.stamp_after(*stamp);
    worker.lane.account.reaped(worker.lane.completions.len() as u32);
    if let [completion] = worker.lane.completions[..] {
        take_completion(worker, completion, *stamp)
    } else {
        take_all(worker, *stamp)
    }
}

/// Takes all reaped results, with one stamp.
#[inline(never)]
fn take_all(worker: &mut Worker<'_>, stamp: u64) -> Result<(), Stop> {
    if worker.lane.completions.is_empty() {
        waited_in_vain(&mut worker.lane);
        return Ok(());
    }
    let mut first = Ok(());
    // All are taken even if one ends the job, because the engine no longer has them and a later wait for them would
    // never end.
    let completions = std::mem::take(&mut worker.lane.completions);
    for completion in &completions {
        if let Err(stop) = take_completion(worker, *completion, stamp) {
            first = first.and(Err(stop));
        }
    }
    worker.lane.completions = completions;
    first
}

#[inline]
fn take_completion(worker: &mut Worker<'_>, completion: Completion, stamp: u64) -> Result<(), Stop> {
    let Completion { unit_index, result } = completion;
    match finish_whole(worker, unit_index, result, stamp) {
        Some(file_index) => release(worker, unit_index, file_index),
        None => take_odd(worker, unit_index, result, stamp),
    }
}

/// Handles a unit without a plain success: its rest continues, or its slot is free.
#[cold]
fn take_odd(worker: &mut Worker<'_>, slot_index: u32, result: IoResult, stamp: u64) -> Result<(), Stop> {
    if take_result(worker, slot_index, result, stamp)? { Ok(()) } else { requeue(worker, slot_index) }
}

/// True: the slot is free. False: the unit has a rest to do.
fn take_result(worker: &mut Worker<'_>, slot_index: u32, result: IoResult, stamp: u64) -> Result<bool, Stop> {
    let finished = finish(worker, slot_index, result, stamp);
    if finished == Finished::Again {
        return Ok(false);
    }
    let file_index = worker.lane.slots.get(slot_index).unit.file_index;
    let released = release(worker, slot_index, file_index);
    match finished {
        Finished::Stop(stop) => Err(stop),
        _ => released.map(|()| true),
    }
}

/// Frees a slot, and closes its file if the file waited for that.
#[inline]
fn release(worker: &mut Worker<'_>, slot_index: u32, file_index: u32) -> Result<(), Stop> {
    worker.lane.slots.give_back(slot_index);
    if worker.lane.files.lands(file_index) { close_idle_file(worker, file_index) } else { Ok(()) }
}

#[cold]
fn close_idle_file(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Stop> {
    // The loop takes a new stamp after that, because the time of the close is not that of the next I/O.
    worker.lane.control.look_up();
    close_file(worker, file_index).map_err(|error| Stop::Failed(Box::new(error)))
}

/// Gives the rest of a short transfer to the engine; the next commit submits it.
#[cold]
fn requeue(worker: &mut Worker<'_>, slot_index: u32) -> Result<(), Stop> {
    let mut stamp = worker.lane.clock.stamp();
    let unit = worker.lane.slots.get(slot_index).unit;
    for _ in 0..2 {
        match worker.lane.engine.queue(slot_index, &unit) {
            Queued::Queued => {
                worker.lane.prepared.push(slot_index);
                return Ok(());
            }
            Queued::Completed(result) => {
                let is_done = take_result(worker, slot_index, result, stamp)?;
                return if is_done { Ok(()) } else { requeue(worker, slot_index) };
            }
            // The engine has a rest queued that this one cannot join (`vsync`).
            Queued::Busy => commit(worker, &mut stamp)?,
        }
    }
    // A slot of the engine has just become free: if it still has no room, it will never have any.
    Err(Stop::Failed(Box::new(failure!(EAGAIN, "requeue"))))
}

/// Waits for all I/Os in flight. Errors of these units do not hide the first one.
pub(crate) fn drain(worker: &mut Worker<'_>) -> Result<(), Stop> {
    let mut first = Ok(());
    let mut stamp = worker.lane.clock.stamp();
    while worker.lane.slots.n_used() > 0 {
        let result = commit(worker, &mut stamp).and_then(|()| reap(worker, 1, worker.lane.queue.iodepth, &mut stamp));
        if let Err(stop) = result {
            let engine_failed = matches!(&stop, Stop::Failed(error) if error.step != FailedStep::IoUnit);
            if first.is_ok() {
                first = Err(stop);
            }
            if engine_failed {
                break;
            }
        }
    }
    first
}

fn refused(error: &std::io::Error, step: &'static str) -> Stop {
    Stop::Failed(Box::new(failure!(error.raw_os_error().unwrap_or(5), step)))
}
