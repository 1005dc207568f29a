//! Limits for latencies: a job with a longer one fails (`max_latency`), or has fewer I/Os in flight (`latency_target`).
//!
//! Must not know: the choice of depths (`depth_search`), loops. Start reading at [`LatencyLimits::done`].

use crate::compat;
use crate::error::failure;
use crate::plan::WorkerPlan;
use crate::worker::core::WorkerCore;
use crate::worker::hooks::depth_search::{DepthSearch, Judged};
use ferrio_stats::note::IoNote;
use ferrio_sys::errno::ETIMEDOUT;
use ferrio_units::{DataDirection, PerDirection};

/// The limits, and the state of the search for a depth.
pub(crate) struct LatencyLimits {
    /// Largest latency; `u64::MAX`: no limit.
    max_ns: PerDirection<u64>,
    search: Option<DepthSearch>,
}

impl LatencyLimits {
    /// `None`: the job has no limits.
    pub(crate) fn new(plan: &WorkerPlan) -> Option<Self> {
        let spec = &plan.spec.latency;
        let is_blind = compat::silences_latency_limit(plan);
        let limit_ns = |us: &u64| if *us == 0 || is_blind { u64::MAX } else { us.saturating_mul(1_000) };
        let max_ns = PerDirection(spec.max_us.0.each_ref().map(limit_ns));
        let search = DepthSearch::new(spec, compat::searched_depths(plan));
        let is_limited = search.is_some() || max_ns.0.iter().any(|ns| *ns < u64::MAX);
        is_limited.then_some(Self { max_ns, search })
    }

    /// Called after a data I/O: checks its latency.
    pub(crate) fn done(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, direction: DataDirection, done: u64) {
        let is_searching = !core.control.is_reading_back();
        let slot = core.slots.get(slot_index);
        let latency_ns = core.clock.between_ns(slot.stamps.start, done);
        let mut limit_ns = self.max_ns[direction];
        match self.search.as_mut().filter(|_| is_searching).map(|search| search.judge(latency_ns)) {
            Some(Judged::Hopeless(target_ns)) => limit_ns = limit_ns.min(target_ns),
            Some(Judged::Failed) => core.control.look_up(),
            Some(Judged::Counted) | None => {}
        }
        if latency_ns > limit_ns && !core.control.will_fail() {
            let note = IoNote::TooLate {
                latency_ns,
                limit_ns,
                file: core.files.plan(slot.unit.file_index).name.clone(),
                action: slot.unit.direction.name().into(),
                offset: slot.data_offset,
                length: slot.length_bytes,
            };
            core.control.fail_soon(failure!(ETIMEDOUT, "max latency exceeded").explained(note));
        }
    }

    /// The search for a depth, if there is one.
    pub(crate) fn search(&mut self) -> Option<&mut DepthSearch> {
        self.search.as_mut()
    }

    /// End of the present window; `u64::MAX`: there is none.
    pub(crate) fn next_ns(&self) -> u64 {
        self.search.as_ref().map_or(u64::MAX, DepthSearch::end_ns)
    }
}
