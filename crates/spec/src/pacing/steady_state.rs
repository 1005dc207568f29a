//! Search for a steady state, which ends a job early.
//!
//! Must not know: option strings, how samples are taken. Start reading at [`SteadyStateSpec`].

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteadyMetric {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bw,
    /// Mean completion latency, nanoseconds.
    Lat,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyCriterion {
    pub metric: SteadyMetric,
    /// The slope of the least squares line per sample, instead of the largest distance from the mean.
    pub is_slope: bool,
    /// Upper limit of the figure (exclusive): percent of the mean, or the unit of the metric.
    pub limit: f64,
    pub is_percent: bool,
}

/// Search for a steady state, which ends the job early.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SteadyStateSpec {
    /// `steadystate`.
    pub criterion: SteadyCriterion,
    /// `steadystate_duration`, microseconds: length of the window; 0: nothing is looked at.
    pub duration_us: u64,
    /// `steadystate_ramp_time`, microseconds.
    pub ramp_us: u64,
    /// `steadystate_check_interval`, microseconds.
    pub interval_us: u64,
}
