//! The loop that does no I/O: it repeats the stream of an earlier run, and remembers the writes as if they were done
//! now (`verify_only`).
//!
//! Must not know: engines, contents of blocks. Start reading at [`remember_pass`].

use super::Worker;
use super::between::stream_failed;
use super::trims::has_done_its_ios;
use super::zones::{count_as_done, tell_drained, wait_for_zone};
use crate::compat;
use crate::work::lane::account::Stamps;
use crate::work::lane::{Lane, Stop};
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::Next;

/// Remembers the writes of a pass.
pub(crate) fn remember_pass(worker: &mut Worker<'_>) -> Stop {
    let mut stamp = worker.lane.clock.stamp();
    let counts = compat::counts_unrepeated(worker.lane.plan);
    loop {
        if worker.lane.control.is_terminated() {
            return Stop::Ended;
        }
        let next = worker.lane.workload.next();
        count_as_done(worker, &next);
        match (next, &mut worker.hooks.verifier) {
            (Next::Io(io), Some(verifier)) if io.direction == Direction::Write => {
                match verifier.remember_unwritten(worker.lane.context, &io) {
                    Ok(true) => {}
                    Ok(false) => return Stop::PassEnd,
                    Err(error) => return error.into(),
                }
                if counts {
                    count_undone(&mut worker.lane, DataDirection::Write, io.length_bytes, &mut stamp);
                }
            }
            (Next::Io(io), Some(verifier)) if io.direction == Direction::Trim => verifier.remember_trim(&io),
            (Next::Io(io), Some(verifier)) if io.direction == Direction::Read => {
                verifier.remember_read(&io);
                if counts {
                    count_undone(&mut worker.lane, DataDirection::Read, io.length_bytes, &mut stamp);
                }
            }
            // Syncs are not repeated, and files are opened only to be read back.
            (Next::Io(_) | Next::Close(_) | Next::Restart(_) | Next::Open(_), _) => {}
            (Next::Drain, _) => tell_drained(worker),
            (Next::Held, _) => wait_for_zone(worker),
            (Next::PassEnd, _) => return Stop::PassEnd,
            // Times of a trace do not matter.
            (Next::Wait, verifier) => {
                if let Some(verifier) = verifier {
                    verifier.remember_trims_between();
                }
                if has_done_its_ios(worker) {
                    return Stop::PassEnd;
                }
                if let Some(pace) = worker.lane.workload.pace() {
                    pace.turn(u64::MAX);
                }
            }
            (Next::Failed, _) => return stream_failed(worker),
        }
    }
}

/// Counts a read or write that is not repeated as one that took no time.
fn count_undone(lane: &mut Lane<'_>, direction: DataDirection, length_bytes: u64, stamp: &mut u64) {
    let start = *stamp;
    *stamp = lane.clock.stamp();
    lane.account.data_begins(direction);
    lane.account.were_in_flight(1, 1);
    lane.account.data_done(direction, length_bytes, &lane.clock, Stamps { start, issue: start }, *stamp);
}
