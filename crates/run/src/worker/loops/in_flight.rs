//! I/Os in flight: prepared units are handed to the kernel, results are taken, and slots are freed.
//!
//! Must not know: where I/Os come from, the kind of loop. Start reading at [`commit`], then [`reap`].
//! Facts: reference "Queue handling". Units of one system call share its stamp: the issue stamp is taken when the
//! commit returns, the completion stamp when the reap returns.

use super::Worker;
use super::completed::{Finished, finish, finish_whole};
use super::connection::waited_in_vain;
use super::open_files::close_in_pass;
use crate::error::failure;
use crate::worker::core::{Stop, WorkerCore};
use crate::worker::hooks::Hooks;
use ferrio_engine::{Completion, IoResult, Queued};
use ferrio_stats::FailedStep;
use ferrio_sys::errno::EAGAIN;

/// Hands all prepared units to the kernel.
#[inline]
pub(crate) fn commit(worker: &mut Worker<'_>, stamp: &mut u64) -> Result<(), Stop> {
    while !worker.core.prepared.is_empty() {
        let core = &mut worker.core;
        let n_taken = match core.engine.commit() {
            Ok(0) => {
                wait_for_room(worker, stamp)?;
                continue;
            }
            Ok(n_taken) => n_taken,
            Err(error) => return Err(refused(&error, "commit")),
        };
        debug_assert!(n_taken <= core.prepared.len(), "an engine takes no more units than it was given");
        *stamp = core.stamp_after(*stamp);
        let n_new = mark_issued(worker, n_taken, *stamp);
        worker.core.count_commit(n_taken, n_new);
    }
    Ok(())
}

/// Submits all prepared units, and takes at least one result.
pub(crate) fn collect_some(worker: &mut Worker<'_>) -> Result<(), Stop> {
    let mut stamp = worker.core.clock.stamp();
    commit(worker, &mut stamp)?;
    reap(worker, 1, worker.core.queue.iodepth, &mut stamp)
}

/// Submits all prepared units, and takes the results that come before `until_ns`.
pub(crate) fn collect_until(worker: &mut Worker<'_>, until_ns: u64) -> Result<(), Stop> {
    let mut stamp = worker.core.clock.stamp();
    commit(worker, &mut stamp)?;
    let core = &mut worker.core;
    core.completions.clear();
    let WorkerCore { engine, completions, clock, queue, .. } = core;
    engine.reap_until(queue.iodepth, until_ns, clock, completions).map_err(|error| refused(&error, "getevents"))?;
    if completions.is_empty() {
        return Ok(());
    }
    stamp = core.stamp_after(stamp);
    core.account.reaped(core.completions.len() as u32);
    take_all(worker, stamp)
}

/// The kernel takes nothing now: reaps, or tries again if nothing is in flight.
#[cold]
fn wait_for_room(worker: &mut Worker<'_>, stamp: &mut u64) -> Result<(), Stop> {
    let core = &worker.core;
    if core.slots.n_used() > core.prepared.len() { reap(worker, 1, core.queue.iodepth, stamp) } else { Ok(()) }
}

