//! Figures of a job over time.
//!
//! A series knows what its times count from ([`TimeBase`]), and each interval knows its true start and end ([`TimeIntervals`]). One
//! function makes one series of several: [`together()`].
//! Must not know: files, formats. Start reading at [`TimeSeries`].

mod base;
mod interval;
mod together;

pub use base::TimeBase;
pub use interval::{JoinFigures, TimeInterval, TimeIntervals};
pub use together::{NotTogether, average, together};

use crate::results::{LatencyHeat, LatencyKind};
use ferrio_stats::IoKind;
use ferrio_units::DataDirection;

const NS_PER_SEC: f64 = 1e9;

/// What a series measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// A latency, nanoseconds.
    Latency(LatencyKind),
    /// Syncs per second; their direction is that of the data that they make durable.
    Syncs,
    /// The latency of syncs, nanoseconds.
    SyncLatency,
}

impl Quantity {
    /// True for rates, which add up; latencies do not.
    pub fn is_rate(self) -> bool {
        !matches!(self, Self::Latency(_) | Self::SyncLatency)
    }
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
    /// Number of values, at least 1.
    pub n: u64,
    /// What the mean counts by: seconds of a rate, number of values of a latency.
    pub weight: f64,
    /// Sum of the values, each times its weight.
    pub sum: f64,
    pub min: f64,
    pub max: f64,
}

impl TimeBin {
    /// A single value.
    pub fn of(value: f64) -> Self {
        Self::of_many(value, 1)
    }

    pub fn of_many(value: f64, n: u64) -> Self {
        Self { n, weight: n as f64, sum: value * n as f64, min: value, max: value }
    }

    /// A rate over a time, nanoseconds.
    pub fn of_rate(per_second: f64, length_ns: u64) -> Self {
        let seconds = length_ns.max(1) as f64 / NS_PER_SEC;
        Self { n: 1, weight: seconds, sum: per_second * seconds, min: per_second, max: per_second }
    }

