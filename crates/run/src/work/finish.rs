//! The end of a pass for its files: syncs, if the job wants them, and closing.
//!
//! Must not know: passes. Start reading at [`finish_files`].
//! Facts: reference "Sync and barriers".

use super::loops::Worker;
use super::loops::open_files::{close_as_it_is, close_file, open_if_closed, sync_file};
use crate::compat;
use crate::error::{Failure, failure};
use crate::events::MessageStream;
use crate::link::board::WorkerState;
use crate::link::trace::TraceGroup;
use ferrio_spec::engines::Measures;
use ferrio_stats::note::IoNote;

/// Syncs what was written, if the job wants that, and closes all files.
pub(super) fn finish_files(worker: &mut Worker<'_>) -> Result<(), Failure> {
    let durability = &worker.lane.plan.spec.durability;
    let syncs = compat::syncs_all_at_end(worker.lane.plan)
        && worker.lane.plan.writes()
        && !worker.lane.workload.last_was_sync();
    let syncs_file_systems = durability.end_syncfs && worker.lane.plan.writes();
    let mut synced = Ok(());
    if syncs {
        worker.lane.context.enter(WorkerState::Syncing);
        synced = sync_files(worker);
    }
    if synced.is_ok() && syncs_file_systems {
        worker.lane.context.enter(WorkerState::Syncing);
        synced = sync_file_systems(worker);
    }
    if syncs {
        close_all_as_they_are(worker);
        return synced;
    }
    let closed = close_all(worker);
    synced.and(closed)
}

/// Syncs all files; a closed file is opened for that.
fn sync_files(worker: &mut Worker<'_>) -> Result<(), Failure> {
    if worker.lane.plan.engine.def.measures == Measures::Openings {
        // Nothing was written; besides, opening a target would repeat the job's work.
        return Ok(());
    }
    for file in 0..worker.lane.files.n_files() {
        let was_open = worker.lane.files.is_open(file);
        open_if_closed(worker, file)?;
        sync_file(worker, file)?;
        if !was_open {
            close_as_it_is(worker, file);
        }
    }
    Ok(())
}

/// `end_syncfs`: syncs each file system once, however many files are on it. Not part of the statistics.
fn sync_file_systems(worker: &mut Worker<'_>) -> Result<(), Failure> {
    let mut synced = Vec::new();
    for file in 0..worker.lane.files.n_files() {
        open_if_closed(worker, file)?;
        let device = worker.lane.files.device(file);
        if synced.contains(&device) {
            continue;
        }
        let errno = worker.lane.files.sync_file_system(file);
        if errno != 0 {
            let note = IoNote::EndSyncfsFailed { file: worker.lane.files.plan(file).name.clone(), errno };
            return Err(failure!(errno, "end_syncfs").explained(note));
        }
        synced.push(device);
    }
    Ok(())
}

/// Closes all files, with a sync if the job wants one, even after a failure; the first failure is the job's.
pub(super) fn close_all(worker: &mut Worker<'_>) -> Result<(), Failure> {
    let mut first = Ok(());
    worker.lane.context.tracer.line(TraceGroup::File, || "close files".to_owned());
    for file in 0..worker.lane.files.n_files() {
        let closed = close_file(worker, file);
        first = first.and(closed);
    }
    say_file_warnings(worker);
    first
}

/// Closes all files without a sync.
fn close_all_as_they_are(worker: &mut Worker<'_>) {
    (0..worker.lane.files.n_files()).for_each(|file| close_as_it_is(worker, file));
    say_file_warnings(worker);
}

fn say_file_warnings(worker: &mut Worker<'_>) {
    for warning in std::mem::take(&mut worker.lane.files.warnings) {
        worker.lane.context.say(MessageStream::Info, warning);
    }
}
