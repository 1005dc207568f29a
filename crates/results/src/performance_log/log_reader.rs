//! From the rows of one log to series.
//!
//! Must not know: files, names. Start reading at [`LogReader::add`].

use super::LogContent;
use super::counted::CountedIos;
use super::row::{HistogramColumns, Row, RowForm};
use crate::error::ReadErrorKind;
use crate::{LatencyHeat, LatencyKind, Quantity, SeriesLimits, TimeSeries};
use ferrio_units::{DataDirection, PerDirection};

/// Times in logs are milliseconds.
const NS_PER_MS: u64 = 1_000_000;
/// A window of a bandwidth log is in KiB per second.
const BYTES_PER_KIB: f64 = 1024.0;

/// The series of a log so far.
pub(super) struct LogReader {
    content: LogContent,
    limits: SeriesLimits,
    /// Times of the clock count from here, milliseconds.
    epoch_ms: u64,
    form: Option<RowForm>,
    series: PerDirection<Option<TimeSeries>>,
    /// I/Os of a log of rates that has a row for each.
    counted: PerDirection<Option<CountedIos>>,
}

impl LogReader {
    pub(super) fn new(content: LogContent, limits: SeriesLimits, epoch_ms: u64) -> Self {
        let (series, counted) = (PerDirection([None, None, None]), PerDirection([None, None, None]));
        Self { content, limits, epoch_ms, form: None, series, counted }
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

    /// Adds a row.
    pub(super) fn add(&mut self, line: &[u8]) -> Result<(), ReadErrorKind> {
        if line.is_empty() {
            return Ok(());
        }
        match (self.content, self.form) {
            (LogContent::Histograms, _) => self.add_histogram(&HistogramColumns::parse(line)?),
            (LogContent::Values(quantity), Some(form)) => self.add_row(quantity, &Row::parse(line, form)?),
            (LogContent::Values(_), None) => return Err(ReadErrorKind::Columns(1)),
        }
        Ok(())
    }

    fn add_row(&mut self, quantity: Quantity, row: &Row) {
        let time_ns = row.time_ms.saturating_sub(self.epoch_ms).saturating_mul(NS_PER_MS);
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
        let series = self.series_of(quantity, row.direction);
        let unit = if quantity == Quantity::Bandwidth { BYTES_PER_KIB } else { 1.0 };
        series.add(time_ns, row.value as f64 * unit, limits.n_bins);
        if row.maximum > row.value {
            series.raise(time_ns, row.maximum as f64 * unit);
        }
        // The means of windows are no distribution.
        if is_window {
            series.heat = None;
        } else if let Some(heat) = &mut series.heat {
            heat.add(time_ns, row.value, 1, limits.n_columns);
        }
    }

    fn add_histogram(&mut self, row: &HistogramColumns) {
        let (time_ns, limits) = (row.time_ms.saturating_sub(self.epoch_ms).saturating_mul(NS_PER_MS), self.limits);
        let series = self.series_of(Quantity::Latency(LatencyKind::Completion), row.direction);
        for (latency_ns, count) in &row.counts {
            series.add_many(time_ns, *latency_ns as f64, *count, limits.n_bins);
            if let Some(heat) = &mut series.heat {
                heat.add(time_ns, *latency_ns, *count, limits.n_columns);
            }
        }
    }

    /// The series of a direction; made at its first row.
    fn series_of(&mut self, quantity: Quantity, direction: DataDirection) -> &mut TimeSeries {
        self.series[direction].get_or_insert_with(|| {
            let mut series = TimeSeries::new(quantity, direction, NS_PER_MS);
            series.heat = matches!(quantity, Quantity::Latency(_)).then(|| LatencyHeat::new(NS_PER_MS));
            series
        })
    }

    /// The series of all directions.
    pub(super) fn into_series(self) -> Vec<TimeSeries> {
        let counted = self.counted.0.into_iter().flatten().map(CountedIos::into_rates);
        self.series.0.into_iter().flatten().chain(counted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(content: LogContent, text: &str) -> Vec<TimeSeries> {
        let mut log = LogReader::new(content, SeriesLimits::for_series(1), 0);
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
            // Each interval has the length 128 ms, the last one less: 2,999 ms are 23 of them and 55 ms.
            assert_eq!((rates.len(), rates[0].0), (24, 64), "{quantity:?}");
            assert!(rates.iter().all(|(_, rate)| (rate - expected).abs() < 1e-6), "{quantity:?} {rates:?}");
        }
    }

    #[test]
    fn windows_are_taken_as_they_are() {
        let all = series(LogContent::Values(Quantity::Bandwidth), "500, 100, 1, 0, 0\n1000, 200, 1, 0, 0\n");
        assert_eq!(values(&all[0]), [(500, 102_400.0), (1000, 204_800.0)]);
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
