//! The end of a pass for its files: syncs, if the job wants them, and closing.
//!
//! Must not know: the order of the steps of a job. Start reading at [`sync_pass`], then [`close_pass`].
//! Facts: reference "Sync and barriers".

use super::core::WorkerCore;
use super::loops::Worker;
use super::loops::connection::waited_in_vain;
use super::loops::open_files::{close_as_it_is, close_file, note_synced, open_if_closed, trace_sync};
use crate::error::{Failure, failure};
use crate::link::board::WorkerState;
use crate::link::trace::TraceGroup;
use ferrio_engine::{IoResult, IoUnit, Outcome, Queued};
use ferrio_stats::note::IoNote;
use ferrio_sys::errno::{EAGAIN, EIO};
use ferrio_units::Direction;

/// The closing syncs of a pass, which are part of its runtime. The files are closed later, by [`close_pass`], because
/// verification may need them before.
///
/// Returns whether all that was written is synced.
pub(super) fn sync_pass(worker: &mut Worker<'_>) -> Result<bool, Failure> {
    let core = &worker.core;
    if !core.rules.writes {
        return Ok(false);
    }
    let (context, syncs) = (core.context, &core.rules.syncs);
    let (syncs_file_systems, open_ones) = (syncs.file_systems_at_end, syncs.on_close);
    let all = syncs.all_at_end && !core.workload.progress().last_was_sync;
    if all || open_ones {
        context.enter(WorkerState::Syncing);
        sync_files(worker, all)?;
    }
    if syncs_file_systems {
        context.enter(WorkerState::Syncing);
        sync_file_systems(worker)?;
    }
    Ok(all || syncs_file_systems)
}

/// Closes all files at the end of a pass. Their closing syncs are done.
pub(super) fn close_pass(worker: &mut Worker<'_>) {
    let core = &worker.core;
    core.context.tracer.line(TraceGroup::File, || "close files".to_owned());
    (0..core.files.n_files()).for_each(|file| close_as_it_is(worker, file));
    worker.core.say_file_warnings();
}

/// Syncs all files, for which a closed file is opened, or those that are open.
fn sync_files(worker: &mut Worker<'_>, all: bool) -> Result<(), Failure> {
    let (syncs, n_files) = (&worker.core.rules.syncs, worker.core.files.n_files());
    if syncs.opens_only {
        // Nothing was written; besides, opening a target would repeat the job's work.
        return Ok(());
    }
    let traces = all || syncs.traces_on_close;
    for file in 0..n_files {
        let was_open = worker.core.files.is_open(file);
        if !was_open && !all {
            continue;
        }
        open_if_closed(worker, file)?;
        if traces {
            trace_sync(worker, file);
        }
        let errno = engine_syncs(worker, file, Direction::Sync)?;
        note_synced(worker, file, errno)?;
        if !was_open {
            close_as_it_is(worker, file);
        }
    }
    Ok(())
}

/// `end_syncfs`: syncs each file system once, however many files are on it. Not part of the statistics.
fn sync_file_systems(worker: &mut Worker<'_>) -> Result<(), Failure> {
    let mut synced = Vec::new();
    for file in 0..worker.core.files.n_files() {
        open_if_closed(worker, file)?;
        let device = worker.core.files.device(file);
        if synced.contains(&device) {
            continue;
        }
        let errno = engine_syncs(worker, file, Direction::Syncfs)?;
        if errno != 0 {
            let note = IoNote::EndSyncfsFailed { file: worker.core.file_name(file), errno };
            return Err(failure!(errno, "end_syncfs").explained(note));
        }
        synced.push(device);
    }
    Ok(())
}

/// Lets the engine do a sync while nothing else is in flight; returns 0 or an errno.
fn engine_syncs(worker: &mut Worker<'_>, file_index: u32, direction: Direction) -> Result<i32, Failure> {
    let core = &mut worker.core;
    debug_assert_eq!(core.slots.n_used(), 0, "a sync outside of the loop would reap the I/Os of others");
    let slot_index = core.slots.next();
    let slot = core.slots.get(slot_index);
    let unit = IoUnit { direction, file_index, offset_bytes: 0, length_bytes: 0, sync_flags: 0, ..slot.unit };
    let result = match core.engine.queue(slot_index, &unit) {
        Queued::Completed(result) => result,
        Queued::Queued => commit_and_reap(core)?,
        Queued::Busy => IoResult::failed(EAGAIN),
    };
    match result.outcome() {
        Outcome::Done(_) | Outcome::Short(_) => Ok(0),
        Outcome::Failed(errno) => Ok(errno),
        Outcome::NvmeStatus(_) => Ok(EIO),
        // The wait for a server was given up.
        Outcome::EndOfData | Outcome::NotYet => Err(Failure::stopped()),
    }
}

/// Submits the one unit that is queued, and waits for it.
fn commit_and_reap(core: &mut WorkerCore<'_>) -> Result<IoResult, Failure> {
    let refused = |step: &'static str| move |error: std::io::Error| failure!(error.raw_os_error().unwrap_or(EIO), step);
    while core.engine.commit().map_err(refused("commit"))? == 0 {}
    loop {
        core.reap(1, 1).map_err(refused("getevents"))?;
        if let Some(completion) = core.completions.first() {
            return Ok(completion.result);
        }
        waited_in_vain(core);
    }
}

/// Closes all files, with a sync if the job wants one, even after a failure; the first failure is the job's.
pub(super) fn close_all(worker: &mut Worker<'_>) -> Result<(), Failure> {
    let mut first = Ok(());
    let (context, n_files) = (worker.core.context, worker.core.files.n_files());
    context.tracer.line(TraceGroup::File, || "close files".to_owned());
    for file in 0..n_files {
        let closed = close_file(worker, file);
        first = first.and(closed);
    }
    worker.core.say_file_warnings();
    first
}
