//! What a job has done since its start: counts that only grow.
//!
//! Must not know: how they are shown. Start reading at [`JobTotals::add`].

use ferrio_stats::histogram::bucket_bounds_ns;
use ferrio_stats::{DirectionStats, Histogram, LatencyStat, ThreadStats};
use ferrio_units::{DataDirection, PerDirection};
use serde::{Deserialize, Serialize};

/// Number of bounds between which latencies are counted: 1 us, 2 us, 4 us, and so on to 2^26 us, about 67 s.
pub const N_LATENCY_BOUNDS: usize = 27;

/// The counts of all clones of a job since its start.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JobTotals {
    /// Index of the job.
    pub job: u32,
    /// By direction.
    pub directions: PerDirection<DirectionTotals>,
    /// Syncs of any kind, which move no bytes.
    pub syncs: DirectionTotals,
    /// Errors that the job went on after, those of syncs among them.
    pub n_errors: u64,
}

impl JobTotals {
    /// Adds the counts of an interval of a clone.
    pub fn add(&mut self, stats: &ThreadStats) {
        for direction in DataDirection::ALL {
            self.directions[direction].add(&stats.directions[direction]);
            let n_errors = &mut self.directions[direction].n_errors;
            *n_errors = n_errors.saturating_add(stats.tolerated.by_direction[direction]);
        }
        self.syncs.n_ios = self.syncs.n_ios.saturating_add(measured_syncs(stats));
        self.syncs.add_latencies(&stats.sync);
        self.n_errors = self.n_errors.saturating_add(stats.tolerated.n_total);
    }

    /// Errors of syncs that the job went on after.
    pub fn n_sync_errors(&self) -> u64 {
        self.directions.iter().fold(self.n_errors, |rest, (_, totals)| rest.saturating_sub(totals.n_errors))
    }
}

/// The counts of a direction since the start of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DirectionTotals {
    /// I/Os that completed.
    pub n_ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Errors that the job went on after.
    pub n_errors: u64,
    /// Sum of the latencies, nanoseconds.
    pub latency_sum_ns: u64,
    /// Latencies below the first bound, between each two, and from the last one on; empty where none were measured.
    pub latencies: Vec<u64>,
}

impl DirectionTotals {
    /// Adds the I/Os of an interval.
    fn add(&mut self, stats: &DirectionStats) {
        self.n_ios = self.n_ios.saturating_add(stats.n_completed);
        self.bytes = self.bytes.saturating_add(stats.bytes);
        self.add_latencies(measured_latency(stats));
    }

    fn add_latencies(&mut self, latency: &LatencyStat) {
        let sum_ns = u64::try_from(latency.sum_ns).unwrap_or(u64::MAX);
        self.latency_sum_ns = self.latency_sum_ns.saturating_add(sum_ns);
        for (index, count) in latency.histogram.iter().flat_map(Histogram::filled) {
            self.latencies.resize(N_LATENCY_BOUNDS + 1, 0);
            let sum = &mut self.latencies[range_of(bucket_bounds_ns(index).0)];
            *sum = sum.saturating_add(count);
        }
    }
}

/// The latency of which a job has percentiles: the completion latency, or the total one.
pub(super) fn measured_latency(stats: &DirectionStats) -> &LatencyStat {
    if stats.clat.histogram.is_some() { &stats.clat } else { &stats.lat }
}

/// Number of syncs: those that returned, or where their latency is not measured, those that began.
fn measured_syncs(stats: &ThreadStats) -> u64 {
    if stats.sync.histogram.is_some() { stats.sync.n_samples } else { stats.n_syncs_issued }
}

/// A bound of the latencies, microseconds. The bounds of the histogram's buckets are among 1000 * 2^n ns for each n, because 1000 is
/// 512 + 61 * 8 and a bucket of values from 512 on is 8 wide: so no bucket lies on both sides of a bound.
pub fn latency_bound_us(index: usize) -> u64 {
    1 << index
}

/// The index of the first bound above a latency; [`N_LATENCY_BOUNDS`]: there is none.
fn range_of(latency_ns: u64) -> usize {
    match latency_ns / 1000 {
        0 => 0,
        whole_us => (whole_us.ilog2() as usize + 1).min(N_LATENCY_BOUNDS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::histogram::full_bucket_index;

    #[test]
    fn a_latency_is_counted_below_the_first_bound_above_it() {
        let table = [
            (0, 0),
            (999, 0),
            (1_000, 1),
            (1_999, 1),
            (2_000, 2),
            (3_999_999, 12),
            (4_096_000, 13),
            (33_554_431_999, 25),
            (33_554_432_000, 26),
            (67_108_863_999, 26),
            (67_108_864_000, 27),
            (u64::MAX, 27),
        ];
        for (latency_ns, range) in table {
            assert_eq!(range_of(latency_ns), range, "{latency_ns}");
            // The buckets of the histogram keep to the bounds.
            let (low_ns, end_ns) = bucket_bounds_ns(full_bucket_index(latency_ns));
            assert_eq!([low_ns, end_ns - 1].map(range_of), [range; 2], "{latency_ns}");
        }
    }

    /// Syncs of 1.5 us and of 70 s are no I/Os of a direction.
    #[test]
    fn syncs_are_counted_for_themselves() {
        let mut stats = ThreadStats { n_syncs_issued: 3, ..ThreadStats::default() };
        let mut totals = JobTotals::default();
        totals.add(&stats);
        assert_eq!((totals.syncs.n_ios, totals.syncs.latencies.len()), (3, 0));
        stats.sync = LatencyStat::new(true);
        for latency_ns in [1_500, 70_000_000_000] {
            stats.sync.record(latency_ns);
        }
        totals.add(&stats);
        assert_eq!((totals.syncs.n_ios, totals.syncs.latencies[1], totals.syncs.latencies[27]), (5, 1, 1));
        assert_eq!((totals.syncs.latency_sum_ns, totals.directions), (70_000_001_500, PerDirection::default()));
    }

    #[test]
    fn counts_of_intervals_add_up() {
        let mut latencies = Histogram::default();
        latencies.record_many(1_500, 3);
        latencies.record(70_000_000_000);
        let clat =
            LatencyStat { n_samples: 4, sum_ns: 70_000_004_500, histogram: Some(latencies), ..Default::default() };
        let stats = DirectionStats { n_completed: 4, bytes: 16_384, clat, ..DirectionStats::default() };
        let mut totals = DirectionTotals::default();
        totals.add(&stats);
        totals.add(&stats);
        assert_eq!((totals.n_ios, totals.bytes, totals.latency_sum_ns), (8, 32_768, 140_000_009_000));
        assert_eq!((totals.latencies.len(), totals.latencies[1], totals.latencies[27]), (28, 6, 2));
        assert_eq!(totals.latencies.iter().sum::<u64>(), 8);
    }
}
