//! A ramp that ends when so much was moved: `ramp_size`.
//!
//! Must not know: what a ramp leaves out. Start reading at [`Worker::look_at_ramp_size`].
//! Facts: reference "When a pass ends": with `group_reporting` the bytes of the whole group count.

use super::Worker;
use crate::plan::WorkerPlan;
use std::sync::atomic::Ordering;

/// A ramp that has not ended.
pub(super) struct RampSize {
    bytes: u64,
}

impl RampSize {
    pub(super) fn new(plan: &WorkerPlan) -> Option<Self> {
        let bytes = plan.spec.limits.ramp_bytes;
        (bytes > 0).then_some(Self { bytes })
    }
}

impl Worker<'_> {
    /// Ends the ramp when enough was moved. Others show what they moved on the board, within milliseconds.
    pub(super) fn look_at_ramp_size(&mut self) {
        let Some(ramp) = &self.ramp_size else { return };
        let (own, others) = (self.account.bytes().0.iter().sum::<u64>(), self.plan.summed_with.clone());
        let others = others.filter(|index| *index != self.context.slot_index);
        let of_slot = |index| self.context.board.slot(index).bytes.iter().map(|bytes| bytes.load(Ordering::Relaxed));
        let moved_bytes = others.flat_map(of_slot).fold(own, u64::saturating_add);
        if moved_bytes >= ramp.bytes {
            self.ramp_size = None;
            self.observes_completions = self.wants_completions();
            self.control.end_ramp();
        }
    }
}
