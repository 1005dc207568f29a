//! What figures are measured in: values as text, and texts as values.
//!
//! Must not know: tables. Start reading at [`MetricUnit`].

use ferrio_units::humanize::{duration_text, thousands, three_digits};

/// What a figure is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricUnit {
    IosPerSecond,
    /// Bytes per second, shown in millions.
    BytesPerSecond,
    Nanoseconds,
}

/// The units of values that users write, with their factors.
const WRITTEN: [(&str, MetricUnit, f64); 11] = [
    ("iops", MetricUnit::IosPerSecond, 1.0),
    ("kb/s", MetricUnit::BytesPerSecond, 1e3),
    ("mb/s", MetricUnit::BytesPerSecond, 1e6),
    ("gb/s", MetricUnit::BytesPerSecond, 1e9),
    ("kib/s", MetricUnit::BytesPerSecond, 1024.0),
    ("mib/s", MetricUnit::BytesPerSecond, 1_048_576.0),
    ("gib/s", MetricUnit::BytesPerSecond, 1_073_741_824.0),
    ("ns", MetricUnit::Nanoseconds, 1.0),
    ("us", MetricUnit::Nanoseconds, 1e3),
    ("ms", MetricUnit::Nanoseconds, 1e6),
    ("s", MetricUnit::Nanoseconds, 1e9),
];

/// A text is no value of a figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricValueFault {
    #[error("it has no unit (iops, ns, us, ms, s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s)")]
    Unit,
    /// Before the unit is something else.
    #[error("{0:?} is no number")]
    Number(String),
}

impl MetricUnit {
    /// The value of a text such as `200us` or `-5 MB/s`, in the unit of the figures that it can be a value of.
    pub fn parse(text: &str) -> Result<(Self, f64), MetricValueFault> {
        let text = text.trim().to_ascii_lowercase();
        let number = |unit: &str| text.strip_suffix(unit).map(str::trim_end);
        // The longest name that fits, so that ms is no s.
        let fitting = WRITTEN.into_iter().filter_map(|(name, unit, factor)| Some((number(name)?, unit, factor)));
        let (number, unit, factor) = fitting.min_by_key(|(number, ..)| number.len()).ok_or(MetricValueFault::Unit)?;
        let value = number.parse::<f64>().ok().filter(|value| value.is_finite());
        let value = value.ok_or_else(|| MetricValueFault::Number(number.to_owned()))?;
        Ok((unit, value * factor))
    }

    /// A value below the heading of its figure.
    pub fn cell(self, value: f64) -> String {
        match self {
            // Fractions matter where a disk does a handful a second.
            Self::IosPerSecond if value >= 9.995 => thousands(value.round() as u64),
            Self::IosPerSecond | Self::BytesPerSecond | Self::Nanoseconds => self.digits(value),
        }
    }

    /// A value below the heading of its figure, with three digits at least.
    pub fn digits(self, value: f64) -> String {
        match self {
            Self::IosPerSecond => three_digits(value),
            Self::BytesPerSecond => three_digits(value / 1e6),
            Self::Nanoseconds => duration_text(value),
        }
    }

    /// A value with its unit; I/Os per second stand alone.
    pub fn text(self, value: f64) -> String {
        let digits = self.digits(value);
        if self == Self::BytesPerSecond { digits + " MB/s" } else { digits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_a_number_and_a_unit() {
        for (text, unit, value) in [
            ("-1000 iops", MetricUnit::IosPerSecond, -1e3),
            ("2MB/s", MetricUnit::BytesPerSecond, 2e6),
            (" 1.5 GiB/s ", MetricUnit::BytesPerSecond, 1.5 * 1_073_741_824.0),
            ("5ns", MetricUnit::Nanoseconds, 5.0),
            ("10 MS", MetricUnit::Nanoseconds, 1e7),
            ("2s", MetricUnit::Nanoseconds, 2e9),
        ] {
            assert_eq!(MetricUnit::parse(text), Ok((unit, value)), "{text}");
        }
        assert_eq!(MetricUnit::parse("5"), Err(MetricValueFault::Unit));
        for (text, number) in [("nan ms", "nan"), ("us", ""), ("1,5 s", "1,5")] {
            assert_eq!(MetricUnit::parse(text), Err(MetricValueFault::Number(number.to_owned())), "{text}");
        }
    }

    #[test]
    fn slow_disks_keep_their_digits() {
        let all = [0.5, 9.99, 56.3, 1_176.8];
        assert_eq!(all.map(|value| MetricUnit::IosPerSecond.cell(value)), ["0.50", "9.99", "56", "1,177"]);
        assert_eq!(all.map(|value| MetricUnit::IosPerSecond.text(value)), ["0.50", "9.99", "56.3", "1,177"]);
        assert_eq!(all.map(|value| MetricUnit::BytesPerSecond.cell(value * 1e6)), ["0.50", "9.99", "56.3", "1,177"]);
        assert_eq!(MetricUnit::BytesPerSecond.text(2.5e9), "2,500 MB/s");
        assert_eq!(MetricUnit::Nanoseconds.cell(2e6), "2.00 ms");
    }
}
