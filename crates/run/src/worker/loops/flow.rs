//! A job that shares I/Os with others (`flow`) waits here while it is ahead of its share.
//!
//! Must not know: how shares are counted. Start reading at [`Flow::holds_back`].

use crate::link::context::WorkerContext;
use crate::link::flow::FlowSeat;
use crate::plan::WorkerPlan;

/// The worker's part of its flow.
pub(crate) struct Flow<'a> {
    seat: FlowSeat<'a>,
    weight: u32,
    sleep_ns: u64,
    n_counted: u64,
}

impl<'a> Flow<'a> {
    /// `None`: the job has no `flow`.
    pub(crate) fn new(plan: &WorkerPlan, context: &WorkerContext<'a>) -> Option<Self> {
        let seat = context.board.flow_seat(plan, context.slot_index)?;
        let flow = &plan.spec.pace.flow;
        Some(Self { seat, weight: flow.weight, sleep_ns: u64::from(flow.sleep_us) * 1_000, n_counted: 0 })
    }

    /// Called when I/O begins. If it begins as soon as the gate opens, the job has joined before.
    pub(crate) fn join(&self) {
        self.seat.join(self.weight);
    }

    /// Called when I/O is over.
    pub(crate) fn leave(&self) {
        self.seat.leave();
    }

    /// Counts the I/Os issued since the last call. True: the job did more than its share.
    pub(crate) fn holds_back(&mut self, n_issued: u64) -> bool {
        debug_assert!(n_issued >= self.n_counted, "the number of issued I/Os never goes down");
        self.seat.add(n_issued - self.n_counted);
        self.n_counted = n_issued;
        self.seat.is_ahead()
    }

    /// Length of one wait for the other jobs, ns; 0: the job spins.
    pub(crate) fn sleep_ns(&self) -> u64 {
        self.sleep_ns
    }
}
