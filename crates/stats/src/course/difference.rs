//! Differences between two states of a worker's figures.
//!
//! Must not know: the times of these states. Start reading at [`ThreadStats::since`].

use crate::ThreadStats;
use crate::{BatchCounts, DepthCounts, DirectionStats, HelperUsage, LatencyBuckets, LatencyStat, ResourceUsage};
use ferrio_units::DataDirection;

impl LatencyStat {
    /// The samples since `earlier`, an older copy of this statistic. A difference has no extremes of its own, so it has
    /// those of the whole.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let histogram = self.histogram.as_ref().map(|mine| match &earlier.histogram {
            Some(theirs) => mine.since(theirs),
            None => mine.clone(),
        });
        Self {
            n_samples: self.n_samples.saturating_sub(earlier.n_samples),
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            sum_ns: self.sum_ns.saturating_sub(earlier.sum_ns),
            sum_squares: self.sum_squares.saturating_sub(earlier.sum_squares),
            histogram,
        }
    }
}

impl DirectionStats {
    /// The counts since `earlier`, an older copy of these figures. Samples of windows and latencies by priority are
    /// left out.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            n_issued: self.n_issued.saturating_sub(earlier.n_issued),
            n_completed: self.n_completed.saturating_sub(earlier.n_completed),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            n_short: self.n_short.saturating_sub(earlier.n_short),
            n_dropped: self.n_dropped.saturating_sub(earlier.n_dropped),
            runtime_ns: self.runtime_ns.saturating_sub(earlier.runtime_ns),
            slat: self.slat.since(&earlier.slat),
            clat: self.clat.since(&earlier.clat),
            lat: self.lat.since(&earlier.lat),
            response: self.response.since(&earlier.response),
            ..Self::default()
        }
    }
}

impl ResourceUsage {
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            helpers: self.helpers.map(|helpers| {
                let before = earlier.helpers.unwrap_or_default();
                HelperUsage {
                    user_ns: helpers.user_ns.saturating_sub(before.user_ns),
                    system_ns: helpers.system_ns.saturating_sub(before.system_ns),
                }
            }),
            cpu_turns: self.cpu_turns.map(|turns| turns.since(earlier.cpu_turns.unwrap_or_default())),
        }
    }
}

impl ThreadStats {
    /// The counts since `earlier`, an older copy of these figures: I/Os, bytes, latencies, depths, usage, tolerated
    /// errors and times. Figures that are no counts are left out.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut rest = Self {
            sync: self.sync.since(&earlier.sync),
            n_syncs_issued: self.n_syncs_issued.saturating_sub(earlier.n_syncs_issued),
            latency_buckets: LatencyBuckets {
                ns: less(&self.latency_buckets.ns, &earlier.latency_buckets.ns),
                us: less(&self.latency_buckets.us, &earlier.latency_buckets.us),
                ms: less(&self.latency_buckets.ms, &earlier.latency_buckets.ms),
            },
            depth: DepthCounts(less(&self.depth.0, &earlier.depth.0)),
            submit: BatchCounts(less(&self.submit.0, &earlier.submit.0)),
            complete: BatchCounts(less(&self.complete.0, &earlier.complete.0)),
            usage: self.usage.since(&earlier.usage),
            total_runtime_ns: self.total_runtime_ns.saturating_sub(earlier.total_runtime_ns),
            tolerated: self.tolerated.since(&earlier.tolerated),
            ..Self::default()
        };
        for direction in DataDirection::ALL {
            rest.directions[direction] = self.directions[direction].since(&earlier.directions[direction]);
        }
        rest
    }

    /// True if nothing was counted: no I/O and no sync.
    pub fn has_counted_nothing(&self) -> bool {
        let is_empty =
            |figures: &DirectionStats| figures.n_issued == 0 && figures.n_completed == 0 && figures.bytes == 0;
        self.directions.0.iter().all(is_empty) && self.n_syncs_issued == 0 && self.sync.n_samples == 0
    }
}

fn less<const N: usize>(now: &[u64; N], before: &[u64; N]) -> [u64; N] {
    std::array::from_fn(|index| now[index].saturating_sub(before[index]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(stats: &mut ThreadStats, values: &[u64]) {
        for (index, value) in values.iter().enumerate() {
            let figures = &mut stats.directions.0[index % 2];
            (figures.n_issued, figures.n_completed) = (figures.n_issued + 1, figures.n_completed + 1);
            figures.bytes += value % 8192;
            figures.runtime_ns += 10;
            figures.clat.record(*value);
            stats.sync.record(*value / 2);
            stats.latency_buckets.record(*value);
            stats.depth.record((value % 70) as u32, 1);
            stats.submit.record((value % 70) as u32);
        }
        stats.total_runtime_ns += 100;
        stats.usage.user_ns += 3;
        stats.tolerated.n_total += 1;
    }

    fn with_histograms() -> ThreadStats {
        let mut stats = ThreadStats::default();
        for figures in &mut stats.directions.0[..2] {
            figures.clat = LatencyStat::new(true);
        }
        stats
    }

    proptest! {
        /// The earlier figures and the difference add up to the whole.
        #[test]
        fn differences_add_up(
            first in prop::collection::vec(0u64..1 << 50, 0..60),
            second in prop::collection::vec(0u64..1 << 50, 0..60),
        ) {
            let mut stats = with_histograms();
            record(&mut stats, &first);
            let earlier = stats.clone();
            record(&mut stats, &second);
            let rest = stats.since(&earlier);
            let mut alone = with_histograms();
            record(&mut alone, &second);
            for direction in DataDirection::ALL {
                let (rest, alone) = (&rest.directions[direction], &alone.directions[direction]);
                prop_assert_eq!(&rest.clat.histogram, &alone.clat.histogram);
                prop_assert_eq!((rest.clat.n_samples, rest.clat.sum_ns), (alone.clat.n_samples, alone.clat.sum_ns));
                prop_assert_eq!((rest.bytes, rest.runtime_ns), (alone.bytes, alone.runtime_ns));
            }
            prop_assert_eq!(&rest.latency_buckets, &alone.latency_buckets);
            prop_assert_eq!(rest.has_counted_nothing(), second.is_empty());
            let (mut sum, mut whole) = (earlier, stats);
            sum.merge(&rest);
            // Runtimes of members of a group are not summed; these belong to one worker.
            for direction in DataDirection::ALL {
                sum.directions[direction].runtime_ns = 0;
                whole.directions[direction].runtime_ns = 0;
            }
            sum.latency_search = whole.latency_search;
            prop_assert_eq!(sum, whole);
        }
    }
}
