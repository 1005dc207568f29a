//! Reconstructs figures from recorded reports: a statistic with the printed count, extremes, mean, deviation and
//! percentiles. The tests then compare the text that the report crate makes of them.
//!
//! Start reading at [`PrintedLatency`].

use ferrio_stats::histogram::{N_BUCKETS, bucket_index, bucket_latency_ns};
use ferrio_stats::{Histogram, LatencyStat, SampleStat};

/// A latency as a report prints it, in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrintedLatency {
    pub(crate) n_samples: u64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) mean_ns: f64,
    pub(crate) deviation_ns: f64,
}

impl PrintedLatency {
    /// A statistic with these figures and this distribution.
    pub(crate) fn stat(&self, histogram: Option<Histogram>) -> LatencyStat {
        if self.n_samples == 0 {
            return LatencyStat { histogram, ..LatencyStat::default() };
        }
        let n = u128::from(self.n_samples);
        let sum_ns = (self.mean_ns * self.n_samples as f64).round() as u128;
        // sum_squares = sum^2 / n + deviation^2 * (n - 1); the first term in whole numbers as far as possible.
        let fraction = (sum_ns * sum_ns % n) as f64 / n as f64;
        let deviations = self.deviation_ns.powi(2) * (self.n_samples as f64 - 1.0);
        let sum_squares = sum_ns * sum_ns / n + (fraction + deviations).round() as u128;
        LatencyStat {
            n_samples: self.n_samples,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            sum_ns,
            sum_squares,
            histogram,
        }
    }
}

/// A distribution of `n_samples` that has these values at these ranks; the rest is at the last of them.
pub(crate) fn histogram_with_ranks(mut ranked: Vec<(u64, u64)>, n_samples: u64) -> Histogram {
    ranked.sort_unstable();
    let mut counts = vec![0u64; N_BUCKETS];
    let mut n_placed = 0;
    for (rank, value_ns) in &ranked {
        counts[bucket_index(*value_ns)] += rank.saturating_sub(n_placed);
        n_placed = n_placed.max(*rank);
    }
    if let Some((_, value_ns)) = ranked.last() {
        counts[bucket_index(*value_ns)] += n_samples.saturating_sub(n_placed);
    }
    histogram_of(counts.into_iter().enumerate().filter(|(_, count)| *count > 0))
}

/// A histogram from pairs of bucket and count, ascending. It is built from its serialised form, because otherwise only
/// `record` fills it.
pub(crate) fn histogram_of(pairs: impl Iterator<Item = (usize, u64)>) -> Histogram {
    let pairs: Vec<(usize, u64)> = pairs.collect();
    serde_json::from_value(serde_json::json!(pairs)).expect("buckets ascend")
}

/// Rank of a percentile among `n_samples`. It is right for samples in which no product is whole except for whole
/// percentiles.
pub(crate) fn rank(percentile: f64, n_samples: u64) -> u64 {
    let millionths = (percentile * 1e6).round() as u128;
    (millionths * u128::from(n_samples)).div_ceil(100_000_000) as u64
}

/// Middle of the first bucket that prints as `shown`.
pub(crate) fn bucket_value_shown_as(shown: u64, print: impl Fn(u64) -> u64) -> u64 {
    let found = (0..N_BUCKETS).map(bucket_latency_ns).find(|value_ns| print(*value_ns) == shown);
    found.unwrap_or_else(|| panic!("no bucket prints as {shown}"))
}

/// Samples with these figures.
pub(crate) fn samples(n_samples: u64, min: u64, max: u64, mean: f64, deviation: f64) -> SampleStat {
    if n_samples == 0 {
        return SampleStat::default();
    }
    SampleStat { n_samples, min, max, mean, sum_squared_deviations: deviation.powi(2) * (n_samples - 1) as f64 }
}

/// The count for a percentage of `whole`. A percentage at its floor stands for a single one.
pub(crate) fn count_of(percent: f64, whole: u64, floor: f64) -> u64 {
    let count = (percent * whole as f64 / 100.0).round() as u64;
    if percent > 0.0 && percent <= floor { count.clamp(1, 1.max((floor * whole as f64 / 100.0) as u64)) } else { count }
}

/// Compares line by line, so that a failure shows the first line that differs.
pub(crate) fn assert_same_text(name: &str, ours: &str, expected: &str) {
    for (index, (our_line, expected_line)) in ours.lines().zip(expected.lines()).enumerate() {
        assert_eq!(our_line, expected_line, "{name}, line {}", index + 1);
    }
    assert_eq!(ours.lines().count(), expected.lines().count(), "{name}: number of lines");
    assert_eq!(ours, expected, "{name}: line ends");
}
