//! Statistics in their simplest form: a list of all samples, and a search for each answer.
//!
//! Must not know: the library's statistics. Start reading at [`PlainStat`]. Layout of the buckets: reference
//! "Histogram" (JSON) and the lines `lat (nsec)` to `lat (msec)` (normal).

use ferrio_stats::{LatencyBuckets, LatencyStat, full_percentiles, percentiles};

/// Quarters of a percent: doubles represent them exactly, so that ranks are whole numbers here.
const PERCENTILE_QUARTERS: [u64; 7] = [1, 4, 100, 200, 303, 396, 400];

/// Upper ends of the coarse buckets below 1,000 of a unit.
const LABELS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000];

/// All samples, ns.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlainStat {
    samples_ns: Vec<u64>,
}

/// A bucket of the histogram: its first value and its width, ns.
struct Bucket {
    low_ns: u128,
    width_ns: u128,
}

impl Bucket {
    fn middle_ns(&self) -> u64 {
        u64::try_from(self.low_ns + self.width_ns / 2).unwrap()
    }
}

/// `n_groups` groups of 64 buckets: the first two are 1 ns wide, each further one twice as wide as the one before.
fn buckets(n_groups: u32) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = Vec::new();
    for group in 0..n_groups {
        let width_ns = 1 << group.saturating_sub(1);
        for _ in 0..64 {
            let low_ns = buckets.last().map_or(0, |last| last.low_ns + last.width_ns);
            buckets.push(Bucket { low_ns, width_ns });
        }
    }
    buckets
}

/// The last bucket that begins at or below a value; larger values are in the last one.
fn search(buckets: &[Bucket], value_ns: u64) -> usize {
    buckets.iter().take_while(|bucket| bucket.low_ns <= u128::from(value_ns)).count() - 1
}

/// Counts of the buckets that are not empty.
fn count(buckets: &[Bucket], samples_ns: &[u64]) -> Vec<(usize, u64)> {
    let mut counts = vec![0; buckets.len()];
    for value_ns in samples_ns {
        counts[search(buckets, *value_ns)] += 1;
    }
    counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect()
}

/// Checks equality to a billionth; if 0 is expected the value must be 0.
fn assert_near(value: f64, expected: f64, what: &str) {
    assert!((value - expected).abs() <= expected * 1e-9, "{what}: {value}, expected {expected}");
}

impl PlainStat {
    /// One sample.
    pub(crate) fn record(&mut self, value_ns: u64) {
        self.samples_ns.push(value_ns);
    }

    /// Checks that a statistic has the same figures; of buckets and percentiles if it has any.
    pub(crate) fn assert_same(&self, stat: &LatencyStat, what: &str) {
        let n_samples = self.samples_ns.len() as u64;
        assert_eq!(stat.n_samples, n_samples, "{what}: samples");
        assert_eq!(stat.min_ns, self.samples_ns.iter().copied().min().unwrap_or(u64::MAX), "{what}: smallest");
        assert_eq!(stat.max_ns, self.samples_ns.iter().copied().max().unwrap_or(0), "{what}: largest");
        assert_eq!(stat.sum_ns, self.sum_ns(), "{what}: sum");
        if n_samples > 0 {
            assert_near(stat.mean_ns(), self.sum_ns() as f64 / n_samples as f64, &format!("{what}: mean"));
        }
        if let Some(histogram) = &stat.histogram {
            let (full, of_fio) = (buckets(59), buckets(29));
            assert_eq!(histogram.filled().collect::<Vec<_>>(), count(&full, &self.samples_ns), "{what}: buckets");
            assert_eq!(
                histogram.folded().collect::<Vec<_>>(),
                count(&of_fio, &self.samples_ns),
                "{what}: fio's buckets"
            );
            let wanted = PERCENTILE_QUARTERS.map(|quarters| quarters as f64 / 4.0);
            assert_eq!(full_percentiles(histogram, &wanted), self.percentiles(&full), "{what}: percentiles");
            assert_eq!(percentiles(histogram, &wanted), self.percentiles(&of_fio), "{what}: fio's percentiles");
        }
    }

    /// Checks the deviation. Squares of samples must sum up to less than 2^128.
    pub(crate) fn assert_same_variance(&self, stat: &LatencyStat, what: &str) {
        assert_near(stat.standard_deviation_ns().powi(2), self.variance(), &format!("{what}: variance"));
    }

    fn sum_ns(&self) -> u128 {
        self.samples_ns.iter().map(|value_ns| u128::from(*value_ns)).sum()
    }

    /// In two passes, the second one over distances from the mean, with whole nanoseconds first, so that no digits are
    /// lost.
    fn variance(&self) -> f64 {
        let n = self.samples_ns.len() as u128;
        if n < 2 {
            return 0.0;
        }
        let (whole, rest) = (self.sum_ns() / n, (self.sum_ns() % n) as f64 / n as f64);
        let distance = |value_ns: &u64| (i128::from(*value_ns) - whole as i128) as f64 - rest;
        self.samples_ns.iter().map(|value_ns| distance(value_ns).powi(2)).sum::<f64>() / (n - 1) as f64
    }

    /// The middle of the bucket of the ranked sample; 0 without samples.
    fn percentiles(&self, buckets: &[Bucket]) -> Vec<(f64, u64)> {
        let mut sorted = self.samples_ns.clone();
        sorted.sort_unstable();
        let ranked = |quarters: u64| {
            // The first sample that at least this percentage of samples do not exceed.
            let rank = (quarters * sorted.len() as u64).div_ceil(400) as usize;
            let value_ns = sorted.get(rank.wrapping_sub(1)).copied();
            value_ns.map_or(0, |value_ns| buckets[search(buckets, value_ns)].middle_ns())
        };
        PERCENTILE_QUARTERS.into_iter().map(|quarters| (quarters as f64 / 4.0, ranked(quarters))).collect()
    }

    /// Checks that coarse buckets hold these samples.
    pub(crate) fn assert_same_coarse(&self, coarse: &LatencyBuckets) {
        let units = [1, 1_000, 1_000_000];
        let mut ends: Vec<u64> = units.iter().flat_map(|unit| LABELS.map(|label| label * unit)).collect();
        ends.push(2_000_000_000);
        let mut counts = vec![0; ends.len() + 1];
        for value_ns in &self.samples_ns {
            counts[ends.iter().take_while(|end| **end <= *value_ns).count()] += 1;
        }
        assert_eq!([&coarse.ns[..], &coarse.us, &coarse.ms].concat(), counts, "coarse buckets");
    }
}