    /// The mean of the values; `None`: there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0 && self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

impl JoinFigures for TimeBin {
    fn join(&mut self, other: &Self) {
        match (self.n, other.n) {
            (_, 0) => {}
            (0, _) => *self = *other,
            _ => {
                self.n = self.n.saturating_add(other.n);
                self.weight += other.weight;
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
    pub quantity: Quantity,
    pub direction: DataDirection,
    pub base: TimeBase,
    /// The file that it was read from, where a job has several; empty: the result itself.
    pub source: String,
    /// False: the values are the maxima of intervals (`log_window_value=max`), whose means are unknown.
    pub has_means: bool,
    /// The highest value of each interval is known beside its mean (`log_window_value=both`).
    pub has_maxima: bool,
    pub intervals: TimeIntervals<TimeBin>,
    /// Start and end of a time at the end of its job whose rate is unknown, nanoseconds: a last window that was not logged.
    pub unlogged_ns: Option<(u64, u64)>,
    /// Distributions of a latency over time.
    pub heat: Option<LatencyHeat>,
}

impl TimeSeries {
    /// A series without values, in which a moment becomes an interval of this length.
    pub fn new(quantity: Quantity, direction: DataDirection, cell_ns: u64) -> Self {
        Self {
            quantity,
            direction,
            base: TimeBase::Unknown,
            source: String::new(),
            has_means: true,
            has_maxima: false,
            intervals: TimeIntervals::new(cell_ns),
            unlogged_ns: None,
            heat: None,
        }
    }

    pub fn kind(&self) -> IoKind {
        match self.quantity {
            Quantity::Syncs | Quantity::SyncLatency => IoKind::Sync,
            _ => self.direction.into(),
        }
    }

    /// Adds a value of a moment, and keeps at most `most` intervals (at least 2).
    pub fn add(&mut self, time_ns: u64, value: f64, most: usize) {
        self.intervals.at(time_ns, most).join(&TimeBin::of(value));
    }

    /// Adds a rate that was measured from a start to an end, and keeps at most `most` intervals (at least 2).
    pub fn add_rate(&mut self, start_ns: u64, end_ns: u64, per_second: f64, most: usize) {
        let length_ns = end_ns.saturating_sub(start_ns);
        self.intervals.add(start_ns, end_ns, &TimeBin::of_rate(per_second, length_ns), most);
    }

    /// Moves all times, and counts them from another base.
    pub fn place(&mut self, base: TimeBase, by_ns: i64) {
        self.base = base;
        self.intervals.shift(by_ns);
        if let Some(heat) = &mut self.heat {
            heat.columns.shift(by_ns);
        }
    }

    /// Leaves only the intervals within a time, nanoseconds.
    pub fn keep_within(&mut self, start_ns: u64, end_ns: u64) {
        self.intervals.keep_within(start_ns, end_ns);
        if let Some(heat) = &mut self.heat {
            heat.columns.keep_within(start_ns, end_ns);
        }
    }

    /// Ends the last interval of a rate at a time within it, such as the end of the job. What it counted lies in the shorter time.
    pub fn end_rate_at(&mut self, time_ns: u64) {
        let before = self.intervals.all().last().map(TimeInterval::length_ns);
        self.intervals.end_at(time_ns);
        let after = self.intervals.all().last().map(TimeInterval::length_ns);
        let (Some(before), Some(after)) = (before, after) else { return };
        let factor = before as f64 / after as f64;
        if let Some(bin) = self.intervals.all_mut().next_back().filter(|_| before > after) {
            bin.weight /= factor;
            bin.min *= factor;
            bin.max *= factor;
        }
    }

    /// Its job went on until this time. What is missing there of a usual interval was not logged; a longer time was a pause.
    pub fn goes_on_until(&mut self, time_ns: u64) {
        let Some((_, end_ns)) = self.intervals.reach_ns() else { return };
        let missing_ns = time_ns.saturating_sub(end_ns);
        let usual_ns = self.intervals.usual_length_ns();
        // Reports have whole milliseconds: less is no part of a window.
        let is_part = (usual_ns / 10..=usual_ns).contains(&missing_ns) && missing_ns > 0;
        self.unlogged_ns = is_part.then_some((end_ns, time_ns));
    }

    /// The middle of each interval, nanoseconds, and its figures.
    pub fn filled(&self) -> impl Iterator<Item = (u64, &TimeBin)> {
        let filled = self.intervals.all().iter().filter(|interval| interval.figures.n > 0);
        filled.map(|interval| (interval.middle_ns(), &interval.figures))
    }

    #[must_use]
    pub fn shortened(&self, most: usize) -> Self {
        let mut series = self.clone();
        series.intervals.shorten(most);
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(cell_ns: u64) -> TimeSeries {
        TimeSeries::new(Quantity::Iops, DataDirection::Read, cell_ns)
    }

    #[test]
    fn extremes_and_sums_survive_any_shortening() {
        let mut series = series(1);
        for time_ns in 0..100_000_u64 {
            let value = if time_ns == 77_777 { 1e9 } else { (time_ns % 10) as f64 };
            series.add(time_ns, value, 100);
        }
        assert!(series.intervals.len() <= 100 && series.intervals.len() >= 50, "{}", series.intervals.len());
        let all = series.intervals.whole().expect("values");
        assert_eq!((all.n, all.min, all.max), (100_000, 0.0, 1e9));
        // 0 to 9 ten thousand times; one 7 is 1e9 instead.
        assert!((all.sum - (450_000.0 - 7.0 + 1e9)).abs() < 1e-6, "{}", all.sum);
    }

    /// 100 I/Os in 100 ms, and 10 in 10 ms: the mean is 1,000 a second, whatever the lengths.
    #[test]
    fn rates_count_by_their_time() {
        let mut series = series(1);
        series.add_rate(0, 100_000_000, 1000.0, 100);
        series.add_rate(100_000_000, 400_000_000, 2000.0, 100);
        let mean = series.intervals.whole().and_then(|all| all.mean());
        assert_eq!(mean, Some(1750.0));
        // A window that was told up to 400 ms, of a job that ended after 250: twice the rate in half the time.
        series.end_rate_at(250_000_000);
        let last = series.intervals.all()[1];
        assert_eq!((last.end_ns, last.figures.mean(), last.figures.max), (250_000_000, Some(4000.0), 4000.0));
    }

    #[test]
    fn many_series_share_the_memory() {
        assert_eq!(SeriesLimits::for_series(1), SeriesLimits { n_bins: 4096, n_columns: 512 });
        assert_eq!(SeriesLimits::for_series(128), SeriesLimits { n_bins: 2048, n_columns: 256 });
        assert_eq!(SeriesLimits::for_series(1_000_000), SeriesLimits { n_bins: 64, n_columns: 4 });
    }
}
