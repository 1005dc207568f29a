//! `ramp_size`: a ramp that ends after a number of bytes.
//!
//! Must not know: the effect of a ramp. Start reading at [`RampSize::is_over`].
//! Facts: reference "When a pass ends": with `group_reporting` the bytes of the whole group count.

use crate::plan::WorkerPlan;
use crate::worker::core::WorkerCore;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// A ramp that has not ended.
pub(crate) struct RampSize {
    bytes: u64,
    /// The workers whose bytes count, including this one.
    workers: Range<usize>,
}

impl RampSize {
    pub(crate) fn new(plan: &WorkerPlan) -> Option<Self> {
        let bytes = plan.spec.limits.ramp_bytes;
        (bytes > 0).then(|| Self { bytes, workers: plan.summed_with.clone() })
    }

    /// True if enough bytes were moved. The bytes of other workers come from the board, which is some milliseconds old.
    pub(crate) fn is_over(&self, core: &WorkerCore<'_>) -> bool {
        let (own, others) = (core.account.bytes().0.iter().sum::<u64>(), self.workers.clone());
        let others = others.filter(|index| *index != core.context.slot_index);
        let of_slot = |index| core.context.board.slot(index).bytes.iter().map(|bytes| bytes.load(Ordering::Relaxed));
        others.flat_map(of_slot).fold(own, u64::saturating_add) >= self.bytes
    }
}
