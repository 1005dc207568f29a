//! The bound of a change: an operator and a value with its unit.
//!
//! Must not know: conditions. Start reading at [`Bound::parse`].

use anyhow::anyhow;
use ferrio_insight::compare::ComparedMetric;

/// Compares a change with a bound.
type Operator = fn(&f64, &f64) -> bool;

/// Operators, the longer ones first.
const OPERATORS: [(&str, Operator); 4] = [("<=", f64::le), (">=", f64::ge), ("<", f64::lt), (">", f64::gt)];

/// Units: what they measure and their factor.
const UNITS: [(&str, Measure, f64); 12] = [
    ("%", Measure::Percent, 1.0),
    ("ns", Measure::Time, 1.0),
    ("us", Measure::Time, 1e3),
    ("ms", Measure::Time, 1e6),
    ("s", Measure::Time, 1e9),
    ("iops", Measure::Ios, 1.0),
    ("kb/s", Measure::Bytes, 1e3),
    ("mb/s", Measure::Bytes, 1e6),
    ("gb/s", Measure::Bytes, 1e9),
    ("kib/s", Measure::Bytes, 1024.0),
    ("mib/s", Measure::Bytes, 1_048_576.0),
    ("gib/s", Measure::Bytes, 1_073_741_824.0),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Percent,
    Time,
    Ios,
    Bytes,
}

/// The bound of a change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    operator: &'static str,
    value: f64,
    measure: Measure,
}

impl Bound {
    /// Parses an operator, a number and a unit.
    ///
    /// # Errors
    /// The text is something else.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let operator = OPERATORS.iter().map(|(operator, _)| *operator).find(|operator| text.starts_with(operator));
        let operator = operator.ok_or_else(|| anyhow!("it has no operator"))?;
        let text = text[operator.len()..].trim().to_ascii_lowercase();
        let at = text.find(|letter: char| letter.is_ascii_alphabetic() || letter == '%').unwrap_or(text.len());
        let (number, unit) = (text[..at].trim(), text[at..].trim());
        let value = number.parse::<f64>().ok().filter(|value| value.is_finite());
        let value = value.ok_or_else(|| anyhow!("{number:?} is no number"))?;
        let found = UNITS.iter().find(|(name, _, _)| *name == unit);
        let (_, measure, factor) = found.ok_or_else(|| {
            anyhow!("a change has a unit: %, iops, ns, us, ms, s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s")
        })?;
        Ok(Self { operator, value: value * factor, measure: *measure })
    }

    /// True if it is in percent.
    pub(super) fn is_percentage(&self) -> bool {
        self.measure == Measure::Percent
    }

    /// True if a change of this figure can have its unit.
    pub(super) fn fits(&self, metric: ComparedMetric) -> bool {
        match self.measure {
            Measure::Percent => true,
            Measure::Time => metric.is_latency(),
            Measure::Ios => metric == ComparedMetric::Iops,
            Measure::Bytes => metric == ComparedMetric::Bandwidth,
        }
    }

    /// True if a change in percent of the base is beyond it.
    pub(super) fn is_passed(&self, percent: f64, base: Option<f64>) -> bool {
        let value = if self.is_percentage() { percent } else { base.unwrap_or_default() * percent / 100.0 };
        let operator = OPERATORS.iter().find(|(operator, _)| *operator == self.operator);
        operator.is_some_and(|(_, compare)| compare(&value, &self.value))
    }
}
