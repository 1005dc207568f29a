//! Latencies from the time at which the rate wanted an I/O to start: for the report (`rate_latency=response`), or as evidence of
//! lateness.
//!
//! Must not know: how rates are kept, loops. Start reading at [`ResponseTimes::issue`].

use crate::plan::WorkerPlan;
use crate::worker::core::WorkerCore;
use ferrio_units::DataDirection;

/// Intended start times of the I/Os in flight, ns, by slot.
pub(crate) struct ResponseTimes {
    intended_ns: Vec<u64>,
    is_reported: bool,
}

impl ResponseTimes {
    /// `None`: neither the report nor the evidence has such latencies.
    pub(crate) fn new(plan: &WorkerPlan, is_evidence: bool) -> Option<Self> {
        let is_reported = plan.reports_response();
        let is_wanted = is_reported || is_evidence;
        is_wanted.then(|| Self { intended_ns: vec![0; plan.queue().iodepth as usize], is_reported })
    }

    /// Called before an I/O starts. Without a rate, the intended start is the real one.
    pub(crate) fn issue(&mut self, core: &mut WorkerCore<'_>, slot_index: u32) {
        let start_ns = core.clock.at_ns(core.slots.get(slot_index).stamps.start);
        let intended_ns = core.workload.pace().and_then(|pace| pace.intended_ns()).unwrap_or(start_ns);
        self.intended_ns[slot_index as usize] = intended_ns;
        if !self.is_reported {
            core.account.started_late(start_ns.saturating_sub(intended_ns));
        }
    }

    /// Called after a data I/O is done.
    pub(crate) fn done(&self, core: &mut WorkerCore<'_>, slot_index: u32, direction: DataDirection, done: u64) {
        let intended_ns = self.intended_ns[slot_index as usize];
        let response_ns = core.clock.at_ns(done).saturating_sub(intended_ns);
        if self.is_reported {
            core.account.response_done(direction, response_ns);
        } else {
            core.account.rated_done(direction, response_ns);
        }
    }
}
