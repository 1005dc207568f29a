//! A table of percentiles.
//!
//! Must not know: directions. Start reading at [`write()`].

use crate::text::put;
use ferrio_stats::{LatencyStat, ReportSettings, percentiles};

/// Width of the cells of a line together.
const LINE_WIDTH: usize = 73;
/// Width of a cell without its two numbers.
const CELL_FRAME_WIDTH: usize = 10;
const MIN_VALUE_WIDTH: usize = 5;

/// Appends the table of a latency; none without samples or without a distribution.
pub(super) fn write(out: &mut String, name: &str, stat: &LatencyStat, settings: &ReportSettings) {
    let Some(histogram) = stat.histogram.as_ref().filter(|_| stat.n_samples > 0) else { return };
    let list = percentiles(histogram, &settings.percentiles);
    let (Some(&(_, smallest_ns)), Some(&(_, largest_ns))) = (list.first(), list.last()) else { return };
    let (n_steps, unit) = unit_of(smallest_ns, largest_ns);
    // A double has no more significant digits, and a width must be bounded.
    let digits = (settings.percentile_digits as usize).min(17);
    let value_width = in_unit(largest_ns, n_steps).to_string().len().max(MIN_VALUE_WIDTH);
    let n_columns = (LINE_WIDTH / (digits + CELL_FRAME_WIDTH + value_width)).max(1);
    put!(out, "    {name} percentiles ({unit}):\n");
    for line in list.chunks(n_columns) {
        let is_last = std::ptr::eq(line.as_ptr_range().end, list.as_ptr_range().end);
        out.push_str("     |");
        for (column, (percentile, latency_ns)) in line.iter().enumerate() {
            let comma = if is_last && column + 1 == line.len() { "" } else { "," };
            let value = in_unit(*latency_ns, n_steps);
            put!(out, " {percentile:w$.digits$}th=[{value:value_width$}]{comma}", w = digits + 3);
        }
        out.push('\n');
    }
}

/// Number of times that values are divided by 1,000, and the name of that unit.
fn unit_of(smallest_ns: u64, largest_ns: u64) -> (u32, &'static str) {
    if smallest_ns > 2_000_000 && largest_ns > 99_999_999 {
        (2, "msec")
    } else if smallest_ns > 2_000 && largest_ns > 99_999 {
        (1, "usec")
    } else {
        (0, "nsec")
    }
}

/// Divides step by step, rounding up each time.
fn in_unit(latency_ns: u64, n_steps: u32) -> u64 {
    (0..n_steps).fold(latency_ns, |value, _| value.div_ceil(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: &[u64], wanted: &[f64], percentile_digits: u32) -> String {
        let mut stat = LatencyStat::new(true);
        for value in values {
            stat.record(*value);
        }
        let settings = ReportSettings { percentiles: wanted.to_vec(), percentile_digits, ..ReportSettings::default() };
        let mut out = String::new();
        write(&mut out, "clat", &stat, &settings);
        out
    }

    /// Expected: fio 3.41 with `--percentile_list=5:99.999:0.5:50` prints three digits, and one line for all four.
    #[test]
    fn digits_follow_the_list() {
        let text = "    clat percentiles (nsec):\n     |  0.500th=[    0],  5.000th=[   10], 50.000th=[   10], 99.999th=[ 9024]\n";
        let mut values = vec![10; 98];
        values.extend([0, 9_000]);
        assert_eq!(table(&values, &[5.0, 99.999, 0.5, 50.0], 3), text);
    }

    #[test]
    fn no_digits() {
        assert_eq!(table(&[10], &[50.0], 0), "    clat percentiles (nsec):\n     |  50th=[   10]\n");
    }

    #[test]
    fn values_round_up_in_each_step() {
        assert_eq!((in_unit(1_000_000, 1), in_unit(1_000_001, 1), in_unit(1_000_001, 2)), (1_000, 1_001, 2));
        assert_eq!(unit_of(2_000_001, 100_000_000).1, "msec");
        assert_eq!(unit_of(2_000_000, 100_000_000).1, "usec");
        assert_eq!(unit_of(2_000, 100_000).1, "nsec");
    }

    #[test]
    fn wide_values_leave_fewer_columns() {
        let text = table(&[1_234_567_890, 1], &[1.0, 50.0, 90.0, 99.0], 2);
        assert!(text.lines().skip(1).all(|line| line.len() <= 80), "{text}");
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn nothing_without_samples_or_list() {
        assert_eq!(table(&[], &[50.0], 2), "");
        assert_eq!(table(&[1], &[], 2), "");
    }
}
