//! The whole work of a worker, from its first step to its results, in order.
//!
//! Must not know: passes, loops. Start reading at [`run_worker`].
//! Facts: reference, the order of steps in a job.

use super::passes::Passes;
use super::{commands, prepare, surroundings};
use crate::error::{Failure, failure};
use crate::events::MessageStream;
use crate::files::FileSet;
use crate::files::size::SetupWait;
use crate::layout;
use crate::link::board::WorkerState;
use crate::link::context::WorkerContext;
use crate::link::message::{WorkerMessage, WorkerOutcome};
use crate::plan::WorkerPlan;
use crate::replay::TracedJob;
use ferrio_stats::ThreadStats;
use ferrio_stats::note::RunNote;
use ferrio_sys::errno::ETIMEDOUT;
use ferrio_workload::replay::ReplayPlan;
use std::cell::Cell;
use std::time::Duration;

/// Time after which a worker at the gate gives up, because the supervisor must be gone.
const GATE_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// Does the whole job. `prepared`: its files, if the supervisor has laid them out already.
pub fn run_worker(plan: &WorkerPlan, prepared: Option<FileSet>, context: &WorkerContext<'_>) -> WorkerOutcome {
    context.tell_start();
    let locked = match prepare::adopt_settings(plan, context) {
        Ok(locked) => locked,
        Err(error) => return never_began(error, context),
    };
    let outcome =
        if plan.spec.replay.is_set() { replay(plan, context) } else { work_on(plan, None, prepared, context) };
    drop(locked);
    outcome
}

// A function of its own, so that its variables take no stack in a job without a trace: of each forked job, the stack is
// memory of its own.
#[inline(never)]
fn replay(plan: &WorkerPlan, context: &WorkerContext<'_>) -> WorkerOutcome {
    match traced(plan, context) {
        Ok(TracedJob { plan, set, replay, remarks }) => {
            for line in remarks {
                context.say(MessageStream::Error, line);
            }
            work_on(&plan, Some(replay), Some(set), context)
        }
        Err(error) => never_began(error, context),
    }
}

/// Surveys the trace. `exec_prerun` may make the trace, so a job with such a command starts before this.
fn traced(plan: &WorkerPlan, context: &WorkerContext<'_>) -> Result<TracedJob, Failure> {
    if plan.spec.surroundings.exec_prerun.is_some() {
        surroundings::enter_group(plan)?;
        start(plan, context)?;
    }
    let slot = context.board.slot(context.slot_index);
    TracedJob::prepare(plan, context.readonly, &|| slot.is_told_to_end())
}

/// Waits until the job may start, and runs its command.
fn start(plan: &WorkerPlan, context: &WorkerContext<'_>) -> Result<(), Failure> {
    context.enter(WorkerState::Initialised);
    if !context.wait_at_gate(GATE_LIMIT) {
        return Err(failure!(ETIMEDOUT, "start").explained(RunNote::NeverStarted));
    }
    commands::before(plan, context)
}

fn work_on(
    plan: &WorkerPlan,
    replay: Option<ReplayPlan>,
    prepared: Option<FileSet>,
    context: &WorkerContext<'_>,
) -> WorkerOutcome {
    match prepare(plan, replay, prepared, context) {
        Ok(mut worker) => {
            // A connection is made before the clock starts.
            if let Err(error) = worker.connect() {
                return ended_before(error, worker.unbegun_stats(), context);
            }
            let failure = worker.run_to_end();
            let epoch_ns = worker.epoch_ns();
            let stats = worker.into_stats();
            context.enter(WorkerState::Finishing);
            let ended_at_ns = Some(epoch_ns.saturating_add(stats.total_runtime_ns));
            commands::after(plan, context);
            WorkerOutcome { ended_at_ns, ..WorkerOutcome::new(stats, failure, true) }
        }
        Err(error) => never_began(error, context),
    }
}

// See `replay`.
#[inline(never)]
fn never_began(error: Failure, context: &WorkerContext<'_>) -> WorkerOutcome {
    ended_before(error, Box::default(), context)
}

/// The outcome of a job without I/O.
fn ended_before(error: Failure, stats: Box<ThreadStats>, context: &WorkerContext<'_>) -> WorkerOutcome {
    context.enter(WorkerState::Finishing);
    let failure = Some(error).filter(|error| !error.is_stopped());
    WorkerOutcome::new(stats, failure, false)
}

fn prepare<'a>(
    plan: &'a WorkerPlan,
    replay: Option<ReplayPlan>,
    prepared: Option<FileSet>,
    context: &'a WorkerContext<'a>,
) -> Result<Box<Passes<'a>>, Failure> {
    let slot = context.board.slot(context.slot_index);
    let set = if let Some(set) = prepared {
        set
    } else {
        let mut say = |event| (context.send)(&WorkerMessage::from_layout(event));
        let trace = context.tracer.settings();
        let wait = SetupWait { stop: &|| slot.is_told_to_end(), in_vain: &Cell::default() };
        layout::prepare(plan, None, context.readonly, trace, &mut say, wait)?
    };
    surroundings::enter_group(plan)?;
    surroundings::set_scheduler(plan, &set, context)?;
    let has_started = replay.is_some() && plan.spec.surroundings.exec_prerun.is_some();
    let worker = Passes::new(plan, replay, set, context)?;
    if !has_started {
        start(plan, context)?;
    }
    Ok(worker)
}
