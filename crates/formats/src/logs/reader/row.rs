//! Rows of performance logs.
//!
//! Must not know: files. Start reading at [`RowForm::of`], then [`Row::parse`]. Source: reference, "Row".

use crate::results::error::ReadErrorKind;
use ferrio_stats::histogram::{N_BUCKETS, bucket_latency_ns};
use ferrio_units::DataDirection;

const MAX_DIRECTION: u64 = 2;

/// Which columns the rows of a log have: `time, value[, maximum], direction, size[, offset][, priority][, issue time]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowForm {
    n_columns: usize,
    has_maximum: bool,
}

impl RowForm {
    /// The form of these rows, the first ones of a log. Only the maximum moves the columns that count, and only six or seven columns
    /// can be with or without one: then the direction tells, which is 0, 1 or 2, and a maximum is at least the value.
    ///
    /// # Errors
    /// A row is no row, or the rows have different numbers of columns; with the number of the line, from 0.
    pub(super) fn of<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Result<Option<Self>, (usize, ReadErrorKind)> {
        let mut form: Option<Self> = None;
        let (mut may_be_without, mut may_be_with) = (true, true);
        for (index, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
            // The fifth column may be a priority, which is hexadecimal.
            let has_priority = line.split(|byte| *byte == b',').nth(4).is_some_and(is_hexadecimal);
            let n_decimal = if has_priority { 4 } else { 5 };
            let columns = line.split(|byte| *byte == b',').enumerate().map(|(column, text)| number(column, text));
            let columns: Vec<u64> = columns.take(n_decimal).collect::<Result<_, _>>().map_err(|kind| (index, kind))?;
            let n_columns = line.split(|byte| *byte == b',').count();
            if !(4..=8).contains(&n_columns) || form.is_some_and(|form| form.n_columns != n_columns) {
                return Err((index, ReadErrorKind::Columns(n_columns)));
            }
            let (value, third, fourth) = (columns[1], columns[2], columns[3]);
            let fifth = columns.get(4).copied().unwrap_or_default();
            may_be_without &= third <= MAX_DIRECTION && (fourth > MAX_DIRECTION || fifth <= MAX_DIRECTION);
            // With a maximum, the fifth column is the size.
            may_be_with &= !has_priority;
            let is_maximum = third >= value || (third == 0 && fifth > 0);
            may_be_with &= fourth <= MAX_DIRECTION && is_maximum;
            form = Some(Self { n_columns, has_maximum: false });
        }
        let has_maximum = |n_columns| match n_columns {
            4 | 5 => false,
            8 => true,
            _ => may_be_with && !may_be_without,
        };
        Ok(form.map(|form| Self { has_maximum: has_maximum(form.n_columns), ..form }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) time_ms: u64,
    /// The value, in the unit of the log.
    pub(super) value: u64,
    /// The highest value of the row's window (`log_window_value=both`); 0: unknown.
    pub(super) maximum: u64,
    pub(super) direction: DataDirection,
    /// Bytes of the I/O; 0: the row is the average of a window (`log_avg_msec`).
    pub(super) size_bytes: u64,
}

impl Row {
    pub(super) fn parse(line: &[u8], form: RowForm) -> Result<Self, ReadErrorKind> {
        let mut columns = line.split(|byte| *byte == b',').enumerate();
        let mut next = || columns.next().map_or(Err(ReadErrorKind::Columns(0)), |(index, text)| number(index, text));
        let (time_ms, value) = (next()?, next()?);
        let maximum = if form.has_maximum { next()? } else { 0 };
        let (direction_number, size_bytes) = (next()?, next()?);
        let n_read = if form.has_maximum { 5 } else { 4 };
        let n_columns = n_read + columns.count();
        if n_columns != form.n_columns {
            return Err(ReadErrorKind::Columns(n_columns));
        }
        Ok(Self { time_ms, value, maximum, direction: direction(direction_number)?, size_bytes })
    }
}

/// A row of a histogram log: `time, direction, size, count, count...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HistogramColumns {
    pub(super) time_ms: u64,
    pub(super) direction: DataDirection,
    /// Latencies, nanoseconds, with their counts that are not 0.
    pub(super) counts: Vec<(u64, u64)>,
}

impl HistogramColumns {
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
    let impossible = || ReadErrorKind::Impossible { name: "the direction".to_owned(), value: number.to_string() };
    usize::try_from(number).ok().and_then(|index| DataDirection::ALL.get(index).copied()).ok_or_else(impossible)
}

fn is_hexadecimal(text: &[u8]) -> bool {
    text.trim_ascii().starts_with(b"0x")
}

/// A column as a whole number.
fn number(index: usize, text: &[u8]) -> Result<u64, ReadErrorKind> {
    let text = text.trim_ascii();
    let mut value = Some(0_u64).filter(|_| !text.is_empty());
    for byte in text {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
        value = value.and_then(|value| value.checked_mul(10)?.checked_add(digit?));
    }
    value.ok_or_else(|| ReadErrorKind::Column {
        column: index + 1,
        text: String::from_utf8_lossy(text).chars().take(40).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time, value, maximum, direction and size.
    type Columns = (u64, u64, u64, usize, u64);

    fn rows(text: &str) -> Result<Vec<Columns>, String> {
        let lines = || text.lines().map(str::as_bytes);
        let form = RowForm::of(lines()).map_err(|(line, kind)| format!("{line}: {kind}"))?.ok_or("no row")?;
        let row = |line| {
            let row = Row::parse(line, form).map_err(|kind| kind.to_string())?;
            Ok((row.time_ms, row.value, row.maximum, row.direction.index(), row.size_bytes))
        };
        lines().map(row).collect()
    }

    /// The rows of the reference, and what each form means.
    #[test]
    fn rows_are_those_of_fio() {
        for (text, expected) in [
            // fio 3.0, without priorities.
            ("0, 8573, 1, 4096", (0, 8573, 0, 1, 4096)),
            ("0, 8573, 0, 4096, 0", (0, 8573, 0, 0, 4096)),
            // With an offset: beside a priority, and beside an issue time.
            ("0, 200478, 0, 4096, 61440, 0x2003", (0, 200_478, 0, 0, 4096)),
            ("0, 200478, 0, 4096, 61440, 0x2003, 44626", (0, 200_478, 0, 0, 4096)),
            // With a priority alone, as fio 3.41 writes it by log_prio=1.
            ("0, 8573, 0, 4096, 0x4003", (0, 8573, 0, 0, 4096)),
            ("0, 8573, 1, 4096, 0x4003, 44626", (0, 8573, 0, 1, 4096)),
            ("500, 17656, 1, 0, 0x0000", (500, 17_656, 0, 1, 0)),
            ("500, 17656, 17656, 0, 0, 0x4003", (500, 17_656, 17_656, 0, 0)),
            ("500, 17656, 18000, 1, 0, 0, 0x4003", (500, 17_656, 18_000, 1, 0)),
            // Windows, with and without their maximum.
            ("500, 17656, 1, 0, 0", (500, 17_656, 0, 1, 0)),
            ("500, 17656, 17656, 0, 0, 0", (500, 17_656, 17_656, 0, 0)),
            ("500, 17656, 18000, 1, 0, 0, 0", (500, 17_656, 18_000, 1, 0)),
            // Windows with an offset column.
            ("500, 17656, 0, 0, 0, 0", (500, 17_656, 0, 0, 0)),
            // log_window_value=both without windows: the maximum is there and 0.
            ("0, 8573, 0, 1, 4096, 0", (0, 8573, 0, 1, 4096)),
            ("0, 8573, 0, 1, 4096, 8192, 0, 17", (0, 8573, 0, 1, 4096)),
        ] {
            assert_eq!(rows(text), Ok(vec![expected]), "{text}");
        }
    }

    #[test]
    fn the_form_is_that_of_all_rows() {
        // The first row alone could be one with an offset of 0.
        let text = "500, 1, 1, 0, 0, 0\n1000, 900, 950, 0, 0, 0";
        assert_eq!(rows(text), Ok(vec![(500, 1, 1, 0, 0), (1000, 900, 950, 0, 0)]));
    }

    #[test]
    fn rows_that_cannot_be_are_errors() {
        for (text, reason) in [
            ("500, 3, 0", "0: it has 3 columns"),
            ("500, -3, 0, 4096, 0", "0: column 2 is \"-3\""),
            ("nan, 3, 0, 4096, 0", "0: column 1"),
            ("500, 3, 7, 4096, 0", "the direction is 7"),
            ("500, 3, 0, 4096, 0\n500, 3, 0, 4096", "1: it has 4 columns"),
            ("500, 99999999999999999999, 0, 4096, 0", "column 2"),
            ("500, , 0, 4096, 0", "column 2"),
            ("500, 3, 0x1, 4096, 0", "column 3"),
        ] {
            let error = rows(text).expect_err(text);
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn counts_of_a_histogram_row_have_the_latencies_of_their_buckets() {
        let row = HistogramColumns::parse(b"1000, 1, 4096, 0, 3, 0").expect("a row");
        assert_eq!((row.time_ms, row.direction, row.counts.len()), (1000, DataDirection::Write, 1));
        // All buckets: the second has the latency 1.
        let all = format!("1000, 0, 4096, 0, 7{}", ", 0".repeat(N_BUCKETS - 2));
        assert_eq!(HistogramColumns::parse(all.as_bytes()).expect("a row").counts, [(1, 7)]);
        assert!(HistogramColumns::parse(format!("{all}, 0").as_bytes()).is_err());
    }
}
