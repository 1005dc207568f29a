//! Latency statistics: extremes, mean, deviation, histogram, and the coarse buckets of the human report.
//!
//! Must not know: kinds of latencies. Start reading at [`LatencyStat`].

use crate::counters::counts::{add_counts, add_to};
use crate::distribution::histogram::Histogram;
use serde::{Deserialize, Serialize};

/// Statistics of one kind of latency, in nanoseconds. Sums are exact, so that merging is exact too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyStat {
    pub n_samples: u64,
    /// Smallest sample; `u64::MAX` if there is none.
    pub min_ns: u64,
    pub max_ns: u64,
    /// Sum of the samples. It has 128 bits, because the latencies of a thousand jobs at depth 1,000 reach 2^64 ns in
    /// five hours.
    pub sum_ns: u128,
    pub sum_squares: u128,
    /// Distribution, if percentiles of this latency are wanted.
    pub histogram: Option<Histogram>,
}

impl Default for LatencyStat {
    fn default() -> Self {
        Self { n_samples: 0, min_ns: u64::MAX, max_ns: 0, sum_ns: 0, sum_squares: 0, histogram: None }
    }
}

impl LatencyStat {
    /// An empty statistic; with a histogram if `with_histogram` is set.
    pub fn new(with_histogram: bool) -> Self {
        Self { histogram: with_histogram.then(Histogram::default), ..Self::default() }
    }

    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.n_samples += 1;
        // New extremes are rare: a correctly predicted branch costs less than writing them back each time.
        if latency_ns < self.min_ns {
            self.min_ns = latency_ns;
        }
        if latency_ns > self.max_ns {
            self.max_ns = latency_ns;
        }
        self.sum_ns += u128::from(latency_ns);
        // Cannot overflow below 2^40 samples of 2^44 ns (4.9 hours) each.
        self.sum_squares = self.sum_squares.wrapping_add(u128::from(latency_ns) * u128::from(latency_ns));
        if let Some(histogram) = &mut self.histogram {
            histogram.record(latency_ns);
        }
    }

    /// Adds the samples of another statistic, exactly.
    pub fn merge(&mut self, other: &Self) {
        add_to(&mut self.n_samples, other.n_samples);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.sum_squares = self.sum_squares.saturating_add(other.sum_squares);
        match (&mut self.histogram, &other.histogram) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
        debug_assert!(self.n_samples >= other.n_samples && self.sum_ns >= other.sum_ns, "a part exceeds the whole");
        debug_assert!(self.min_ns <= other.min_ns && self.max_ns >= other.max_ns, "the extremes are those of all");
    }

    /// Mean in nanoseconds; 0 without samples.
    pub fn mean_ns(&self) -> f64 {
        if self.n_samples == 0 {
            return 0.0;
        }
        self.sum_ns as f64 / self.n_samples as f64
    }

    /// Sample standard deviation (divisor n - 1) in nanoseconds; 0 below two samples.
    ///
    /// Relative error below 1e-12 for up to 2^60 samples: the squared distances are summed as whole numbers around the
    /// mean rounded down, so no digits cancel.
    pub fn standard_deviation_ns(&self) -> f64 {
        if self.n_samples < 2 {
            return 0.0;
        }
        let n = u128::from(self.n_samples);
        let center = self.sum_ns / n;
        let rest = self.sum_ns % n;
        // sum((x - center)^2) = sum_squares - center * (sum + rest). This is not negative, so the product fits; only
        // inconsistent sums from another process saturate here.
        let squares = self.sum_squares.saturating_sub(center.saturating_mul(self.sum_ns.saturating_add(rest)));
        // Variance * (n - 1) = squares - rest^2 / n.
        let deviations = match n.checked_mul(squares) {
            Some(product) => product.saturating_sub(rest * rest) as f64 / n as f64,
            // n * squares >= 2^128 and rest < n <= 2^60: the second term is below 2^-8 of the first.
            None => squares as f64 - (rest as f64) * (rest as f64 / n as f64),
        };
        (deviations.max(0.0) / (n - 1) as f64).sqrt()
    }

    /// Clears all samples, keeps the memory.
    pub fn clear(&mut self) {
        let mut histogram = self.histogram.take();
        if let Some(histogram) = &mut histogram {
            histogram.clear();
        }
        *self = Self { histogram, ..Self::default() };
    }
}

/// Counts of the report's `lat (nsec)`, `lat (usec)`, `lat (msec)` lines, by completion latency.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LatencyBuckets {
    /// Below 1,000 ns: upper labels 2 4 10 20 50 100 250 500 750 1000.
    pub ns: [u64; 10],
    /// Below 1,000,000 ns, the same labels in microseconds.
    pub us: [u64; 10],
    /// The rest, the same labels in milliseconds, then 2000 and `>=2000`.
    pub ms: [u64; 12],
}

impl LatencyBuckets {
    /// Counts one completion latency.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        if latency_ns < 1_000 {
            self.ns[label_index(latency_ns)] += 1;
        } else if latency_ns < 1_000_000 {
            self.us[label_index(latency_ns / 1_000)] += 1;
        } else {
            let millis = latency_ns / 1_000_000;
            let index = if millis >= 2_000 { 11 } else { label_index(millis) };
            self.ms[index] += 1;
        }
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        add_counts(&mut self.ns, &other.ns);
        add_counts(&mut self.us, &other.us);
        add_counts(&mut self.ms, &other.ms);
    }
}

