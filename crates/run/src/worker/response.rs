//! Latencies from the time at which the rate wanted an I/O to start: `rate_latency=response`.
//!
//! Must not know: how rates are kept, loops. Start reading at [`Worker::note_intended_start`].

use super::Worker;
use crate::plan::WorkerPlan;
use ferrio_job::spec::RateLatency;
use ferrio_units::DataDirection;

/// When the I/Os in flight were meant to start, ns, by slot.
pub(super) struct ResponseTimes {
    intended_ns: Vec<u64>,
}

impl ResponseTimes {
    /// `None`: the job does not want them.
    pub(super) fn new(plan: &WorkerPlan) -> Option<Self> {
        let is_wanted = plan.spec.pace.latency == RateLatency::Response;
        is_wanted.then(|| Self { intended_ns: vec![0; plan.queue().iodepth as usize] })
    }
}

impl Worker<'_> {
    /// An I/O is about to start. One of a direction without a rate is meant to start when it does.
    pub(super) fn note_intended_start(&mut self, slot_index: u32) {
        let Some(response) = &mut self.response else { return };
        let start_ns = self.clock.at_ns(self.slots.get(slot_index).stamps.start);
        let intended_ns = self.workload.intended_ns().unwrap_or(start_ns);
        response.intended_ns[slot_index as usize] = intended_ns;
    }

    /// A data I/O is done.
    pub(super) fn record_response(&mut self, slot_index: u32, direction: DataDirection, done: u64) {
        let Some(response) = &self.response else { return };
        let intended_ns = response.intended_ns[slot_index as usize];
        self.account.response_done(direction, self.clock.at_ns(done).saturating_sub(intended_ns));
    }
}
