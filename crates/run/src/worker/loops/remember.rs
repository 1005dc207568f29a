//! The loop that does no I/O: it repeats the stream of an earlier run, and remembers the writes as if they were done
//! now (`verify_only`).
//!
//! Must not know: engines, contents of blocks. Start reading at [`remember_pass`].

use super::Worker;
use super::between::stream_failed;
use super::trims::has_done_its_ios;
use super::zones::{count_as_done, tell_drained, wait_for_zone};
use crate::worker::core::account::Stamps;
use crate::worker::core::{Stop, WorkerCore};
use ferrio_units::DataDirection;
use ferrio_workload::Next;

pub(crate) fn remember_pass(worker: &mut Worker<'_>) -> Stop {
    let mut stamp = worker.core.clock.stamp();
    let counts = worker.core.rules.counts_unrepeated;
    loop {
        if worker.core.control.is_terminated() {
            return Stop::Ended;
        }
        let next = worker.core.workload.next();
        count_as_done(worker, &next);
        match worker.hooks.remember_step(&mut worker.core, &next) {
            Ok(true) => {}
            Ok(false) => return Stop::PassEnd,
            Err(error) => return error.into(),
        }
        match next {
            Next::Io(io) if counts => {
                if let Some(direction) = io.direction.data().filter(|data| *data != DataDirection::Trim) {
                    count_undone(&mut worker.core, direction, io.length_bytes, &mut stamp);
                }
            }
            // Files are opened only to be read back.
            Next::Io(_) | Next::Close(_) | Next::Restart(_) | Next::Open(_) => {}
            Next::Drain => tell_drained(worker),
            Next::Held => wait_for_zone(worker),
            Next::PassEnd => return Stop::PassEnd,
            // Times of a trace do not matter.
            Next::Wait => {
                if has_done_its_ios(worker) {
                    return Stop::PassEnd;
                }
                if let Some(pace) = worker.core.workload.pace() {
                    pace.turn(u64::MAX);
                }
            }
            Next::Failed => return stream_failed(worker),
        }
    }
}

/// Counts a read or write that is not repeated as one that took no time.
fn count_undone(core: &mut WorkerCore<'_>, direction: DataDirection, length_bytes: u64, stamp: &mut u64) {
    let start = *stamp;
    *stamp = core.clock.stamp();
    core.account.data_begins(direction);
    core.account.were_in_flight(1, 1);
    core.account.data_done(direction, length_bytes, &core.clock, Stamps { start, issue: start }, *stamp);
}
