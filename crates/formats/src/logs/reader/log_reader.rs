//! From the rows of one log to series.
//!
//! Must not know: files, names. Start reading at [`LogReader::add`].

use super::LogContent;
use super::counted::CountedIos;
use super::row::{HistogramColumns, Row, RowForm};
use super::windows::WindowRows;
use crate::results::error::ReadErrorKind;
use crate::results::{
    JoinFigures, LatencyCounts, LatencyHeat, LatencyKind, Quantity, SeriesLimits, TimeBase, TimeBin, TimeSeries,
};
use ferrio_stats::histogram::full_bucket_index;
use ferrio_units::{DataDirection, PerDirection};

/// Times in logs are milliseconds.
const NS_PER_MS: u64 = 1_000_000;
/// A window of a bandwidth log is in KiB per second.
const BYTES_PER_KIB: f64 = 1024.0;
/// Times from 1973 on are those of the clock: no run takes so long.
const LEAST_EPOCH_MS: u64 = 100_000_000_000;
/// Intervals of single I/Os have at least so many of them, on average.
const IOS_PER_INTERVAL: u64 = 8;
/// A log with fewer intervals keeps them.
const FEWEST_INTERVALS: usize = 20;

/// A row of a window: its value and its maximum.
type WindowValue = (f64, f64);

/// The series of a log so far.
pub(super) struct LogReader {
    content: LogContent,
    limits: SeriesLimits,
    form: Option<RowForm>,
    series: PerDirection<Option<TimeSeries>>,
    /// I/Os of a log of rates that has a row for each.
    counted: PerDirection<Option<CountedIos>>,
    windows: PerDirection<WindowRows<WindowValue>>,
    histograms: PerDirection<WindowRows<HistogramColumns>>,
    /// Time of the first row, milliseconds.
    first_ms: Option<u64>,
    has_windows: bool,
}

impl LogReader {
    pub(super) fn new(content: LogContent, limits: SeriesLimits) -> Self {
        let (series, counted) = (PerDirection([None, None, None]), PerDirection([None, None, None]));
        let (windows, histograms) = (PerDirection::default(), PerDirection::default());
        Self { content, limits, form: None, series, counted, windows, histograms, first_ms: None, has_windows: false }
    }

    /// Finds the form of the rows in the start of the log; the last line may be cut.
    pub(super) fn look_at(&mut self, start: &[u8]) -> Result<(), (usize, ReadErrorKind)> {
        if self.content == LogContent::Histograms {
            return Ok(());
        }
        let end = start.iter().rposition(|byte| *byte == b'\n').map_or(start.len(), |end| end + 1);
        let lines = start[..end].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        self.form = RowForm::of(lines)?;
        Ok(())
    }

    pub(super) fn add(&mut self, line: &[u8]) -> Result<(), ReadErrorKind> {
        if line.is_empty() {
            return Ok(());
        }
        match (self.content, self.form) {
            (LogContent::Histograms, _) => self.add_histogram(HistogramColumns::parse(line)?),
            (LogContent::Values(quantity), Some(form)) => self.add_row(quantity, &Row::parse(line, form)?),
            (LogContent::Values(_), None) => return Err(ReadErrorKind::Columns(1)),
        }
        Ok(())
    }

    fn add_row(&mut self, quantity: Quantity, row: &Row) {
        self.first_ms.get_or_insert(row.time_ms);
        let time_ns = row.time_ms.saturating_mul(NS_PER_MS);
        let (is_window, limits) = (row.size_bytes == 0, self.limits);
        let amount = match quantity {
            // The value of a row for a single I/O is no rate: the I/Os are counted.
            Quantity::Iops if !is_window => Some(1.0),
            Quantity::Bandwidth if !is_window => Some(row.size_bytes as f64),
            _ => None,
        };
        if let Some(amount) = amount {
            let counted = self.counted[row.direction].get_or_insert_with(|| CountedIos::new(quantity, row.direction));
            counted.add(time_ns, amount, limits.n_bins);
            return;
        }
        let series = self.series[row.direction].get_or_insert_with(|| new_series(quantity, row.direction));
        if !is_window {
            series.add(time_ns, row.value as f64, limits.n_bins);
            if let Some(heat) = &mut series.heat {
                heat.add(time_ns, row.value, 1, limits.n_columns);
            }
            return;
        }
        self.has_windows = true;
        // The means of windows are no distribution.
        series.heat = None;
        series.has_maxima |= row.maximum > row.value;
        let unit = if quantity == Quantity::Bandwidth { BYTES_PER_KIB } else { 1.0 };
        let value = (row.value as f64 * unit, row.value.max(row.maximum) as f64 * unit);
        let mut take = |start_ns, end_ns, value| add_window(series, limits, (start_ns, end_ns), value);
        self.windows[row.direction].add(time_ns, value, &mut take);
    }

    fn add_histogram(&mut self, row: HistogramColumns) {
        self.first_ms.get_or_insert(row.time_ms);
        let (direction, limits) = (row.direction, self.limits);
        let quantity = Quantity::Latency(LatencyKind::Completion);
        let series = self.series[direction].get_or_insert_with(|| new_series(quantity, direction));
        let mut take = |start_ns, end_ns, row: HistogramColumns| add_counts(series, limits, (start_ns, end_ns), &row);
        self.histograms[direction].add(row.time_ms.saturating_mul(NS_PER_MS), row, &mut take);
    }

    /// True if rows were those of windows.
    pub(super) fn has_windows(&self) -> bool {
        self.has_windows
    }

