//! Opening, closing and syncing of files while a loop runs.
//!
//! Must not know: the next I/O. Start reading at [`open_file`].

use super::Worker;
use super::connection::connect;
use crate::error::{Failure, failure};
use crate::link::trace::TraceGroup;
use crate::worker::core::WorkerCore;
use crate::worker::core::debug_trace::tell_opened;
use crate::worker::core::slots::Slot;
use crate::worker::hooks::Hooks;
use ferrio_engine::Complaint;
use ferrio_stats::FailedStep;
use ferrio_stats::note::IoNote;
use ferrio_sys::limits::Usage;

/// Opens a file for the I/O of the job.
#[cold]
pub(crate) fn open_file(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    let Worker { core, hooks, .. } = worker;
    connect(core)?;
    if core.account.has_openings() {
        open_measured(core, hooks, file_index)?;
    } else {
        core.open_file(file_index)?;
    }
    core.say_file_warnings();
    hooks.file(core, file_index, "open");
    tell_opened(core, file_index);
    Ok(())
}

/// Opens a file with an engine whose work is the opening, and measures it.
fn open_measured(core: &mut WorkerCore<'_>, hooks: &mut Hooks<'_>, file_index: u32) -> Result<(), Failure> {
    let before_ns = core.clock.now_ns();
    core.open_file(file_index)?;
    let now_ns = core.clock.now_ns();
    let took_ns = now_ns.saturating_sub(before_ns);
    if let (Some(direction), Some(log)) = (core.account.opened(took_ns), &mut hooks.log) {
        log.opened(direction, now_ns, took_ns);
    }
    Ok(())
}

/// Closes a file of which nothing is in flight within a pass, after a sync if the job wants one, whose time is measured.
pub(crate) fn close_in_pass(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    let core = &worker.core;
    if !(core.rules.syncs.on_close && core.context.keeps_evidence) {
        return close_file(worker, file_index);
    }
    let (before_ns, used_before) = (core.clock.now_ns(), Usage::of_thread());
    let closed = close_file(worker, file_index);
    let used = Usage::of_thread().since(used_before);
    let took_ns = worker.core.clock.now_ns().saturating_sub(before_ns);
    worker.pacing.add_closing_sync(took_ns, used.system_ns.saturating_add(used.user_ns));
    closed
}

/// Closes a file of which nothing is in flight, after a sync if the job wants one.
pub(crate) fn close_file(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    let core = &worker.core;
    let syncs = &core.rules.syncs;
    let synced = match syncs.on_close && core.files.is_open(file_index) {
        true if syncs.traces_on_close => sync_file(worker, file_index),
        true => sync_untraced(worker, file_index),
        false => Ok(()),
    };
    close_as_it_is(worker, file_index);
    synced
}

/// Closes a file without a sync.
pub(crate) fn close_as_it_is(worker: &mut Worker<'_>, file_index: u32) {
    let Worker { core, hooks, .. } = worker;
    if core.files.close(file_index, core.engine.as_mut()) {
        hooks.file(core, file_index, "close");
        core.context.tracer.line(TraceGroup::File, || format!("fd close {}", core.files.plan(file_index).name));
    }
    core.workload.closed(file_index);
}

/// Syncs a file outside of the statistics (fio does not count these syncs). It uses the system call, or what the engine
/// has instead, as other files may have I/O in flight. A failure ends the job; no option tolerates it.
fn sync_file(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    trace_sync(worker, file_index);
    sync_untraced(worker, file_index)
}

/// Writes the line of a trace for a sync.
pub(crate) fn trace_sync(worker: &mut Worker<'_>, file_index: u32) {
    let Worker { core, hooks, .. } = worker;
    let offset_bytes = core.slots.get(core.slots.next()).data_offset;
    if let Some(log) = &mut hooks.iolog {
        log.synced(core, file_index, offset_bytes);
    }
}

/// [`sync_file`] without a line in a trace.
pub(crate) fn sync_untraced(worker: &mut Worker<'_>, file_index: u32) -> Result<(), Failure> {
    let core = &mut worker.core;
    let by_engine = core.engine.sync_apart(file_index);
    let errno = by_engine.unwrap_or_else(|| core.files.sync(file_index));
    note_synced(worker, file_index, errno)
}

/// Takes the outcome of a sync: 0 or an errno.
pub(crate) fn note_synced(worker: &mut Worker<'_>, file_index: u32, errno: i32) -> Result<(), Failure> {
    if errno == 0 {
        return worker.hooks.synced(file_index);
    }
    let core = &mut worker.core;
    let Slot { data_offset, length_bytes, .. } = *core.slots.get(core.slots.next());
    let file = core.file_name(file_index);
    if let Some(Complaint { step, line, why }) = core.take_complaint() {
        core.say_error(IoNote::Refused { line, why, unsynced: Some(file) });
        return Err(failure!(errno, step));
    }
    core.say_error(IoNote::EndSyncFailed { file, errno, offset: data_offset, length: length_bytes });
    Err(failure!(errno, FailedStep::IoUnit))
}

/// Closes a file of which nothing is in flight if no other may be opened (`openfiles`). The workload gives files in the order of its
/// writes when these are read back, so that it closes none itself. False: all open files have I/Os in flight.
pub(crate) fn make_room(worker: &mut Worker<'_>) -> Result<bool, Failure> {
    let files = &worker.core.files;
    if !files.is_full() {
        return Ok(true);
    }
    let Some(idle) = files.idle() else { return Ok(false) };
    close_in_pass(worker, idle)?;
    Ok(true)
}

/// Opens a file, unless it is open. Nothing is in flight.
pub(crate) fn open_if_closed(worker: &mut Worker<'_>, file: u32) -> Result<(), Failure> {
    let Worker { core, hooks, .. } = worker;
    if !core.files.is_open(file) {
        core.open_file(file)?;
        hooks.file(core, file, "open");
    }
    Ok(())
}
