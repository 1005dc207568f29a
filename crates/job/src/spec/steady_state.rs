//! Which constancy ends a job early.
//!
//! Must not know: option strings, how samples are taken. Start reading at [`SteadyStateSpec`].

use serde::{Deserialize, Serialize};

/// What `steadystate` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteadyStateMetric {
    /// I/Os per second.
    Iops,
    /// Bandwidth.
    Bw,
    /// Completion latency.
    Lat,
}

/// Which constancy ends the job early.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyStateSpec {
    /// What `steadystate` looks at.
    pub metric: SteadyStateMetric,
    /// Its slope instead of its distance from the mean.
    pub is_slope: bool,
    /// The limit: percent of the mean, or I/Os per second, bytes per second, nanoseconds.
    pub limit: f64,
    /// The limit is in percent.
    pub is_percent: bool,
    /// `steadystate_duration`, microseconds: length of the window; 0: nothing is looked at.
    pub duration_us: u64,
    /// `steadystate_ramp_time`, microseconds.
    pub ramp_us: u64,
    /// `steadystate_check_interval`, microseconds.
    pub interval_us: u64,
}
