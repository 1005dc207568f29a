//! Statistics of series whose values depend on their neighbours: confidence intervals of means and percentiles, slopes, change
//! points.
//!
//! Must not know: jobs, what a series measures. Start reading at [`mean_interval`]. The intervals of a run are no independent samples:
//! a slow one follows a slow one. Formulas for independent samples give intervals that are too narrow then.
#![forbid(unsafe_code)]

mod bootstrap;
mod change;
mod dependence;
mod difference;
mod mean;
mod monotone;
mod pooled;
mod share;
mod student;
pub mod synthetic;
mod threshold;
mod trend;

pub use change::{Change, change_point};
pub use difference::{LogRatio, MARGIN, log_ratio};
pub use mean::{MeanInterval, mean_interval};
pub use monotone::{Monotone, mann_kendall};
pub use pooled::{RunShare, pooled_share, share_of_all};
pub use share::{Counts, percentile_interval};
pub use student::{one_sided_quantile, quantile_95, two_sided_p};
pub use threshold::{Level, LineZero, Threshold, threshold};
pub use trend::trend;

/// Mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Values around the mean of all samples of some intervals (number and sum), in which an interval counts as much as it has samples.
pub fn weighted(intervals: &[(f64, f64)]) -> Vec<f64> {
    let (n_all, sum_all) = intervals.iter().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    let (of_all, mean_n) = (sum_all / n_all, n_all / intervals.len() as f64);
    intervals.iter().map(|(n, sum)| of_all + (sum - of_all * n) / mean_n).collect()
}
