//! Limits for the latency of I/Os.
//!
//! Must not know: option strings, clocks. Start reading at [`LatencySpec`].

use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Limits for the latency of I/Os.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencySpec {
    /// `max_latency`, microseconds: the job fails when an I/O takes longer; 0: it may.
    pub max_us: PerDirection<u64>,
    /// `latency_target`, microseconds: the depth is searched at which I/Os take no longer; 0: it is not.
    pub target_us: u64,
    /// `latency_window`, microseconds: how long a depth is tried.
    pub window_us: u64,
    /// `latency_percentile`: percent of the I/Os that must be within the target, 0 to 100.
    pub percentile: f64,
    /// `latency_run`: the job continues after the depth is found.
    pub goes_on: bool,
}

impl Default for LatencySpec {
    fn default() -> Self {
        Self { max_us: PerDirection::all(0), target_us: 0, window_us: 0, percentile: 100.0, goes_on: false }
    }
}
