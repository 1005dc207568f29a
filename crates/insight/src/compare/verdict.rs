//! The verdict about one figure.
//!
//! Must not know: where figures and intervals come from. Start reading at [`decide`].

use ferrio_inference::LogRatio;
use ferrio_stats::Metric;
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
    /// These two runs differ by more than the course of each explains. Whether other runs would is not known: what one run
    /// differs from the next is in no single run.
    Differs,
}

impl ComparisonVerdict {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Unknown => "can't tell",
            Self::Differs => "differs",
        }
    }
}

/// The verdict from the interval of a ratio. `threshold` is a share: 0.01 for 1 %.
///
/// - The whole interval lies within the threshold: same, even if the difference is certain.
/// - The interval leaves out that there is no difference: faster or slower if it is from repeated runs, else they differ.
/// - Otherwise the interval is too wide to tell.
pub(super) fn decide(metric: Metric, ratio: &LogRatio, threshold: f64, is_repeated: bool) -> ComparisonVerdict {
    let (least, most) = (-threshold.ln_1p(), threshold.ln_1p());
    let is_more = ratio.low > 0.0;
    match () {
        () if ratio.low >= least && ratio.high <= most => ComparisonVerdict::Same,
        () if !is_more && ratio.high >= 0.0 => ComparisonVerdict::Unknown,
        () if !is_repeated => ComparisonVerdict::Differs,
        () if is_more == metric.is_latency() => ComparisonVerdict::Slower,
        () => ComparisonVerdict::Faster,
    }
}

/// Two runs whose figures differ by this factor differ by more than noise is known to make. Of the tail, in which the mood of a few
/// I/Os shows, it is a larger one. `None`: a single I/O decides the figure.
pub(super) const fn beyond_noise(metric: Metric) -> Option<f64> {
    match metric {
        Metric::Iops | Metric::Bandwidth | Metric::MeanLatency | Metric::P50 => Some(3.0),
        Metric::P95 | Metric::P99 | Metric::P999 | Metric::P9999 => Some(10.0),
        Metric::Max => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(low: f64, high: f64) -> LogRatio {
        LogRatio { value: f64::midpoint(low, high), low, high, n_degrees: 4.0 }
    }

    #[test]
    fn verdicts_follow_from_the_interval() {
        use ComparisonVerdict::{Differs, Faster, Same, Slower, Unknown};
        let table = [
            ((-0.02, 0.03), Unknown, Unknown, Unknown),
            ((-0.005, 0.006), Same, Same, Same),
            ((0.002, 0.006), Same, Same, Same),
            ((0.002, 0.03), Faster, Slower, Differs),
            ((-0.08, -0.03), Slower, Faster, Differs),
            ((0.0, 0.0), Same, Same, Same),
        ];
        for ((low, high), of_rate, of_latency, of_two_runs) in table {
            let ratio = ratio(low, high);
            assert_eq!(decide(Metric::Iops, &ratio, 0.01, true), of_rate, "{low} {high}");
            assert_eq!(decide(Metric::P99, &ratio, 0.01, true), of_latency, "{low} {high}");
            assert_eq!(decide(Metric::P99, &ratio, 0.01, false), of_two_runs, "{low} {high}");
        }
        assert_eq!(decide(Metric::Iops, &ratio(0.004, 0.006), 0.0, true), Faster);
    }

    #[test]
    fn an_interval_that_just_leaves_out_no_change_has_a_probability_of_5_percent() {
        assert!((ratio(0.0, 0.1).p() - 0.05).abs() < 1e-3, "{}", ratio(0.0, 0.1).p());
        assert!(ratio(-0.1, 0.1).p() > 0.99 && ratio(-0.05, -0.04).p() < 1e-4);
    }
}
