//! Starts and ends the program of a job whose I/Os move no data; the turns of work run beside it.
//!
//! Must not know: programs. Start reading at [`begin`].

use crate::engine_notes;
use crate::error::{Failure, engine_failure};
use crate::events::MessageStream;
use crate::work::lane::Lane;
use std::task::Poll;

/// Starts the program, before the clock of the job starts.
pub(crate) fn begin(lane: &mut Lane<'_>) -> Result<(), Failure> {
    if !lane.plan.engine.def.moves_nothing() {
        return Ok(());
    }
    lane.engine.begin_turns().map_err(|error| engine_failure!(error, "init"))
}

/// Ends the program after the last turn. A job that is stopped does not wait for this: the engine kills the program
/// when it is dropped.
pub(crate) fn end(lane: &mut Lane<'_>) {
    if !lane.plan.engine.def.moves_nothing() {
        return;
    }
    while !lane.control.is_terminated() {
        if let Poll::Ready(remark) = lane.engine.end_turns() {
            if let Some(remark) = remark {
                let (name, engine) = (&lane.plan.spec.name, &lane.plan.engine.def);
                lane.context.say(MessageStream::Info, engine_notes::told(name, engine, remark));
            }
            return;
        }
    }
}
