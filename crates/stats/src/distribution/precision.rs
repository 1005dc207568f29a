//! How exact the figures of a run are: confidence intervals, or the reasons why there are none.
//!
//! Must not know: how intervals are estimated, how they are shown. Start reading at [`JobPrecision`].

use serde::{Deserialize, Serialize};

/// Precision of the figures of one job, with its clones, in one direction. JSON documents contain it with these keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobPrecision {
    pub job_index: u32,
    pub job: String,
    /// `read`, `write` or `trim`.
    pub direction: String,
    /// Probability with which an interval covers the true value, percent.
    pub confidence_percent: f64,
    /// Length of an interval of the series, nanoseconds.
    pub interval_ns: u64,
    /// Number of intervals in which all clones ran; the others are left out.
    pub n_intervals: u64,
    /// Correlation of the I/Os of neighbouring intervals, -1 to 1; `None`: too few intervals.
    pub autocorrelation: Option<f64>,
    /// Number of independent intervals that would say as much; `None`: too few intervals.
    pub n_effective: Option<f64>,
    pub ios_per_sec: Estimate,
    pub bytes_per_sec: Estimate,
    /// 50th percentile of the completion latency, nanoseconds.
    pub p50_ns: Estimate,
    /// 99th percentile.
    pub p99_ns: Estimate,
    /// 99.9th percentile.
    pub p999_ns: Estimate,
    /// Mean of the completion latency, nanoseconds.
    #[serde(default = "not_measured")]
    pub mean_ns: Estimate,
}

/// The value in documents of versions that did not have it.
const fn not_measured() -> Estimate {
    Estimate::Unknown(ImprecisionReason::NotMeasured)
}

/// A confidence interval, or the reason why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    Interval(Confidence),
    /// There is none.
    Unknown(ImprecisionReason),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// The estimated value.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Why there is no confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImprecisionReason {
    TooFewIntervals,
    /// The intervals depend on each other so much that they say too little together.
    TooDependent,
    /// Too few I/Os took longer than the percentile.
    TooFewSamples,
    /// The clones of the job did not run at the same time.
    ClonesApart,
    /// A host was lost, so that its course is not known in such detail.
    HostLost,
    NotMeasured,
}

impl Estimate {
    /// The interval, if there is one.
    pub fn interval(&self) -> Option<&Confidence> {
        match self {
            Self::Interval(interval) => Some(interval),
            Self::Unknown(_) => None,
        }
    }
}

impl Confidence {
    /// The larger distance of an end from the value, in percent of the value.
    pub fn percent(&self) -> f64 {
        let distance = (self.high - self.value).max(self.value - self.low);
        if self.value > 0.0 { 100.0 * distance / self.value } else { 0.0 }
    }
}
