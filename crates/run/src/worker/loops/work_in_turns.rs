//! The loop of a job whose work moves no data: it is done in turns, each of which counts as an I/O of no bytes.
//!
//! Must not know: the work of a turn, programs. Start reading at [`run`], then [`WorkInTurns`].

use super::completed::{Finished, finish};
use super::connection::give_up;
use super::depth_one::one_by_one;
use super::in_flight::mark_one_issued;
use super::{DeadlineHandler, Worker};
use crate::engine_notes;
use crate::error::{Failure, engine_failure};
use crate::events::MessageStream;
use crate::worker::core::{Stop, WorkerCore};
use crate::worker::hooks::debug_trace::IoTrace;
use ferrio_engine::{Engine, IoResult, IoUnit, NoIoEngine, Queued};
use ferrio_sys::errno::EINVAL;
use std::task::Poll;

/// A turn may go on after the end of the runtime for this long, and is counted then.
const TURN_GRACE_NS: u64 = 60_000_000;

/// The engine of such a job, and what reports its turns.
pub(crate) struct WorkInTurns<'a> {
    pub(crate) engine: Box<dyn NoIoEngine>,
    pub(crate) trace: Option<IoTrace<'a>>,
}

impl WorkInTurns<'_> {
    /// Starts the program beside which the turns run, before the clock of the job starts.
    pub(crate) fn begin(&mut self) -> Result<(), Failure> {
        self.engine.begin().map_err(|error| engine_failure!(error, "init"))
    }

    /// Ends the program after the last turn. A job that is stopped does not wait for this: the engine kills the program
    /// when it is dropped.
    pub(crate) fn end(&mut self, core: &mut WorkerCore<'_>) {
        while !core.control.is_terminated() {
            if let Poll::Ready(remark) = self.engine.end() {
                if let Some(remark) = remark {
                    let (name, engine) = (core.rules.name, core.rules.engine);
                    core.context.say(MessageStream::Info, engine_notes::told(name, engine, remark));
                }
                return;
            }
        }
    }
}

/// The engine in the core of such a job, which gives it nothing to do.
pub(crate) struct NoIo;

impl Engine for NoIo {
    fn queue(&mut self, _: u32, _: &IoUnit) -> Queued {
        Queued::Completed(IoResult::failed(EINVAL))
    }
}

pub(crate) fn run(worker: &mut Worker<'_>, work: &mut WorkInTurns<'_>, deadlines: &mut dyn DeadlineHandler) -> Stop {
    one_by_one(worker, deadlines, |worker, _, stamp| do_turn(worker, work, stamp))
}

/// Does the turn in slot 0; returns the stamp at its end.
fn do_turn(worker: &mut Worker<'_>, work: &mut WorkInTurns<'_>, start: u64) -> Result<u64, Stop> {
    let submitted = worker.core.stamp_after(start);
    if let Some(trace) = &mut work.trace {
        trace.starts(0, &worker.core.slots.get(0).unit);
    }
    mark_one_issued(worker, 0, submitted);
    while work.engine.turn().is_pending() {
        if is_abandoned(worker, work) {
            let stamp = worker.core.clock.stamp();
            give_up(worker, 0, stamp);
            return Err(Stop::Ended);
        }
    }
    let core = &mut worker.core;
    let (done, result) = (core.stamp_after(submitted), IoResult::done(0));
    core.account.were_in_flight(1, 1);
    core.count_call();
    if let Some(trace) = &mut work.trace {
        trace.done(0, result);
    }
    match finish(worker, 0, result, done) {
        Finished::Done | Finished::Again => Ok(done),
        Finished::Stop(stop) => Err(stop),
    }
}

/// A turn may be long, and can be abandoned: it is not counted then.
fn is_abandoned(worker: &Worker<'_>, work: &WorkInTurns<'_>) -> bool {
    let core = &worker.core;
    let is_too_long = || core.clock.now_ns().saturating_sub(TURN_GRACE_NS) >= core.control.runtime_end_ns();
    core.control.is_terminated() || work.engine.is_over() || is_too_long()
}
