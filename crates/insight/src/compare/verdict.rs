//! The verdict about one figure.
//!
//! Must not know: where figures and intervals come from. Start reading at [`decide`].

use super::ComparedMetric;
use crate::statistics::LogRatio;
use serde::Serialize;

/// What a comparison says of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonVerdict {
    /// The difference, if there is one, is certainly below the threshold.
    Same,
    /// The new result is certainly better.
    Faster,
    /// The new result is certainly worse.
    Slower,
    /// The results do not tell.
    Unknown,
}

impl ComparisonVerdict {
    /// The words for it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Unknown => "can't tell",
        }
    }
}

/// The verdict from the interval of a ratio. `threshold` is a share: 0.01 for 1 %.
///
/// - The whole interval lies within the threshold: same, even if the difference is certain.
/// - The interval leaves out that there is no difference: faster or slower.
/// - Otherwise the interval is too wide to tell.
pub(super) fn decide(metric: ComparedMetric, ratio: &LogRatio, threshold: f64) -> ComparisonVerdict {
    let (least, most) = (-threshold.ln_1p(), threshold.ln_1p());
    let is_more = ratio.low > 0.0;
    match () {
        () if ratio.low >= least && ratio.high <= most => ComparisonVerdict::Same,
        () if !is_more && ratio.high >= 0.0 => ComparisonVerdict::Unknown,
        () if is_more == metric.is_latency() => ComparisonVerdict::Slower,
        () => ComparisonVerdict::Faster,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_from_the_interval() {
        use ComparisonVerdict::{Faster, Same, Slower, Unknown};
        let table = [
            ((-0.02, 0.03), Unknown, Unknown),
            ((-0.005, 0.006), Same, Same),
            ((0.002, 0.006), Same, Same),
            ((0.002, 0.03), Faster, Slower),
            ((-0.08, -0.03), Slower, Faster),
            ((0.0, 0.0), Same, Same),
        ];
        for ((low, high), of_rate, of_latency) in table {
            let ratio = LogRatio { value: f64::midpoint(low, high), low, high };
            assert_eq!(decide(ComparedMetric::Iops, &ratio, 0.01), of_rate, "{low} {high}");
            assert_eq!(decide(ComparedMetric::P99, &ratio, 0.01), of_latency, "{low} {high}");
        }
        let sure = LogRatio { value: 0.005, low: 0.004, high: 0.006 };
        assert_eq!(decide(ComparedMetric::Iops, &sure, 0.0), Faster);
    }
}
