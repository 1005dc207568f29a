//! Reads back what was written, for verification: after each pass, after the last one, and between writes
//! (`verify_backlog`).
//!
//! Must not know: blocks, how I/O is done. Start reading at [`verify_pass`], then [`read_backlog`].
//! Facts: reference "Verify".

use super::core::Stop;
use super::deadlines::Deadlines;
use super::loops::flow::Flow;
use super::loops::in_flight::drain;
use super::loops::open_files::{make_room, open_if_closed, sync_untraced};
use super::loops::{Worker, run_pass};
use super::verify::Verifier;
use crate::error::Failure;
use crate::link::board::WorkerState;
use ferrio_workload::Workload;
use ferrio_workload::verify::pending::PendingWrite;
use ferrio_workload::workload::StreamCopy;

/// Reads back the writes of the pass. `is_synced`: they are on the device already.
pub(super) fn verify_pass(worker: &mut Worker<'_>, deadlines: &mut Deadlines, is_synced: bool) -> Stop {
    let Some(verifier) = worker.hooks.verifier_mut() else { return Stop::PassEnd };
    let writes = verifier.take_pass(worker.core.context);
    let copy = verifier.take_copy();
    verify_writes(worker, deadlines, (writes, copy), is_synced)
}

/// Reads back the writes of all passes, after the last one.
pub(super) fn verify_passes(worker: &mut Worker<'_>, deadlines: &mut Deadlines, is_synced: bool) -> Stop {
    let Some(verifier) = worker.hooks.verifier_mut() else { return Stop::PassEnd };
    let Some(writes) = verifier.take_apart(worker.core.context) else { return Stop::PassEnd };
    verify_writes(worker, deadlines, (writes, None), is_synced)
}

/// Called when the loop handles its deadlines: reads back what is due, after all I/Os in flight are done, so that the
/// data is there. `Some`: the pass ends.
pub(super) fn read_backlog(worker: &mut Worker<'_>, deadlines: &mut Deadlines) -> Option<Stop> {
    if !worker.hooks.verifier().is_some_and(Verifier::is_backlog_due) {
        return None;
    }
    if let Err(stop) = drain(worker) {
        return Some(stop);
    }
    let verifier = worker.hooks.verifier_mut()?;
    let copy = verifier.take_due_copy();
    let writes = if copy.is_none() { verifier.take_backlog() } else { Vec::new() };
    if copy.is_none() && writes.is_empty() {
        return None;
    }
    // The time of the pass goes on, also that of its writes: they wait.
    let start_ns = worker.core.clock.now_ns();
    let stop = read_all(worker, deadlines, writes, copy);
    deadlines.figures.end_backlog(start_ns, worker.core.clock.now_ns(), &worker.core);
    if stop == Stop::PassEnd { None } else { Some(stop) }
}

/// Reads back these writes, or the writes that `copy` makes again.
fn verify_writes(
    worker: &mut Worker<'_>,
    deadlines: &mut Deadlines,
    (writes, copy): (Vec<PendingWrite>, Option<(StreamCopy, u64)>),
    is_synced: bool,
) -> Stop {
    if writes.is_empty() && copy.is_none() {
        return Stop::PassEnd;
    }
    if let Err(error) = sync_before_reading(worker, is_synced) {
        return error.into();
    }
    let stop = read_back(worker, deadlines, writes, copy);
    if let Some(verifier) = worker.hooks.verifier_mut() {
        verifier.end_read_back();
    }
    stop
}

/// The same without the preparation: a pass of its own, the time of which is that of reads alone.
fn read_back(
    worker: &mut Worker<'_>,
    deadlines: &mut Deadlines,
    writes: Vec<PendingWrite>,
    copy: Option<(StreamCopy, u64)>,
) -> Stop {
    deadlines.figures.start_read_back(worker.core.clock.now_ns());
    let stop = read_all(worker, deadlines, writes, copy);
    let now_ns = worker.core.clock.now_ns();
    deadlines.figures.end_read_back(now_ns, &mut worker.core);
    stop
}

/// Reads back writes. Nothing is in flight before and after it.
fn read_all(
    worker: &mut Worker<'_>,
    deadlines: &mut Deadlines,
    writes: Vec<PendingWrite>,
    copy: Option<(StreamCopy, u64)>,
) -> Stop {
    let core = &mut worker.core;
    debug_assert_eq!(core.slots.n_used(), 0, "a write in flight may land after it is read back");
    core.context.enter(WorkerState::Verifying);
    begin(&mut core.workload, writes, copy);
    set_reading_back(worker, true);
    // Reading back is not part of a flow, so the others continue without this job.
    worker.pacing.flow.iter().for_each(Flow::leave);
    let stop = run_pass(worker, deadlines);
    set_reading_back(worker, false);
    worker.pacing.flow.iter().for_each(Flow::join);
    let copy = worker.core.workload.end_read_back();
    if let Some(verifier) = worker.hooks.verifier_mut() {
        verifier.keep_copy(copy);
    }
    worker.core.context.enter(WorkerState::Running);
    stop
}

fn begin(workload: &mut Workload, writes: Vec<PendingWrite>, copy: Option<(StreamCopy, u64)>) {
    match copy {
        Some((copy, n_writes)) => workload.regenerate(copy, n_writes),
        None => workload.read_back(writes),
    }
}

fn set_reading_back(worker: &mut Worker<'_>, is_reading_back: bool) {
    let Worker { core, hooks, .. } = worker;
    core.context.tracer.set_reading_back(is_reading_back);
    core.control.set_reading_back(is_reading_back);
    let compares = hooks.verifier().is_some_and(|verifier| verifier.commands.compare());
    if let Some(device) = core.engine.device().filter(|_| compares) {
        device.set_comparing(is_reading_back);
    }
    if !core.rules.samples_read_back {
        core.account.leave_out_reads(is_reading_back);
    }
}

/// Makes sure that reads come from the device: files are synced, which fio does not do and which does not count, unless
/// closing syncs did so, and their cache is dropped.
fn sync_before_reading(worker: &mut Worker<'_>, is_synced: bool) -> Result<(), Failure> {
    let (n_files, most) = (worker.core.files.n_files(), worker.core.rules.files.most_open);
    let are_many = most > 0 && n_files > most;
    for file in 0..n_files {
        let core = &worker.core;
        // As in fio 3.41, a file that was never opened is not made (`create_on_open`).
        if core.rules.files.creates_on_open && !core.files.plan(file).path.exists() {
            continue;
        }
        let syncs = core.rules.writes && !is_synced;
        if are_many && !core.files.is_open(file) {
            // It is opened when its data is read, which drops its cache.
            if !syncs {
                continue;
            }
            make_room(worker)?;
        }
        open_if_closed(worker, file)?;
        if syncs {
            sync_untraced(worker, file)?;
        }
        worker.core.files.restarted(file);
    }
    Ok(())
}