/// Index of each value below 1,000 among the upper labels 2 4 10 20 50 100 250 500 750 1000.
const LABELS: [u8; 1_000] = label_table();

const fn label_table() -> [u8; 1_000] {
    const BOUNDS: [usize; 9] = [2, 4, 10, 20, 50, 100, 250, 500, 750];
    let mut table = [0; 1_000];
    let mut value = 0;
    while value < table.len() {
        let mut label = 0;
        while label < BOUNDS.len() && value >= BOUNDS[label] {
            label += 1;
        }
        table[value] = label as u8;
        value += 1;
    }
    table
}

/// Index of a value below 2,000 among the labels; from 1,000 on it is the one behind the last of [`LABELS`].
#[inline]
fn label_index(value: u64) -> usize {
    LABELS.get(value as usize).map_or(10, |label| usize::from(*label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stat_of(values: &[u64]) -> LatencyStat {
        let mut stat = LatencyStat::new(true);
        for value in values {
            stat.record(*value);
        }
        stat
    }

    /// Mean and deviation by the textbook, in two passes.
    fn two_pass(values: &[u64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().map(|value| *value as f64).sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
        (mean, if values.len() < 2 { 0.0 } else { (squares / (n - 1.0)).sqrt() })
    }

    #[test]
    fn few_samples() {
        assert_eq!((stat_of(&[]).mean_ns(), stat_of(&[]).standard_deviation_ns()), (0.0, 0.0));
        assert_eq!((stat_of(&[7]).mean_ns(), stat_of(&[7]).standard_deviation_ns()), (7.0, 0.0));
        assert!(stat_of(&[5, 5, 5]).standard_deviation_ns().abs() < 1e-12);
        assert!((stat_of(&[2, 4, 4, 4, 5, 5, 7, 9]).standard_deviation_ns() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    /// A billion samples of 2^33 ns and a single other one: a sum of squares in floating point would lose the
    /// deviation.
    #[test]
    fn nothing_cancels() {
        let (n, value) = (1u64 << 30, 1u64 << 33);
        let n_wide = u128::from(n);
        let stat = LatencyStat {
            n_samples: n + 1,
            sum_ns: n_wide * u128::from(value) + u128::from(value + 1),
            sum_squares: n_wide * u128::from(value).pow(2) + u128::from(value + 1).pow(2),
            ..LatencyStat::default()
        };
        // One sample differs by 1: variance = 1 / (n + 1).
        let expected = (1.0 / (n as f64 + 1.0)).sqrt();
        assert!((stat.standard_deviation_ns() / expected - 1.0).abs() < 1e-9);
    }

    #[test]
    fn sums_of_no_samples_do_not_panic() {
        for (n_samples, sum_ns, sum_squares) in [(u64::MAX, u128::MAX, 0), (2, u128::MAX, u128::MAX), (3, 1, u128::MAX)]
        {
            let mut stat = LatencyStat { n_samples, sum_ns, sum_squares, ..LatencyStat::default() };
            assert!(stat.standard_deviation_ns() >= 0.0 && stat.mean_ns() >= 0.0);
            stat.merge(&stat.clone());
        }
    }

    #[test]
    fn coarse_buckets_have_exclusive_upper_bounds() {
        let table = [(0, 0), (1, 0), (2, 1), (4, 2), (10, 3), (20, 4), (50, 5), (100, 6), (250, 7), (500, 8), (750, 9)];
        for (value, index) in table {
            let mut buckets = LatencyBuckets::default();
            buckets.record(value);
            assert_eq!(buckets.ns[index], 1, "{value} ns");
            if value > 0 {
                buckets.record(value * 1_000);
                buckets.record(value * 1_000_000);
                assert_eq!((buckets.us[index], buckets.ms[index]), (1, 1), "{value}");
            }
        }
        let mut buckets = LatencyBuckets::default();
        for value in [1_000_000_000, 1_999_999_999, 2_000_000_000, u64::MAX] {
            buckets.record(value);
        }
        assert_eq!((buckets.ms[10], buckets.ms[11]), (2, 2));
    }

    proptest! {
        #[test]
        fn mean_and_deviation_are_exact(values in prop::collection::vec(0u64..1 << 45, 1..300)) {
            let stat = stat_of(&values);
            let (mean, deviation) = two_pass(&values);
            prop_assert!((stat.mean_ns() - mean).abs() <= mean * 1e-9);
            prop_assert!((stat.standard_deviation_ns() - deviation).abs() <= deviation * 1e-9);
        }

        #[test]
        fn merging_is_recording_all(
            first in prop::collection::vec(0u64..1 << 60, 0..100),
            second in prop::collection::vec(0u64..1 << 60, 0..100),
        ) {
            let mut merged = stat_of(&first);
            merged.merge(&stat_of(&second));
            prop_assert_eq!(merged, stat_of(&[first, second].concat()));
        }
    }
}
