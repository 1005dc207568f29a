//! Opening, closing and syncing of files while a loop runs.
//!
//! Must not know: the next I/O. Start reading at [`open_file`].

use super::Worker;
use super::connection::connect;
use crate::error::{Failure, failure};
use crate::events::MessageStream;
use crate::link::trace::TraceGroup;
use crate::worker::core::debug_trace::tell_opened;
use crate::worker::core::slots::Slot;
use ferrio_engine::Complaint;
use ferrio_stats::FailedStep;
use ferrio_stats::note::IoNote;

/// Opens a file for the I/O of the job.
#[cold]
pub(crate) fn open_file(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    connect(&mut worker.core)?;
    if worker.core.account.has_openings() {
        open_measured(worker, file_index)?;
    } else {
        worker.core.open_file(file_index)?;
    }
    worker.core.say_file_warnings();
    worker.hooks.file(&worker.core, file_index, "open");
    tell_opened(&worker.core, file_index);
    Ok(())
}

fn open_measured(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    let Worker { core, hooks, .. } = worker;
    let before_ns = core.clock.now_ns();
    core.open_file(file_index)?;
    let now_ns = core.clock.now_ns();
    let took_ns = now_ns.saturating_sub(before_ns);
    if let (Some(direction), Some(log)) = (core.account.opened(took_ns), &mut hooks.log) {
        log.opened(direction, now_ns, took_ns);
    }
    Ok(())
}

/// Closes a file of which nothing is in flight, after a sync if the job wants one.
pub(crate) fn close_file(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    let syncs = &worker.core.rules.syncs;
    let synced = match syncs.on_close && worker.core.files.is_open(file_index) {
        true if syncs.traces_on_close => sync_file(worker, file_index),
        true => sync_untraced(worker, file_index),
        false => Ok(()),
    };
    close_as_it_is(worker, file_index);
    synced
}

/// Closes a file without a sync.
pub(crate) fn close_as_it_is(worker: &mut Worker<'_>, file_index: u32) {
    if worker.core.files.close(file_index, worker.core.engine.as_mut()) {
        worker.hooks.file(&worker.core, file_index, "close");
        worker
            .core
            .context
            .tracer
            .line(TraceGroup::File, || format!("fd close {}", worker.core.files.plan(file_index).name));
    }
    worker.core.workload.closed(file_index);
}

/// Syncs a file outside of the statistics (fio does not count these syncs). It uses the system call, or what the engine
/// has instead, as other files may have I/O in flight. A failure ends the job; no option tolerates it.
fn sync_file(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    trace_sync(worker, file_index);
    sync_untraced(worker, file_index)
}

/// Writes the line of a trace for a sync.
pub(crate) fn trace_sync(worker: &mut Worker<'_>, file_index: u32) {
    let offset_bytes = worker.core.slots.get(worker.core.slots.next()).data_offset;
    if let Some(log) = &mut worker.hooks.iolog {
        log.synced(&worker.core, file_index, offset_bytes);
    }
}

/// [`sync_file`] without a line in a trace.
pub(crate) fn sync_untraced(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    let by_engine = worker.core.engine.sync_apart(file_index);
    let errno = by_engine.unwrap_or_else(|| worker.core.files.sync(file_index));
    note_synced(worker, file_index, errno)
}

/// Takes the outcome of a sync: 0 or an errno.
pub(crate) fn note_synced(worker: &mut Worker<'_>, file_index: u32, errno: i32) -> Result<(), Failure> {
    if errno == 0 {
        return worker.hooks.synced(file_index);
    }
    let Slot { data_offset, length_bytes, .. } = *worker.core.slots.get(worker.core.slots.next());
    let file = worker.core.files.plan(file_index).name.clone();
    if let Some(Complaint { step, line, why }) = worker.core.take_complaint() {
        let note = IoNote::Refused { line, why, unsynced: Some(file) };
        worker.core.context.say(MessageStream::Error, note);
        return Err(failure!(errno, step));
    }
    let note = IoNote::EndSyncFailed { file, errno, offset: data_offset, length: length_bytes };
    worker.core.context.say(MessageStream::Error, note);
    Err(failure!(errno, FailedStep::IoUnit))
}

/// Closes a file of which nothing is in flight if no other may be opened (`openfiles`). The workload gives files in the order of its
/// writes when these are read back, so that it closes none itself. False: all open files have I/Os in flight.
pub(crate) fn make_room(worker: &mut Worker<'_>) -> Result<bool, Failure> {
    if !worker.core.files.is_full() {
        return Ok(true);
    }
    let Some(idle) = worker.core.files.idle() else { return Ok(false) };
    close_file(worker, idle)?;
    Ok(true)
}

/// Opens a file, unless it is open. Nothing is in flight.
pub(crate) fn open_if_closed(worker: &mut Worker<'_>, file: u32) -> Result<(), Failure> {
    if !worker.core.files.is_open(file) {
        worker.core.open_file(file)?;
        worker.hooks.file(&worker.core, file, "open");
    }
    Ok(())
}
