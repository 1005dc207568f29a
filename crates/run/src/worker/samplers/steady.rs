//! Samples for the search for a steady state: figures of a worker for each interval.
//!
//! Must not know: the criteria of a steady state. Start reading at [`SteadySampler::at`].

use crate::plan::WorkerPlan;
use crate::worker::core::account::Account;
use ferrio_stats::SteadySample;

/// Counts at a certain time.
#[derive(Debug, Clone, Copy, Default)]
struct SteadyTotals {
    ios: u64,
    bytes: u64,
    n_clats: u64,
    clat_sum_ns: u128,
}

impl SteadyTotals {
    fn of(account: &Account) -> Self {
        let (ios, bytes, stats) = (account.ios(), account.bytes(), &account.stats);
        let clats = || stats.directions.0.iter().map(|direction| &direction.clat);
        Self {
            ios: ios.0.iter().sum(),
            bytes: bytes.0.iter().sum(),
            n_clats: clats().map(|clat| clat.n_samples).sum(),
            clat_sum_ns: clats().map(|clat| clat.sum_ns).sum(),
        }
    }
}

/// Takes a sample at the end of each interval.
pub(crate) struct SteadySampler {
    /// 0: no samples are wanted.
    interval_ns: u64,
    ramp_ns: u64,
    /// End of the present interval; `u64::MAX`: there is none.
    end_ns: u64,
    start_ns: u64,
    at_start: SteadyTotals,
    /// Number of samples that the search uses; more are not sent.
    n_window: u64,
    /// The ramp is over.
    has_begun: bool,
}

impl SteadySampler {
    pub(crate) fn new(plan: &WorkerPlan) -> Self {
        let spec = &plan.spec.steady_state;
        let interval_us = if spec.duration_us > 0 { spec.interval_us.max(1) } else { 0 };
        Self {
            interval_ns: interval_us.saturating_mul(1_000),
            ramp_ns: spec.ramp_us.saturating_mul(1_000),
            end_ns: u64::MAX,
            start_ns: 0,
            at_start: SteadyTotals::default(),
            n_window: spec.duration_us.checked_div(interval_us).unwrap_or(0),
            has_begun: false,
        }
    }

    /// Counted I/O starts now.
    pub(crate) fn start(&mut self, now_ns: u64, account: &Account) {
        if self.interval_ns == 0 {
            return;
        }
        self.has_begun = self.ramp_ns == 0;
        (self.start_ns, self.at_start) = (now_ns, SteadyTotals::of(account));
        let first_ns = if self.has_begun { self.interval_ns } else { self.ramp_ns };
        self.end_ns = now_ns.saturating_add(first_ns);
    }

    /// Time of the next sample; `u64::MAX`: never.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.end_ns
    }

    /// Ends the interval. If the worker was not interrupted for longer than an interval, all of its I/Os count for the
    /// first one, and the later ones are empty.
    pub(crate) fn at(&mut self, now_ns: u64, account: &Account, mut give: impl FnMut(SteadySample)) {
        let totals = SteadyTotals::of(account);
        debug_assert!(now_ns >= self.start_ns, "an interval ends after its start");
        debug_assert!(
            totals.ios >= self.at_start.ios,
            "counts go down at the end of a ramp alone, which begins an interval"
        );
        let n_missed = now_ns.saturating_sub(self.end_ns).checked_div(self.interval_ns).unwrap_or(0);
        if self.has_begun {
            let elapsed_ns = if n_missed > 0 { self.interval_ns } else { now_ns - self.start_ns };
            let per_sec = |count: u64| {
                let rate = u128::from(count) * 1_000_000_000 / u128::from(elapsed_ns.max(1));
                u64::try_from(rate).unwrap_or(u64::MAX)
            };
            give(SteadySample {
                ios_per_sec: per_sec(totals.ios.saturating_sub(self.at_start.ios)),
                bytes_per_sec: per_sec(totals.bytes.saturating_sub(self.at_start.bytes)),
                n_clats: totals.n_clats.saturating_sub(self.at_start.n_clats),
                clat_sum_ns: totals.clat_sum_ns.saturating_sub(self.at_start.clat_sum_ns),
            });
            (0..n_missed.min(self.n_window)).for_each(|_| give(SteadySample::default()));
        }
        self.has_begun = true;
        let next_ns = self.end_ns.saturating_add(self.interval_ns.saturating_mul(n_missed));
        // If an interval has begun unnoticed, its part so far was idle too.
        (self.start_ns, self.at_start) = (if n_missed > 0 { next_ns } else { now_ns }, totals);
        self.end_ns = next_ns.saturating_add(self.interval_ns);
    }
}
