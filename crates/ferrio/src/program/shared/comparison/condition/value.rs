//! The bound of a change: an operator and a value with its unit.
//!
//! Must not know: conditions. Start reading at [`Bound::parse`].

use anyhow::anyhow;
use ferrio_stats::{Metric, MetricUnit, MetricValueFault};

/// Compares a change with a bound.
type Operator = fn(&f64, &f64) -> bool;

/// Operators, the longer ones first.
const OPERATORS: [(&str, Operator); 4] = [("<=", f64::le), (">=", f64::ge), ("<", f64::lt), (">", f64::gt)];

/// A change in percent has this unit.
const PERCENT: &str = "%";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    operator: &'static str,
    value: f64,
    /// `None`: it is in percent.
    unit: Option<MetricUnit>,
}

impl Bound {
    /// Parses an operator, a number and a unit.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let operator = OPERATORS.iter().map(|(operator, _)| *operator).find(|operator| text.starts_with(operator));
        let operator = operator.ok_or_else(|| anyhow!("it has no operator"))?;
        let text = text[operator.len()..].trim();
        let (unit, value) = match text.strip_suffix(PERCENT) {
            Some(number) => {
                let value = number.trim().parse::<f64>().ok().filter(|value| value.is_finite());
                (None, value.ok_or_else(|| MetricValueFault::Number(number.trim().to_owned()))?)
            }
            None => match MetricUnit::parse(text) {
                Ok((unit, value)) => (Some(unit), value),
                Err(MetricValueFault::Unit) => {
                    let units = "a change has a unit: %, iops, ns, us, ms, s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s";
                    return Err(anyhow!(units));
                }
                Err(fault) => return Err(fault.into()),
            },
        };
        Ok(Self { operator, value, unit })
    }

    /// True if it is in percent.
    pub(super) fn is_percentage(&self) -> bool {
        self.unit.is_none()
    }

    /// True if a change of this figure can have its unit.
    pub(super) fn fits(&self, metric: Metric) -> bool {
        self.unit.is_none_or(|unit| unit == metric.unit())
    }

    /// True if a change in percent of the base is beyond it.
    pub(super) fn is_passed(&self, percent: f64, base: Option<f64>) -> bool {
        let value = if self.is_percentage() { percent } else { base.unwrap_or_default() * percent / 100.0 };
        let operator = OPERATORS.iter().find(|(operator, _)| *operator == self.operator);
        operator.is_some_and(|(_, compare)| compare(&value, &self.value))
    }
}
