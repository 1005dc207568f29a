//! Limits as values, and what runs tell of them.
//!
//! Must not know: recipes, jobs. Start reading at [`FitBound::judge`].

use super::{LimitVerdict, judge};
use serde::Serialize;

/// Whether storage is good enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FitVerdict {
    Fits,
    /// The runs do not decide.
    CantTell,
    DoesNotFit,
}

impl FitVerdict {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::CantTell => "can't tell",
            Self::DoesNotFit => "does not fit",
        }
    }
}

/// A limit: latencies in nanoseconds, rates a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FitBound {
    /// The figure must not be above.
    Most(f64),
    /// The figure must not be below.
    Least(f64),
}

impl FitBound {
    pub const fn value(self) -> f64 {
        match self {
            Self::Most(value) | Self::Least(value) => value,
        }
    }

    /// The limit for so many times the load: as many times the rate must be done, as fast as before.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        match self {
            Self::Most(_) => self,
            Self::Least(least) => Self::Least(least * factor),
        }
    }

    /// What the figures of several runs tell, with an error of 1 % over all looks at them, after up to `most_runs` runs.
    pub fn judge(self, values: &[f64], most_runs: usize) -> FitVerdict {
        let verdict = match self {
            Self::Most(most) => judge(values, most, most_runs),
            // A figure that must be large is one whose inverse must be small.
            Self::Least(least) => {
                judge(&values.iter().map(|value| 1.0 / value).collect::<Vec<_>>(), 1.0 / least, most_runs)
            }
        };
        match verdict {
            LimitVerdict::Within => FitVerdict::Fits,
            LimitVerdict::Beyond => FitVerdict::DoesNotFit,
            LimitVerdict::Undecided => FitVerdict::CantTell,
        }
    }

    /// True if a figure is within the limit.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Most(most) => value <= most,
            Self::Least(least) => value >= least,
        }
    }

    /// How many times better than the limit a figure is; below 1: worse.
    pub fn margin(self, value: f64) -> Option<f64> {
        let margin = match self {
            Self::Most(most) => most / value,
            Self::Least(least) => value / least,
        };
        margin.is_finite().then_some(margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_to_be_small_and_rates_large() {
        let (most, least) = (FitBound::Most(10e6), FitBound::Least(500.0));
        assert_eq!(most.judge(&[4e6, 4.1e6, 3.9e6, 4e6], 8), FitVerdict::Fits);
        assert_eq!(most.judge(&[14e6, 14.1e6, 13.9e6, 14e6], 8), FitVerdict::DoesNotFit);
        assert_eq!(most.judge(&[8e6, 12e6, 10e6, 9e6], 8), FitVerdict::CantTell);
        assert_eq!(least.judge(&[600.0, 610.0, 590.0, 600.0], 8), FitVerdict::Fits);
        assert_eq!(least.judge(&[400.0, 401.0, 399.0, 400.0], 8), FitVerdict::DoesNotFit);
        assert_eq!(least.judge(&[0.0, 0.0], 8), FitVerdict::CantTell);
        assert_eq!((most.times(4.0), least.times(4.0)), (most, FitBound::Least(2_000.0)));
        assert!(most.holds(10e6) && !most.holds(10.1e6) && least.holds(500.0) && !least.holds(499.0));
        assert_eq!((most.margin(5e6), least.margin(250.0)), (Some(2.0), Some(0.5)));
    }
}
