//! Figures of a job over time, in intervals.
//!
//! Must not know: files, formats. Start reading at [`TimeSeries`]. Memory is bounded: when a series has too many intervals,
//! pairs of them become one. Extremes survive this exactly.

use crate::{LatencyHeat, LatencyKind};
use ferrio_units::DataDirection;

/// What a series measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// A latency, nanoseconds.
    Latency(LatencyKind),
}

/// The most that is kept of each series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesLimits {
    /// Intervals with figures.
    pub n_bins: usize,
    /// Intervals with a distribution of latencies.
    pub n_columns: usize,
}

impl SeriesLimits {
    /// The limits for this number of series, so that all of them together take at most some hundred MiB.
    pub fn for_series(n_series: usize) -> Self {
        const SHARED: usize = 64;
        let share = |most: usize, fewest: usize| (most * SHARED / n_series.max(SHARED)).max(fewest);
        Self { n_bins: share(4096, 64), n_columns: share(512, 4) }
    }
}

/// The figures of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeBin {
    /// Number of values; 0: the other figures mean nothing.
    pub n: u64,
    /// Their sum.
    pub sum: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
}

impl TimeBin {
    /// A single value.
    pub fn of(value: f64) -> Self {
        Self { n: 1, sum: value, min: value, max: value }
    }

    /// The mean of the values; `None`: there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / self.n as f64)
    }

    /// Takes in another interval.
    pub fn merge(&mut self, other: &Self) {
        match (self.n, other.n) {
            (_, 0) => {}
            (0, _) => *self = *other,
            _ => {
                self.n = self.n.saturating_add(other.n);
                self.sum += other.sum;
                self.min = self.min.min(other.min);
                self.max = self.max.max(other.max);
            }
        }
    }
}

/// A quantity of a job over time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSeries {
    /// What it measures.
    pub quantity: Quantity,
    /// The direction of the I/O.
    pub direction: DataDirection,
    /// Length of an interval, nanoseconds, at least 1.
    pub interval_ns: u64,
    /// Number of the first interval; interval 0 begins with the job.
    pub first: u64,
    /// The intervals.
    pub bins: Vec<TimeBin>,
    /// Distributions of a latency over time.
    pub heat: Option<LatencyHeat>,
}

impl TimeSeries {
    /// A series without values.
    pub fn new(quantity: Quantity, direction: DataDirection, interval_ns: u64) -> Self {
        Self { quantity, direction, interval_ns: interval_ns.max(1), first: 0, bins: Vec::new(), heat: None }
    }

    /// Adds a value of a time, and keeps at most `most` intervals (at least 2).
    pub fn add(&mut self, time_ns: u64, value: f64, most: usize) {
        self.add_many(time_ns, value, 1, most);
    }

    /// Raises the highest value of the interval that this time lies in, if it has values.
    pub fn raise(&mut self, time_ns: u64, value: f64) {
        let index = (time_ns / self.interval_ns).checked_sub(self.first);
        let bin = index.and_then(|index| self.bins.get_mut(usize::try_from(index).ok()?));
        if let Some(bin) = bin.filter(|bin| bin.n > 0) {
            bin.max = bin.max.max(value);
        }
    }

    /// Adds a value that occurred `n` times at a time.
    pub fn add_many(&mut self, time_ns: u64, value: f64, n: u64, most: usize) {
        self.add_bin(time_ns, &TimeBin { n, sum: value * n as f64, min: value, max: value }, most);
    }

    /// Adds the figures of an interval at a time.
    pub fn add_bin(&mut self, time_ns: u64, bin: &TimeBin, most: usize) {
        let (time_ns, most) = (time_ns.min(u64::MAX / 2), most.max(2) as u64);
        if self.bins.is_empty() {
            self.first = time_ns / self.interval_ns;
        }
        loop {
            let number = time_ns / self.interval_ns;
            let end = self.first + self.bins.len() as u64;
            let (first, end) = (self.first.min(number), end.max(number + 1));
            if end - first <= most {
                let n_before = (self.first - first) as usize;
                self.bins.splice(..0, std::iter::repeat_n(TimeBin::default(), n_before));
                self.bins.resize((end - first) as usize, TimeBin::default());
                self.first = first;
                self.bins[(number - first) as usize].merge(bin);
                return;
            }
            self.halve();
        }
    }

    /// Makes pairs of intervals one.
    pub fn halve(&mut self) {
        let is_odd = (self.first % 2) as usize;
        let n_bins = (self.bins.len() + is_odd).div_ceil(2);
        let mut halved = vec![TimeBin::default(); n_bins];
        for (index, bin) in self.bins.iter().enumerate() {
            halved[usize::midpoint(index, is_odd)].merge(bin);
        }
        self.bins = halved;
        self.first /= 2;
        self.interval_ns = self.interval_ns.saturating_mul(2);
    }

    /// The intervals that have values: the middle of each, nanoseconds, and its figures.
    pub fn filled(&self) -> impl Iterator<Item = (u64, &TimeBin)> {
        let middle = move |index: usize| {
            let start_ns = self.first.saturating_add(index as u64).saturating_mul(self.interval_ns);
            start_ns.saturating_add(self.interval_ns / 2)
        };
        let filled = self.bins.iter().enumerate().filter(|(_, bin)| bin.n > 0);
        filled.map(move |(index, bin)| (middle(index), bin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(interval_ns: u64) -> TimeSeries {
        TimeSeries::new(Quantity::Iops, DataDirection::Read, interval_ns)
    }

    #[test]
    fn extremes_and_sums_survive_any_shortening() {
        let mut series = series(1);
        for time_ns in 0..100_000_u64 {
            let value = if time_ns == 77_777 { 1e9 } else { (time_ns % 10) as f64 };
            series.add(time_ns, value, 100);
        }
        assert!(series.bins.len() <= 100 && series.bins.len() > 50, "{}", series.bins.len());
        let mut all = TimeBin::default();
        series.bins.iter().for_each(|bin| all.merge(bin));
        assert_eq!((all.n, all.min, all.max), (100_000, 0.0, 1e9));
        // 0 to 9 ten thousand times; one 7 is 1e9 instead.
        assert!((all.sum - (450_000.0 - 7.0 + 1e9)).abs() < 1e-6, "{}", all.sum);
    }

    #[test]
    fn times_may_come_in_any_order() {
        let mut series = series(10);
        for time_ns in [500, 20, 900, 0] {
            series.add(time_ns, time_ns as f64, 1000);
        }
        let found: Vec<(u64, f64)> = series.filled().map(|(time_ns, bin)| (time_ns, bin.sum)).collect();
        assert_eq!(found, [(5, 0.0), (25, 20.0), (505, 500.0), (905, 900.0)]);
    }

    #[test]
    fn the_ends_of_time_fit() {
        let mut series = series(1_000_000);
        series.interval_ns = 1;
        series.add(0, 1.0, 16);
        series.add(u64::MAX, 2.0, 16);
        assert!(series.bins.len() <= 16);
        assert_eq!(series.filled().map(|(_, bin)| bin.n).sum::<u64>(), 2);
    }

    #[test]
    fn many_series_share_the_memory() {
        assert_eq!(SeriesLimits::for_series(1), SeriesLimits { n_bins: 4096, n_columns: 512 });
        assert_eq!(SeriesLimits::for_series(128), SeriesLimits { n_bins: 2048, n_columns: 256 });
        assert_eq!(SeriesLimits::for_series(1_000_000), SeriesLimits { n_bins: 64, n_columns: 4 });
    }
}
