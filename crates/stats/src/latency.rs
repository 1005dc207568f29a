//! Latency statistics: extremes, mean, deviation, histogram, and the coarse buckets of the human report.
//!
//! Must not know: which latency it is. Start reading at [`LatencyStat`].

use crate::histogram::Histogram;
use serde::{Deserialize, Serialize};

/// Statistics of one kind of latency, in nanoseconds. Sums are exact, so that merging is exact too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyStat {
    /// Number of samples.
    pub n_samples: u64,
    /// Smallest sample; `u64::MAX` when there is none.
    pub min_ns: u64,
    /// Largest sample.
    pub max_ns: u64,
    /// Sum of the samples.
    pub sum_ns: u64,
    /// Sum of the squares of the samples.
    pub sum_squares: u128,
    /// Distribution, when percentiles of this latency are wanted.
    pub histogram: Option<Histogram>,
}

impl Default for LatencyStat {
    fn default() -> Self {
        Self { n_samples: 0, min_ns: u64::MAX, max_ns: 0, sum_ns: 0, sum_squares: 0, histogram: None }
    }
}

impl LatencyStat {
    /// Empty, with a histogram if `with_histogram`.
    pub fn new(with_histogram: bool) -> Self {
        Self { histogram: with_histogram.then(Histogram::default), ..Self::default() }
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.n_samples += 1;
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
        // Cannot overflow in practice: 2^64 ns are 584 years of summed latency.
        self.sum_ns = self.sum_ns.wrapping_add(value_ns);
        self.sum_squares += u128::from(value_ns) * u128::from(value_ns);
        if let Some(histogram) = &mut self.histogram {
            histogram.record(value_ns);
        }
    }

    /// Adds the samples of another statistic, exactly.
    pub fn merge(&mut self, other: &Self) {
        self.n_samples += other.n_samples;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns = self.sum_ns.wrapping_add(other.sum_ns);
        self.sum_squares += other.sum_squares;
        match (&mut self.histogram, &other.histogram) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
    }

    /// Forgets all samples, keeps the memory.
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
    pub fn record(&mut self, value_ns: u64) {
        if value_ns < 1_000 {
            self.ns[label_index(value_ns)] += 1;
        } else if value_ns < 1_000_000 {
            self.us[label_index(value_ns / 1_000)] += 1;
        } else {
            let value_ms = value_ns / 1_000_000;
            let index = if value_ms >= 2_000 { 11 } else { label_index(value_ms) };
            self.ms[index] += 1;
        }
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        let add = |mine: &mut [u64], theirs: &[u64]| mine.iter_mut().zip(theirs).for_each(|(m, t)| *m += t);
        add(&mut self.ns, &other.ns);
        add(&mut self.us, &other.us);
        add(&mut self.ms, &other.ms);
    }
}

/// Position of a value below 2,000 among the upper labels 2 4 10 20 50 100 250 500 750 1000 2000.
#[inline]
fn label_index(value: u64) -> usize {
    const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
    // Ten comparisons without a branch cost less than a mispredicted search.
    BOUNDS.iter().map(|bound| usize::from(value >= *bound)).sum()
}
