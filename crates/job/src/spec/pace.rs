//! How fast a job may go, how fast it must, and when it pauses.
//!
//! Must not know: option strings, clocks. Start reading at [`PaceSpec`].

use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// `rate_process`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RateProcess {
    /// Even spacing.
    #[default]
    Linear,
    /// Arrivals of a Poisson process.
    Poisson,
}

/// How fast a job may go, how fast it must, and when it pauses. A rate of 0 is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaceSpec {
    /// `rate`, bytes per second.
    pub bytes_per_sec: PerDirection<u64>,
    /// `rate_min`, bytes per second.
    pub min_bytes_per_sec: PerDirection<u64>,
    /// `rate_iops`.
    pub ios_per_sec: PerDirection<u32>,
    /// `rate_iops_min`.
    pub min_ios_per_sec: PerDirection<u32>,
    /// `rate_process`.
    pub process: RateProcess,
    /// `rate_cycle`, milliseconds: the window over which the minima are judged.
    pub cycle_ms: u32,
    /// `rate_ignore_thinktime`: what a pause has cost is not made up for.
    pub ignores_pauses: bool,
}

impl Default for PaceSpec {
    fn default() -> Self {
        Self {
            bytes_per_sec: PerDirection::all(0),
            min_bytes_per_sec: PerDirection::all(0),
            ios_per_sec: PerDirection::all(0),
            min_ios_per_sec: PerDirection::all(0),
            process: RateProcess::Linear,
            cycle_ms: 1_000,
            ignores_pauses: false,
        }
    }
}

impl PaceSpec {
    /// Some direction has a rate.
    pub fn limits_rates(&self) -> bool {
        self.bytes_per_sec.0.iter().any(|rate| *rate > 0) || self.ios_per_sec.0.iter().any(|rate| *rate > 0)
    }

    /// Some direction has a least rate.
    pub fn has_minima(&self) -> bool {
        self.min_bytes_per_sec.0.iter().any(|rate| *rate > 0) || self.min_ios_per_sec.0.iter().any(|rate| *rate > 0)
    }
}
