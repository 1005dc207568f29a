//! `rate_latency=response`: latencies from the time at which the rate wanted an I/O to start.
//!
//! Must not know: how rates are kept, loops. Start reading at [`ResponseTimes::issue`].

use crate::plan::WorkerPlan;
use crate::work::lane::Lane;
use ferrio_spec::RateLatency;
use ferrio_units::DataDirection;

/// Intended start times of the I/Os in flight, ns, by slot.
pub(crate) struct ResponseTimes {
    intended_ns: Vec<u64>,
}

impl ResponseTimes {
    /// `None`: the job does not want response times.
    pub(crate) fn new(plan: &WorkerPlan) -> Option<Self> {
        let is_wanted = plan.spec.pace.latency == RateLatency::Response;
        is_wanted.then(|| Self { intended_ns: vec![0; plan.queue().iodepth as usize] })
    }

    /// Called before an I/O starts. Without a rate, the intended start is the real one.
    pub(crate) fn issue(&mut self, lane: &Lane<'_>, slot_index: u32) {
        let start_ns = lane.clock.at_ns(lane.slots.get(slot_index).stamps.start);
        self.intended_ns[slot_index as usize] = lane.workload.intended_ns().unwrap_or(start_ns);
    }

    /// Called after a data I/O is done.
    pub(crate) fn done(&self, lane: &mut Lane<'_>, slot_index: u32, direction: DataDirection, done: u64) {
        let intended_ns = self.intended_ns[slot_index as usize];
        lane.account.response_done(direction, lane.clock.at_ns(done).saturating_sub(intended_ns));
    }
}
