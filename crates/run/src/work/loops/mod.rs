//! The loops of a worker, and their common steps.
//!
//! From the top: the loops [`depth_one`] and [`queued`], [`work_in_turns`] of jobs that move no data, and [`remember`], which does no
//! I/O; the steps that come [`between`] I/Os, with [`turns`], [`trims`] and [`zones`]; [`fill`], before an I/O; [`in_flight`];
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
pub(crate) mod pauses;
pub(crate) mod queued;
pub(crate) mod remember;
pub(crate) mod trims;
pub(crate) mod turns;
pub(crate) mod work_in_turns;
pub(crate) mod zones;

use super::hooks::Hooks;
use super::lane::{Lane, Stop};
use turns::Turns;

/// A worker during its I/O: all state that the loops use.
pub(crate) struct Worker<'a> {
    pub(crate) lane: Lane<'a>,
    pub(crate) hooks: Hooks<'a>,
    pub(crate) turns: Turns<'a>,
}

/// Receives calls from a loop when deadlines are due.
pub(crate) trait Attendant {
    /// Does what is due. `Some`: the pass ends.
    fn attend(&mut self, worker: &mut Worker<'_>, stamp: u64) -> Option<Stop>;
}

/// Does one pass with the loop that fits the job.
pub(crate) fn run_pass(worker: &mut Worker<'_>, attendant: &mut dyn Attendant) -> Stop {
    let (lane, stamps_calls) = (&worker.lane, worker.lane.rules.engine.is_inline());
    let stop = match lane.queue.iodepth {
        1 if lane.stamper.is_wanted && stamps_calls => depth_one::run::<true>(worker, attendant),
        1 => depth_one::run::<false>(worker, attendant),
        _ => queued::run(worker, attendant),
    };
    worker.hooks.pass_is_over(&mut worker.lane);
    stop
}
