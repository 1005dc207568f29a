//! A job that shares I/Os with others (`flow`) waits here while it is ahead.
//!
//! Must not know: how shares are counted. Start reading at [`Worker::holds_back`].

use super::pace::spin;
use super::{Stop, Worker, WorkerContext};
use crate::plan::WorkerPlan;
use crate::supervisor::flow::FlowSeat;

/// Between two looks at what the others did, ns.
const SPIN_NS: u64 = 2_000;

/// A worker's part in its flow.
pub(super) struct Flow<'a> {
    seat: FlowSeat<'a>,
    sleep_ns: u64,
    n_counted: u64,
}

impl<'a> Flow<'a> {
    /// `None`: it takes no part.
    pub(super) fn new(plan: &WorkerPlan, context: &WorkerContext<'a>) -> Option<Self> {
        let seat = context.board.flow_seat(plan, context.slot_index)?;
        Some(Self { seat, sleep_ns: u64::from(plan.spec.pace.flow.sleep_us) * 1_000, n_counted: 0 })
    }
}

impl Worker<'_> {
    /// I/O begins. Where it begins when the gate opens the job takes part already.
    pub(super) fn join_flow(&self) {
        if let Some(flow) = &self.flow {
            flow.seat.join(self.plan.spec.pace.flow.weight);
        }
    }

    /// I/O is over.
    pub(super) fn leave_flow(&self) {
        if let Some(flow) = &self.flow {
            flow.seat.leave();
        }
    }

    /// Counts what was issued since it was asked last. True: the job did more than its share.
    pub(super) fn holds_back(&mut self, n_issued: u64) -> bool {
        let Some(flow) = &mut self.flow else { return false };
        flow.seat.add(n_issued - flow.n_counted);
        flow.n_counted = n_issued;
        flow.seat.is_ahead()
    }

    /// Lets the others go on for a while.
    pub(super) fn wait_for_others(&mut self, now_ns: u64) -> Option<Stop> {
        let sleep_ns = self.flow.as_ref().map_or(0, |flow| flow.sleep_ns);
        let until_ns = now_ns.saturating_add(sleep_ns.max(SPIN_NS)).min(self.control.next_ns());
        if self.slots.n_used() > 0 {
            return self.collect_until(until_ns).err();
        }
        if sleep_ns > 0 {
            return self.wait_until(until_ns);
        }
        let slot = self.control.slot();
        spin(&self.clock, until_ns, || slot.wants_attention());
        None
    }
}