/// Records that the oldest prepared units are with the kernel. Returns how many of them are not rests of short
/// transfers; a rest keeps the stamps of its I/O.
#[inline]
fn mark_issued(worker: &mut Worker<'_>, n_units: u32, stamp: u64) -> u32 {
    let mut n_new = 0;
    let WorkerCore { prepared, slots, account, clock, stamper, .. } = &mut worker.core;
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

/// Records that the unit of this slot is with the kernel, after a call that submitted no other.
#[inline]
pub(crate) fn mark_one_issued(worker: &mut Worker<'_>, slot_index: u32, submitted: u64) {
    let Worker { core, hooks, .. } = worker;
    let start = core.slots.get(slot_index).stamps.start;
    let issue = core.issued_at(start, submitted);
    let slot = core.slots.get_mut(slot_index);
    slot.stamps.issue = issue;
    let (stamps, direction) = (slot.stamps, slot.unit.direction.data());
    if let Some(direction) = direction {
        core.account.data_issued(direction, &core.clock, stamps);
        if hooks.logs_each_io {
            hooks.submitted(core, slot_index, direction);
        }
    }
}

/// Takes between `min` and `max` results.
#[inline(never)]
pub(crate) fn reap(worker: &mut Worker<'_>, min: u32, max: u32, stamp: &mut u64) -> Result<(), Stop> {
    reap_here(worker, min, max, stamp)
}

/// The same, inlined for the place that most I/Os pass.
#[expect(clippy::inline_always, reason = "a call saves registers and hands over the stamp in memory")]
#[inline(always)]
pub(crate) fn reap_here(worker: &mut Worker<'_>, min: u32, max: u32, stamp: &mut u64) -> Result<(), Stop> {
    let core = &mut worker.core;
    debug_assert!(core.prepared.len() <= core.slots.n_used(), "each prepared unit has its slot");
    let n_committed = core.slots.n_used() - core.prepared.len();
    if let Err(error) = core.reap(min.min(n_committed), max) {
        return Err(refused(&error, "getevents"));
    }
    debug_assert!(core.completions.len() <= core.slots.n_used() as usize, "no more units end than are in flight");
    *stamp = core.stamp_after(*stamp);
    core.account.reaped(core.completions.len() as u32);
    if let [completion] = core.completions[..] {
        take_completion(worker, completion, *stamp)
    } else {
        take_all(worker, *stamp)
    }
}

#[inline(never)]
fn take_all(worker: &mut Worker<'_>, stamp: u64) -> Result<(), Stop> {
    let core = &mut worker.core;
    if core.completions.is_empty() {
        waited_in_vain(core);
        return Ok(());
    }
    let mut first = Ok(());
    // All are taken even if one ends the job, because the engine no longer has them and a later wait for them would
    // never end.
    let completions = std::mem::take(&mut core.completions);
    for completion in &completions {
        if let Err(stop) = take_completion(worker, *completion, stamp) {
            first = first.and(Err(stop));
        }
    }
    worker.core.completions = completions;
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
pub(crate) fn take_result(
    worker: &mut Worker<'_>,
    slot_index: u32,
    result: IoResult,
    stamp: u64,
) -> Result<bool, Stop> {
    let finished = finish(worker, slot_index, result, stamp);
    if finished == Finished::Again {
        return Ok(false);
    }
    let file_index = worker.core.slots.get(slot_index).unit.file_index;
    let released = release(worker, slot_index, file_index);
    match finished {
        Finished::Stop(stop) => Err(stop),
        _ => released.map(|()| true),
    }
}

/// Frees a slot, and closes its file if the file waited for that.
#[inline]
fn release(worker: &mut Worker<'_>, slot_index: u32, file_index: u32) -> Result<(), Stop> {
    let core = &mut worker.core;
    core.slots.give_back(slot_index);
    if core.files.lands(file_index) { close_idle_file(worker, file_index) } else { Ok(()) }
}

#[cold]
fn close_idle_file(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Stop> {
    // The loop takes a new stamp after that, because the time of the close is not that of the next I/O.
    worker.core.control.look_up();
    close_in_pass(worker, file_index).map_err(|error| Stop::Failed(Box::new(error)))
}

/// Gives the rest of a short transfer to the engine; the next commit submits it.
#[cold]
fn requeue(worker: &mut Worker<'_>, slot_index: u32) -> Result<(), Stop> {
    let mut stamp = worker.core.clock.stamp();
    for _ in 0..2 {
        let core = &mut worker.core;
        match core.queue_slot(slot_index) {
            Queued::Queued => {
                core.prepared.push(slot_index);
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
    let mut stamp = worker.core.clock.stamp();
    while worker.core.slots.n_used() > 0 {
        let result = commit(worker, &mut stamp).and_then(|()| reap(worker, 1, worker.core.queue.iodepth, &mut stamp));
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
    debug_assert!(
        worker.core.slots.n_used() > 0 || worker.core.prepared.is_empty(),
        "a unit that waits for a commit has a slot"
    );
    first
}

/// The end of a job whose engine refuses a call.
pub(crate) fn refused(error: &std::io::Error, step: &'static str) -> Stop {
    Stop::Failed(Box::new(failure!(error.raw_os_error().unwrap_or(5), step)))
}
