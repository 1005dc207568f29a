//! Units: which one an axis has, and the words of its values.
//!
//! Must not know: places. Start reading at [`words_of`]. Bandwidth is in powers of ten, as on the pages; a note below the picture says so.

use crate::chart::AxisUnit;
use ferrio_units::humanize::{duration_text, thousands, three_digits};

/// How the values of an axis are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AxisWords {
    unit: AxisUnit,
    /// One of the axis' units, in base units.
    pub(super) factor: f64,
    /// Its name; empty: the ticks have theirs.
    name: &'static str,
}

/// From this length on, times are hours and minutes, as on pages.
const LONG_SECONDS: f64 = 600.0;
const HOURS_AND_MINUTES: &str = "h:min";

/// The unit of a linear axis with this highest value.
pub(super) fn words_of(unit: AxisUnit, high: f64) -> AxisWords {
    let units: &[(f64, &'static str)] = match unit {
        AxisUnit::Seconds => &[(3600.0, "hours"), (60.0, "minutes"), (1.0, "s")],
        AxisUnit::BytesPerSecond => &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "bytes/s")],
        AxisUnit::Nanoseconds => &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")],
        AxisUnit::Percent => &[(1.0, "%")],
        AxisUnit::IosPerSecond | AxisUnit::Count => &[(1.0, "")],
    };
    // Three of a unit: an axis from 0 to 1.2 hours reads better in minutes.
    let fitting = units.iter().find(|(factor, _)| high >= 3.0 * factor).or(units.last());
    let (factor, name) = fitting.copied().unwrap_or((1.0, ""));
    let is_long = unit == AxisUnit::Seconds && high >= LONG_SECONDS;
    AxisWords { unit, factor, name: if is_long { HOURS_AND_MINUTES } else { name } }
}

impl AxisWords {
    pub(super) fn of_each_value(unit: AxisUnit) -> Self {
        Self { unit, factor: 1.0, name: "" }
    }

    /// What an axis measures, with its unit.
    pub(super) fn title(&self, label: &str) -> String {
        if self.name.is_empty() { label.to_owned() } else { format!("{label} ({})", self.name) }
    }

    pub(super) fn tick(&self, value: f64, step: f64) -> String {
        if self.name.is_empty() && matches!(self.unit, AxisUnit::Nanoseconds | AxisUnit::BytesPerSecond) {
            return short(self.unit, value);
        }
        if self.name == HOURS_AND_MINUTES {
            let seconds = value.round() as u64;
            let (minutes, rest) = (seconds / 60, seconds % 60);
            let of_minute = if step < 60.0 { format!(":{rest:02}") } else { String::new() };
            return format!("{}:{:02}{of_minute}", minutes / 60, minutes % 60);
        }
        let n_decimals = (-(step / self.factor).log10()).ceil().clamp(0.0, 9.0) as usize;
        plain(value / self.factor, n_decimals)
    }
}

fn plain(value: f64, n_decimals: usize) -> String {
    if n_decimals == 0 && (0.0..1e15).contains(&value) {
        return thousands(value.round() as u64);
    }
    if value.abs() >= 1e15 { format!("{value:.1e}") } else { format!("{value:.n_decimals$}") }
}

/// A round value with its unit.
fn short(unit: AxisUnit, value: f64) -> String {
    let units: &[(f64, &str)] = if unit == AxisUnit::Nanoseconds {
        &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")]
    } else {
        &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "bytes/s")]
    };
    let fitting = units.iter().find(|(factor, _)| value >= factor * (1.0 - 1e-9)).or(units.last());
    let (factor, name) = fitting.copied().unwrap_or((1.0, ""));
    let (value, n_decimals) = (value / factor, usize::from(value < factor * 0.99));
    format!("{} {name}", plain(value, n_decimals))
}

/// A value with its unit, three digits.
pub(super) fn value_text(unit: AxisUnit, value: f64) -> String {
    match unit {
        AxisUnit::Seconds => format!("{} s", three_digits(value)),
        AxisUnit::IosPerSecond | AxisUnit::Count => three_digits(value),
        AxisUnit::Nanoseconds => duration_text(value),
        AxisUnit::Percent => format!("{} %", three_digits(value)),
        AxisUnit::BytesPerSecond => {
            let units = [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")];
            let (factor, name) = units.into_iter().find(|(factor, _)| value >= *factor).unwrap_or((1.0, "bytes/s"));
            format!("{} {name}", three_digits(value / factor))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_units() {
        for (unit, value, expected) in [
            (AxisUnit::IosPerSecond, 5113.4, "5,113"),
            (AxisUnit::BytesPerSecond, 20_944_494.0, "20.9 MB/s"),
            (AxisUnit::BytesPerSecond, 12.0, "12.0 bytes/s"),
            (AxisUnit::Nanoseconds, 113_520.0, "114 us"),
            (AxisUnit::Percent, 12.34, "12.3 %"),
        ] {
            assert_eq!(value_text(unit, value), expected);
        }
    }

    #[test]
    fn long_times_are_hours_and_minutes() {
        let tick = |high: f64, value: f64| {
            let words = words_of(AxisUnit::Seconds, high);
            (words.title("time"), words.tick(value, words.factor))
        };
        assert_eq!(tick(599.0, 300.0), ("time (minutes)".to_owned(), "5".to_owned()));
        assert_eq!(tick(600.0, 300.0), ("time (h:min)".to_owned(), "0:05".to_owned()));
        assert_eq!(tick(36_000.0, 9_000.0), ("time (h:min)".to_owned(), "2:30".to_owned()));
    }

    #[test]
    fn short_values_are_whole() {
        for (value, expected) in [(1e3, "1 us"), (3e5, "300 us"), (2e9, "2 s"), (5e12, "5,000 s"), (0.5, "0.5 ns")] {
            assert_eq!(short(AxisUnit::Nanoseconds, value), expected);
        }
    }
}
