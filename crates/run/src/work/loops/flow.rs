//! A job that shares I/Os with others (`flow`) waits here while it is ahead.
//!
//! Must not know: how shares are counted. Start reading at [`Flow::holds_back`].

use crate::link::context::WorkerContext;
use crate::link::flow::FlowSeat;
use crate::plan::WorkerPlan;

/// A worker's part in its flow.
pub(crate) struct Flow<'a> {
    seat: FlowSeat<'a>,
    weight: u32,
    sleep_ns: u64,
    n_counted: u64,
}

impl<'a> Flow<'a> {
    /// `None`: it takes no part.
    pub(crate) fn new(plan: &WorkerPlan, context: &WorkerContext<'a>) -> Option<Self> {
        let seat = context.board.flow_seat(plan, context.slot_index)?;
        let flow = &plan.spec.pace.flow;
        Some(Self { seat, weight: flow.weight, sleep_ns: u64::from(flow.sleep_us) * 1_000, n_counted: 0 })
    }

    /// I/O begins. Where it begins when the gate opens the job takes part already.
    pub(crate) fn join(&self) {
        self.seat.join(self.weight);
    }

    /// I/O is over.
    pub(crate) fn leave(&self) {
        self.seat.leave();
    }

    /// Counts what was issued since it was asked last. True: the job did more than its share.
    pub(crate) fn holds_back(&mut self, n_issued: u64) -> bool {
        self.seat.add(n_issued - self.n_counted);
        self.n_counted = n_issued;
        self.seat.is_ahead()
    }

    /// How long the job lets the others go on at a time, ns; 0: it spins.
    pub(crate) fn sleep_ns(&self) -> u64 {
        self.sleep_ns
    }
}
