//! A job whose I/Os take too long: it fails (`max_latency`), or has fewer in flight (`latency_target`).
//!
//! Must not know: which depth comes next (`latency_target`), loops. Start reading at [`Worker::judge_latency`], then
//! [`Worker::attend_latencies`].

use super::latency_target::{DepthSearch, Judged, Step};
use super::{Stop, Worker};
use crate::error::job_error;
use crate::plan::WorkerPlan;
use ferrio_units::{DataDirection, PerDirection};

const ETIMEDOUT: i32 = 110;

/// How long I/Os may take, and what came of it.
pub(super) struct LatencyLimits {
    /// `u64::MAX`: any time.
    max_ns: PerDirection<u64>,
    search: Option<DepthSearch>,
}

impl LatencyLimits {
    /// `None`: they may take any time.
    pub(super) fn new(plan: &WorkerPlan) -> Option<Self> {
        let (spec, reporting) = (&plan.spec.latency, &plan.spec.reporting);
        // As in the reference, disable_lat silences max_latency.
        let is_blind = reporting.disable_lat || reporting.gtod_reduce;
        let limit_ns = |us: &u64| if *us == 0 || is_blind { u64::MAX } else { us.saturating_mul(1_000) };
        let max_ns = PerDirection(spec.max_us.0.each_ref().map(limit_ns));
        let search = DepthSearch::new(spec, plan.queue().iodepth);
        let is_limited = search.is_some() || max_ns.0.iter().any(|ns| *ns < u64::MAX);
        is_limited.then_some(Self { max_ns, search })
    }
}

impl Worker<'_> {
    /// A data I/O is done: did it take too long?
    pub(super) fn judge_latency(&mut self, slot_index: u32, direction: DataDirection, done: u64) {
        let is_searching = !self.is_reading_back();
        let Some(limits) = &mut self.latency_limits else { return };
        let slot = self.slots.get(slot_index);
        let latency_ns = self.clock.between_ns(slot.stamps.start, done);
        let mut limit_ns = limits.max_ns[direction];
        match limits.search.as_mut().filter(|_| is_searching).map(|search| search.judge(latency_ns)) {
            Some(Judged::Hopeless(target_ns)) => limit_ns = limit_ns.min(target_ns),
            Some(Judged::Failed) => self.control.look_up(),
            Some(Judged::Counted) | None => {}
        }
        if latency_ns > limit_ns && self.late_failure.is_none() {
            let (name, action) = (&self.files.plan(slot.unit.file_index).name, slot.unit.direction.name());
            let (offset, length) = (slot.data_offset, slot.wanted_bytes);
            let text = format!(
                "fio: latency of {latency_ns} nsec exceeds specified max ({limit_ns} nsec): {name} {action} {offset} {length}"
            );
            self.fail_soon(job_error!(ETIMEDOUT, "max latency exceeded").explained(text));
        }
    }

    /// When a depth was tried long enough; `u64::MAX`: none is tried. What is read back for verification tries none.
    pub(super) fn latency_window_end_ns(&self) -> u64 {
        let limits = self.latency_limits.as_ref().filter(|_| !self.is_reading_back());
        let search = limits.and_then(|limits| limits.search.as_ref());
        search.map_or(u64::MAX, DepthSearch::end_ns)
    }

    /// Before the first I/O: a search begins with one in flight.
    pub(super) fn set_first_depth(&mut self) {
        if self.has_search() {
            self.slots.limit(1);
            self.account.stats.latency_depth = 1;
        }
    }

    fn has_search(&self) -> bool {
        self.latency_limits.as_ref().is_some_and(|limits| limits.search.is_some())
    }

    /// What counts begins now.
    pub(super) fn start_latency_search(&mut self, now_ns: u64) {
        if let Some(search) = self.latency_limits.as_mut().and_then(|limits| limits.search.as_mut()) {
            search.open(now_ns);
        }
    }

    /// Tries the next depth when the present one was tried.
    pub(super) fn attend_latencies(&mut self, now_ns: u64) -> Option<Stop> {
        // A job that fails reports what it did until then.
        let is_searching = !self.is_reading_back() && self.late_failure.is_none();
        let limits = self.latency_limits.as_mut()?;
        let search = limits.search.as_mut().filter(|search| is_searching && search.is_due(now_ns))?;
        let (step, depth) = (search.close(), search.depth());
        if step == Step::Over {
            return Some(Stop::Ended);
        }
        if step != Step::Same {
            while self.slots.n_used() > 0 {
                if let Err(stop) = self.collect_some() {
                    return Some(stop);
                }
            }
            self.slots.limit(depth);
            self.account.stats.latency_depth = depth;
        }
        let now_ns = self.clock.now_ns();
        if step == Step::Final {
            self.finish_log();
            self.start_counting(now_ns);
            self.control.epoch_ns = now_ns;
        }
        self.start_latency_search(now_ns);
        None
    }
}