    pub(super) fn into_series(mut self) -> Vec<TimeSeries> {
        let limits = self.limits;
        for direction in DataDirection::ALL {
            if let Some(series) = &mut self.series[direction] {
                let mut take = |start_ns, end_ns, value| add_window(series, limits, (start_ns, end_ns), value);
                self.windows[direction].finish(&mut take);
                let mut take =
                    |start_ns, end_ns, row: HistogramColumns| add_counts(series, limits, (start_ns, end_ns), &row);
                self.histograms[direction].finish(&mut take);
                settle(series);
            }
        }
        let counted = self.counted.0.into_iter().flatten().map(CountedIos::into_rates);
        let mut all: Vec<TimeSeries> = self.series.0.into_iter().flatten().chain(counted).collect();
        let has_clock = self.first_ms.is_some_and(|first_ms| first_ms >= LEAST_EPOCH_MS);
        for series in &mut all {
            series.base = if has_clock { TimeBase::Wall } else { TimeBase::Unknown };
        }
        all
    }
}

fn new_series(quantity: Quantity, direction: DataDirection) -> TimeSeries {
    let mut series = TimeSeries::new(quantity, direction, NS_PER_MS);
    series.heat = matches!(quantity, Quantity::Latency(_)).then(|| LatencyHeat::new(NS_PER_MS));
    series
}

/// Adds the value of a window, of which start and end are nanoseconds.
fn add_window(series: &mut TimeSeries, limits: SeriesLimits, (start_ns, end_ns): (u64, u64), value: WindowValue) {
    let (mean, highest) = value;
    let bin = match series.quantity {
        Quantity::Latency(_) => TimeBin::of(mean),
        _ => TimeBin::of_rate(mean, end_ns.saturating_sub(start_ns)),
    };
    series.intervals.add(start_ns, end_ns, &TimeBin { max: highest, ..bin }, limits.n_bins);
}

/// Adds a row of a histogram log to all of its window.
fn add_counts(series: &mut TimeSeries, limits: SeriesLimits, (start_ns, end_ns): (u64, u64), row: &HistogramColumns) {
    let (mut counts, mut bin) = (LatencyCounts::default(), TimeBin::default());
    for (latency_ns, count) in &row.counts {
        counts.add(full_bucket_index(*latency_ns) as u16, *count);
        bin.join(&TimeBin::of_many(*latency_ns as f64, *count));
    }
    if bin.n > 0 {
        series.intervals.add(start_ns, end_ns, &bin, limits.n_bins);
        if let Some(heat) = &mut series.heat {
            heat.columns.add(start_ns, end_ns, &counts, limits.n_columns);
        }
    }
}

/// Makes intervals of single I/Os so long that a usual one has several: between two I/Os is no gap.
fn settle(series: &mut TimeSeries) {
    if series.quantity.is_rate() {
        return series.intervals.join_short_end();
    }
    let is_of_ios = series.heat.is_some();
    while is_of_ios && series.intervals.len() > FEWEST_INTERVALS {
        let n: u64 = series.intervals.all().iter().map(|interval| interval.figures.n).sum();
        if n >= IOS_PER_INTERVAL * series.intervals.len() as u64 {
            break;
        }
        series.intervals.double();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(content: LogContent, text: &str) -> Vec<TimeSeries> {
        let mut log = LogReader::new(content, SeriesLimits::for_series(1));
        log.look_at(text.as_bytes()).expect("rows");
        text.lines().for_each(|line| log.add(line.as_bytes()).expect("a row"));
        log.into_series()
    }

    fn values(series: &TimeSeries) -> Vec<(u64, f64)> {
        series.filled().map(|(time_ns, bin)| (time_ns / NS_PER_MS, bin.mean().unwrap_or_default())).collect()
    }

    /// One I/O of 4 KiB each millisecond for 3 s, with the values that fio writes for single I/Os.
    #[test]
    fn single_ios_are_counted() {
        for (quantity, value, expected) in [(Quantity::Iops, 1, 1000.0), (Quantity::Bandwidth, 87_654, 4_096_000.0)] {
            let rows: Vec<String> = (0..3000).map(|ms| format!("{ms}, {value}, 0, 4096, 0")).collect();
            let all = series(LogContent::Values(quantity), &rows.join("\n"));
            let rates = values(&all[0]);
            // Each interval has the length 128 ms, the last one less: 3,000 ms are 23 of them and 56 ms.
            assert_eq!((rates.len(), rates[0].0), (24, 64), "{quantity:?}");
            assert!(rates.iter().all(|(_, rate)| (rate - expected).abs() < 1e-6), "{quantity:?} {rates:?}");
        }
    }

    #[test]
    fn windows_are_taken_as_they_are() {
        let all = series(LogContent::Values(Quantity::Bandwidth), "500, 100, 1, 0, 0\n1000, 200, 1, 0, 0\n");
        assert_eq!(values(&all[0]), [(250, 102_400.0), (750, 204_800.0)]);
        assert_eq!(all[0].direction, DataDirection::Write);
    }

    #[test]
    fn only_latencies_of_single_ios_have_a_distribution() {
        let clat = LogContent::Values(Quantity::Latency(LatencyKind::Completion));
        let of_ios = series(clat, "1, 5000, 0, 4096, 0\n2, 6000, 0, 4096, 0\n");
        assert!(of_ios[0].heat.is_some());
        let of_windows = series(clat, "500, 5000, 9000, 0, 0, 0\n1000, 6000, 6500, 0, 0, 0\n");
        assert!(of_windows[0].heat.is_none());
        let highest: Vec<f64> = of_windows[0].filled().map(|(_, bin)| bin.max).collect();
        assert_eq!(highest, [9000.0, 6500.0]);
    }
}
