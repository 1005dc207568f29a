//! Distributions of a latency over time.
//!
//! Must not know: files, how a heat map looks. Start reading at [`LatencyHeat`].

use crate::results::series::{JoinFigures, TimeIntervals};
use ferrio_stats::histogram::{bucket_latency_ns, full_bucket_index};
use std::collections::BTreeMap;

/// A distribution of latencies: numbers of latency buckets (`ferrio_stats::histogram`) with their counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LatencyCounts(pub BTreeMap<u16, u64>);

impl LatencyCounts {
    pub fn add(&mut self, bucket: u16, count: u64) {
        let sum = self.0.entry(bucket).or_default();
        *sum = sum.saturating_add(count);
    }

    pub fn n_ios(&self) -> u64 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// A percentile, nanoseconds: the middle of the bucket of the ranked I/O; `None`: the I/Os do not suffice for it, because less
    /// than one of them would be beyond it.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let n_ios = self.n_ios() as f64;
        let beyond = percent.min(100.0 - percent) / 100.0 * n_ios;
        // 0.1 % of 1,000 is a little less than 1 in binary numbers, and 99.9 % a little more than 999.
        let slack = n_ios * 1e-12;
        if beyond < 1.0 - slack {
            return None;
        }
        let rank = percent / 100.0 * n_ios - slack;
        let mut sum = 0_u64;
        let found = self.0.iter().find(|(_, count)| {
            sum = sum.saturating_add(**count);
            sum as f64 >= rank
        });
        found.map(|(bucket, _)| bucket_latency_ns(usize::from(*bucket)))
    }
}

impl JoinFigures for LatencyCounts {
    fn join(&mut self, other: &Self) {
        for (bucket, count) in &other.0 {
            self.add(*bucket, *count);
        }
    }
}

/// A distribution of latencies for each interval: the columns of a heat map.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyHeat {
    pub columns: TimeIntervals<LatencyCounts>,
}

impl LatencyHeat {
    /// A map without columns, in which a moment becomes a column of this width.
    pub fn new(cell_ns: u64) -> Self {
        Self { columns: TimeIntervals::new(cell_ns) }
    }

    /// Adds a number of I/Os of one latency at a moment, and keeps at most `most` columns (at least 2).
    pub fn add(&mut self, time_ns: u64, latency_ns: u64, count: u64, most: usize) {
        self.columns.at(time_ns, most).add(full_bucket_index(latency_ns) as u16, count);
    }

    pub fn n_ios(&self) -> u64 {
        self.columns.all().iter().fold(0, |sum, column| sum.saturating_add(column.figures.n_ios()))
    }

    /// The distribution of the whole time: latencies ascending, each with its number of I/Os.
    pub fn total(&self) -> Vec<(u64, u64)> {
        let total = self.columns.whole().unwrap_or_default();
        total.0.into_iter().map(|(bucket, count)| (bucket_latency_ns(usize::from(bucket)), count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_columns_are_joined() {
        let mut heat = LatencyHeat::new(1);
        (0..10_000_u64).for_each(|time_ns| heat.add(time_ns, 1 + time_ns % 100, 1, 64));
        assert!(heat.columns.len() <= 64 && heat.columns.len() >= 32);
        // Latencies below 128 ns have a bucket each: 1 to 100, a hundred times each.
        let expected: Vec<(u64, u64)> = (1..=100).map(|latency_ns| (latency_ns, 100)).collect();
        assert_eq!((heat.total(), heat.n_ios()), (expected, 10_000));
    }

    #[test]
    fn percentiles_are_those_of_the_ranked_io_where_there_are_enough() {
        let mut counts = LatencyCounts::default();
        (1..=100_u16).for_each(|latency_ns| counts.add(latency_ns, 1));
        for percent in [1.0, 50.0, 99.0] {
            assert_eq!(counts.percentile(percent), Some(percent as u64));
        }
        // Of 100 I/Os, none is beyond 99.9 %.
        assert_eq!((counts.percentile(99.9), LatencyCounts::default().percentile(50.0)), (None, None));
        counts.add(1, 900);
        assert_eq!(counts.percentile(99.9), Some(99));
    }
}
