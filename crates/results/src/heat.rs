//! Distributions of a latency over time.
//!
//! Must not know: files, how a heat map looks. Start reading at [`LatencyHeat`].

use ferrio_stats::histogram::{bucket_latency_ns, full_bucket_index};
use std::collections::BTreeMap;

/// A distribution of latencies for each interval: the columns of a heat map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LatencyHeat {
    /// Length of an interval, nanoseconds, at least 1.
    pub interval_ns: u64,
    /// Number of the first interval.
    pub first: u64,
    /// For each interval, numbers of latency buckets (`ferrio_stats::histogram`) with their counts.
    pub columns: Vec<BTreeMap<u16, u64>>,
}

impl LatencyHeat {
    /// A map without columns.
    pub fn new(interval_ns: u64) -> Self {
        Self { interval_ns: interval_ns.max(1), ..Self::default() }
    }

    /// Adds a number of I/Os of one latency at a time, and keeps at most `most` columns (at least 2).
    pub fn add(&mut self, time_ns: u64, latency_ns: u64, count: u64, most: usize) {
        self.add_bucket(time_ns, full_bucket_index(latency_ns) as u16, count, most);
    }

    /// Adds to a bucket.
    pub fn add_bucket(&mut self, time_ns: u64, bucket: u16, count: u64, most: usize) {
        let (time_ns, most) = (time_ns.min(u64::MAX / 2), most.max(2) as u64);
        if self.columns.is_empty() {
            self.first = time_ns / self.interval_ns;
        }
        loop {
            let number = time_ns / self.interval_ns;
            let end = self.first + self.columns.len() as u64;
            let (first, end) = (self.first.min(number), end.max(number + 1));
            if end - first <= most {
                let n_before = (self.first - first) as usize;
                self.columns.splice(..0, std::iter::repeat_n(BTreeMap::new(), n_before));
                self.columns.resize_with((end - first) as usize, BTreeMap::new);
                self.first = first;
                let sum = self.columns[(number - first) as usize].entry(bucket).or_default();
                *sum = sum.saturating_add(count);
                return;
            }
            self.halve();
        }
    }

    /// Makes pairs of columns one.
    pub fn halve(&mut self) {
        let is_odd = (self.first % 2) as usize;
        let mut halved = vec![BTreeMap::new(); (self.columns.len() + is_odd).div_ceil(2)];
        for (index, column) in self.columns.iter().enumerate() {
            let target: &mut BTreeMap<u16, u64> = &mut halved[usize::midpoint(index, is_odd)];
            for (bucket, count) in column {
                let sum = target.entry(*bucket).or_default();
                *sum = sum.saturating_add(*count);
            }
        }
        self.columns = halved;
        self.first /= 2;
        self.interval_ns = self.interval_ns.saturating_mul(2);
    }

    /// Number of I/Os in a column.
    pub fn n_ios(column: &BTreeMap<u16, u64>) -> u64 {
        column.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// A percentile of a column, nanoseconds: the middle of the bucket of the ranked I/O; `None`: no I/O.
    pub fn percentile(column: &BTreeMap<u16, u64>, percent: f64) -> Option<u64> {
        let rank = percent / 100.0 * Self::n_ios(column) as f64;
        let mut sum = 0_u64;
        let found = column.iter().find(|(_, count)| {
            sum = sum.saturating_add(**count);
            sum as f64 >= rank
        });
        found.map(|(bucket, _)| bucket_latency_ns(usize::from(*bucket)))
    }

    /// The start of a column, nanoseconds.
    pub fn start_ns(&self, index: usize) -> u64 {
        self.first.saturating_add(index as u64).saturating_mul(self.interval_ns)
    }

    /// The distribution of the whole time: latencies ascending, each with its number of I/Os.
    pub fn total(&self) -> Vec<(u64, u64)> {
        let mut total: BTreeMap<u16, u64> = BTreeMap::new();
        for (bucket, count) in self.columns.iter().flatten() {
            let sum = total.entry(*bucket).or_default();
            *sum = sum.saturating_add(*count);
        }
        total.into_iter().map(|(bucket, count)| (bucket_latency_ns(usize::from(bucket)), count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_columns_are_joined() {
        let mut heat = LatencyHeat::new(1);
        (0..10_000_u64).for_each(|time_ns| heat.add(time_ns, 1 + time_ns % 100, 1, 64));
        assert!(heat.columns.len() <= 64 && heat.columns.len() > 32);
        // Latencies below 128 ns have a bucket each: 1 to 100, a hundred times each.
        let expected: Vec<(u64, u64)> = (1..=100).map(|latency_ns| (latency_ns, 100)).collect();
        assert_eq!(heat.total(), expected);
    }

    #[test]
    fn percentiles_are_those_of_the_ranked_io() {
        let mut heat = LatencyHeat::new(1_000);
        (1..=100_u64).for_each(|latency_ns| heat.add(5, latency_ns, 1, 64));
        for percent in [1.0, 50.0, 99.0, 100.0] {
            assert_eq!(LatencyHeat::percentile(&heat.columns[0], percent), Some(percent as u64));
        }
        assert_eq!(LatencyHeat::percentile(&BTreeMap::new(), 50.0), None);
    }
}
