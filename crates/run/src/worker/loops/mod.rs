//! The loops of a worker, and their common steps.
//!
//! From the top: the loops [`depth_one`] and [`queued`], [`work_in_turns`] of jobs that move no data, and [`remember`], which does no
//! I/O; the steps that come [`between`] I/Os, with [`pacing`], [`trims`] and [`zones`]; [`fill`], before an I/O; [`in_flight`];
//! [`completed`], after an I/O. Each uses only those below it.
//!
//! Must not know: passes. Start reading at [`depth_one`], then [`queued`].

pub(crate) mod between;
pub(crate) mod completed;
pub(crate) mod connection;
pub(crate) mod depth_one;
pub(crate) mod failure;
pub(crate) mod fill;
pub(crate) mod flow;
pub(crate) mod in_flight;
pub(crate) mod open_files;
pub(crate) mod pacing;
pub(crate) mod pauses;
pub(crate) mod queued;
pub(crate) mod remember;
pub(crate) mod trims;
pub(crate) mod work_in_turns;
pub(crate) mod zones;

use super::core::{Stop, WorkerCore};
use super::hooks::Hooks;
use pacing::Pacing;

/// A worker during its I/O: all state that the loops use.
pub(crate) struct Worker<'a> {
    pub(crate) core: WorkerCore<'a>,
    pub(crate) hooks: Hooks<'a>,
    pub(crate) pacing: Pacing<'a>,
}

/// Receives calls from a loop when deadlines are due.
pub(crate) trait DeadlineHandler {
    /// Does what is due. `Some`: the pass ends.
    fn on_deadline(&mut self, worker: &mut Worker<'_>, stamp: u64) -> Option<Stop>;
}

/// Does one pass with the loop that fits the job.
pub(crate) fn run_pass(worker: &mut Worker<'_>, deadlines: &mut dyn DeadlineHandler) -> Stop {
    let (core, stamps_calls) = (&worker.core, worker.core.rules.engine.is_inline());
    let stop = match core.queue.iodepth {
        1 if core.stamper.is_wanted && stamps_calls => depth_one::run::<true>(worker, deadlines),
        1 => depth_one::run::<false>(worker, deadlines),
        _ => queued::run(worker, deadlines),
    };
    worker.hooks.pass_is_over(&mut worker.core);
    stop
}
