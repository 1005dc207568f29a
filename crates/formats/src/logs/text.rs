//! Rows of logs as text: `time, value[, max], direction, bs[, offset], priority[, issue]`.
//!
//! Must not know: files. Start reading at [`RowWriter::row`].

use ferrio_stats::histogram::N_BUCKETS;
use ferrio_stats::{HistogramRow, LogColumns, LogRow};

/// Class of the real-time priority, and position of the class in the kernel's encoding.
const CLASS_REAL_TIME: u16 = 1;
const CLASS_SHIFT: u32 = 13;

/// Writes rows of one log. Most rows begin and end like the one before, so these parts are kept as text.
pub(super) struct RowWriter {
    columns: LogColumns,
    time_ms: u64,
    /// `time, `.
    front: Vec<u8>,
    /// The values that `back` was made for: direction, block size, priority.
    back_of: (u8, u64, u16),
    /// `, direction, bs, priority\n`.
    back: Vec<u8>,
}

impl RowWriter {
    pub(super) fn new(columns: LogColumns) -> Self {
        Self { columns, time_ms: u64::MAX, front: Vec::new(), back_of: (u8::MAX, 0, 0), back: Vec::new() }
    }

    #[inline]
    pub(super) fn row(&mut self, row: &LogRow, text: &mut Vec<u8>) {
        if row.time_ms != self.time_ms || self.front.is_empty() {
            self.time_ms = row.time_ms;
            self.front.clear();
            number(row.time_ms, &mut self.front);
            self.front.extend_from_slice(b", ");
        }
        text.extend_from_slice(&self.front);
        number(row.value, text);
        if self.columns.maximum {
            next(row.maximum, text);
        }
        if self.columns.offset || self.columns.issue_time {
            self.varying_end(row, text);
            return;
        }
        let back_of = (row.direction as u8, row.block_bytes, row.ioprio);
        if back_of != self.back_of {
            self.back_of = back_of;
            self.back.clear();
            next(back_of.0.into(), &mut self.back);
            next(row.block_bytes, &mut self.back);
            priority(row.ioprio, self.columns.full_priority, &mut self.back);
            self.back.push(b'\n');
        }
        text.extend_from_slice(&self.back);
    }

    /// The end of a row that differs in each row.
    fn varying_end(&self, row: &LogRow, text: &mut Vec<u8>) {
        next(row.direction as u64, text);
        next(row.block_bytes, text);
        if self.columns.offset {
            next(row.offset_bytes, text);
        }
        priority(row.ioprio, self.columns.full_priority, text);
        if self.columns.issue_time {
            next(row.issue_ns, text);
        }
        text.push(b'\n');
    }
}

/// `0x%04x`, or 1 for the real-time class and 0 for others.
fn priority(ioprio: u16, in_full: bool, text: &mut Vec<u8>) {
    if in_full {
        text.extend_from_slice(format!(", 0x{ioprio:04x}").as_bytes());
    } else {
        next((ioprio >> CLASS_SHIFT == CLASS_REAL_TIME).into(), text);
    }
}

fn next(value: u64, text: &mut Vec<u8>) {
    text.extend_from_slice(b", ");
    number(value, text);
}

#[inline]
fn number(value: u64, text: &mut Vec<u8>) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// `time, direction, bs, count, ...`: `2^coarseness` neighbouring buckets are summed.
pub(super) fn histogram(row: &HistogramRow, coarseness: u32, text: &mut Vec<u8>) {
    number(row.time_ms, text);
    next(row.direction as u64, text);
    next(row.block_bytes, text);
    let n_together = (1usize << coarseness.min(6)).min(N_BUCKETS);
    for buckets in row.counts.chunks_exact(n_together) {
        next(buckets.iter().fold(0, |sum: u64, count| sum.saturating_add(*count)), text);
    }
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::ALL_COLUMNS;
    use ferrio_units::DataDirection;

    const ROW: LogRow = LogRow {
        time_ms: 0,
        value: 200_478,
        maximum: 7,
        direction: DataDirection::Read,
        block_bytes: 4096,
        offset_bytes: 61_440,
        ioprio: 0x2003,
        issue_ns: 44_626,
    };

    fn lines(columns: LogColumns, rows: &[LogRow]) -> String {
        let (mut writer, mut text) = (RowWriter::new(columns), Vec::new());
        for row in rows {
            writer.row(row, &mut text);
        }
        String::from_utf8(text).expect("digits")
    }

    // Expected: the rows of the reference, section "Row".
    #[test]
    fn rows_have_the_columns_that_are_asked_for() {
        let plain = LogRow { value: 8573, ioprio: 0, ..ROW };
        assert_eq!(lines(LogColumns::default(), &[plain]), "0, 8573, 0, 4096, 0\n");
        let all = LogColumns { maximum: false, ..ALL_COLUMNS };
        assert_eq!(lines(all, &[ROW]), "0, 200478, 0, 4096, 61440, 0x2003, 44626\n");
        let window = LogRow::of_window(500, DataDirection::Read, 17_656, 17_656);
        let both = LogColumns { maximum: true, ..LogColumns::default() };
        assert_eq!(lines(both, &[window]), "500, 17656, 17656, 0, 0, 0\n");
        assert_eq!(lines(LogColumns::default(), &[ROW]), "0, 200478, 0, 4096, 1\n", "real time");
        let best_effort = LogRow { ioprio: 2 << 13, ..ROW };
        assert_eq!(
            lines(LogColumns { offset: true, ..LogColumns::default() }, &[best_effort]),
            "0, 200478, 0, 4096, 61440, 0\n"
        );
    }

    #[test]
    fn what_is_kept_from_the_row_before_is_never_stale() {
        let mut rows = vec![ROW];
        rows.push(LogRow { time_ms: 1, ..rows[0] });
        rows.push(LogRow { direction: DataDirection::Trim, ..rows[1] });
        rows.push(LogRow { block_bytes: u64::MAX, ..rows[2] });
        rows.push(LogRow { ioprio: 0, ..rows[3] });
        rows.push(rows[0]);
        let together = lines(LogColumns::default(), &rows);
        let apart: String = rows.iter().map(|row| lines(LogColumns::default(), &[*row])).collect();
        assert_eq!(together, apart);
        assert_eq!(together.lines().nth(3), Some(format!("1, 200478, 2, {}, 1", u64::MAX).as_str()));
    }

    #[test]
    fn buckets_are_summed_up() {
        let mut counts = Box::new([0; N_BUCKETS]);
        (counts[0], counts[15], counts[16], counts[N_BUCKETS - 1]) = (1, 2, 4, u64::MAX);
        let row = HistogramRow { time_ms: 1000, direction: DataDirection::Write, block_bytes: 4096, counts };
        for (coarseness, n_bins, first) in [(0, 1856, "1"), (4, 116, "3"), (6, 29, "7")] {
            let mut text = Vec::new();
            histogram(&row, coarseness, &mut text);
            let text = String::from_utf8(text).expect("digits");
            let fields: Vec<&str> = text.trim_end().split(", ").collect();
            assert_eq!(fields.len(), 3 + n_bins);
            assert_eq!(fields[..4], ["1000", "1", "4096", first]);
            assert_eq!(fields.last(), Some(&u64::MAX.to_string().as_str()));
        }
    }
}
