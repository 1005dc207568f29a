//! Rows of performance logs.
//!
//! Must not know: files. Start reading at [`Row::parse`].

use crate::error::ReadErrorKind;
use ferrio_stats::histogram::{N_BUCKETS, bucket_latency_ns};
use ferrio_units::DataDirection;

/// A row of values: `time, value[, max], direction, size[, offset], priority[, issue time]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    /// Milliseconds.
    pub(super) time_ms: u64,
    /// The value, in the unit of the log.
    pub(super) value: u64,
    /// The highest value of the row's interval (`log_window_value=both`).
    pub(super) max: Option<u64>,
    /// The direction.
    pub(super) direction: DataDirection,
}

impl Row {
    /// Parses a row. The number of columns alone does not tell whether there is one for the maximum: a direction is 0, 1 or 2.
    pub(super) fn parse(line: &[u8]) -> Result<Self, ReadErrorKind> {
        let n_columns = line.split(|byte| *byte == b',').count();
        if !(3..=9).contains(&n_columns) {
            return Err(ReadErrorKind::Columns(n_columns));
        }
        let mut columns = line.split(|byte| *byte == b',').enumerate();
        let mut next =
            || columns.next().map_or(Err(ReadErrorKind::Columns(n_columns)), |(index, text)| number(index, text));
        let (time_ms, value, third) = (next()?, next()?, next()?);
        Ok(Self { time_ms, value, max: None, direction: direction(third)? })
    }
}

/// A row of a histogram log: `time, direction, size, count, count...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HistogramColumns {
    /// Milliseconds.
    pub(super) time_ms: u64,
    /// The direction.
    pub(super) direction: DataDirection,
    /// Latencies, nanoseconds, with their counts that are not 0.
    pub(super) counts: Vec<(u64, u64)>,
}

impl HistogramColumns {
    /// Parses a row.
    pub(super) fn parse(line: &[u8]) -> Result<Self, ReadErrorKind> {
        let n_columns = line.split(|byte| *byte == b',').count();
        let n_bins = n_columns.saturating_sub(3);
        if n_bins == 0 || n_bins > N_BUCKETS {
            return Err(ReadErrorKind::Columns(n_columns));
        }
        let n_joined = N_BUCKETS.div_ceil(n_bins);
        let mut columns = line.split(|byte| *byte == b',').enumerate();
        let mut next =
            || columns.next().map_or(Err(ReadErrorKind::Columns(n_columns)), |(index, text)| number(index, text));
        let (time_ms, direction_number, _) = (next()?, next()?, next()?);
        let mut counts = Vec::new();
        for bin in 0..n_bins {
            let count = next()?;
            if count > 0 {
                counts.push((bucket_latency_ns((bin * n_joined + n_joined / 2).min(N_BUCKETS - 1)), count));
            }
        }
        Ok(Self { time_ms, direction: direction(direction_number)?, counts })
    }
}

fn direction(number: u64) -> Result<DataDirection, ReadErrorKind> {
    DataDirection::ALL
        .get(number as usize)
        .copied()
        .ok_or_else(|| ReadErrorKind::Impossible { name: "the direction".to_owned(), value: number.to_string() })
}

/// A column as a whole number.
fn number(index: usize, text: &[u8]) -> Result<u64, ReadErrorKind> {
    let text = text.trim_ascii();
    let parsed = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| ReadErrorKind::Column {
        column: index + 1,
        text: String::from_utf8_lossy(text).chars().take(40).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_fio() {
        let row = Row::parse(b"500, 17656, 1, 4096, 0").expect("a row");
        assert_eq!(row, Row { time_ms: 500, value: 17_656, max: None, direction: DataDirection::Write });
    }

    #[test]
    fn rows_that_cannot_be_are_errors() {
        for (line, reason) in [
            ("500", "1 columns"),
            ("500, -3, 0, 4096, 0", "column 2 is \"-3\""),
            ("nan, 3, 0, 4096, 0", "column 1"),
            ("500, 3, 7, 4096, 0", "the direction is 7"),
        ] {
            let error = Row::parse(line.as_bytes()).expect_err(line);
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
