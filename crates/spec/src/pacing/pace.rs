//! Rates and pauses of a job, and limits for its latencies.
//!
//! Must not know: option strings, clocks. Start reading at [`PaceSpec`].

use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RateProcess {
    /// Even spacing.
    #[default]
    Linear,
    Poisson,
}

/// `rate_latency`: from when the latencies of a job with rates count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RateLatency {
    /// From the time at which the job came to do the I/O.
    #[default]
    Issue,
    /// Besides, from when the rate wanted it to start.
    Response,
}

/// `rate_catch_up`: treatment of late I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum CatchUp {
    /// They are done as fast as possible.
    #[default]
    Burst,
    /// They are done at no more than twice the rate.
    Paced,
}

/// A time that is drawn each time it is needed, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DrawnTime {
    /// Short times are frequent and long ones rare, as between visitors who come at random.
    Exponential { mean_us: u64 },
    /// All times between two bounds are equally likely.
    Uniform {
        low_us: u64,
        /// Longest, not below the shortest.
        high_us: u64,
    },
}

impl DrawnTime {
    /// The mean, microseconds, rounded up: it is 0 only if all times are.
    pub const fn mean_us(self) -> u64 {
        match self {
            Self::Exponential { mean_us } => mean_us,
            Self::Uniform { low_us, high_us } => low_us + (high_us - low_us).div_ceil(2),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PauseSpec {
    /// `thinktime`, microseconds: length of a pause, or the mean of lengths that are drawn; 0: none.
    pub pause_us: u64,
    /// `thinktime` as a distribution, from which the length of each pause is drawn.
    pub drawn: Option<DrawnTime>,
    /// `thinktime_spin`, microseconds: the part of it that is spun.
    pub spin_us: u64,
    /// `thinktime_blocks`: I/Os between two pauses; `None`: 1, but none where `io_time_us` is given.
    pub n_ios: Option<u32>,
    /// `thinktime_blocks_type`: the I/Os are counted when they are issued, not when they are done.
    pub counts_issued: bool,
    /// `thinktime_iotime`, microseconds between two pauses; 0: only I/Os are counted.
    pub io_time_us: u64,
    /// `thinkcycles`: turns of an empty loop after each I/O.
    pub n_spins: u32,
}

impl PauseSpec {
    pub fn is_set(&self) -> bool {
        self.pause_us > 0 || self.n_spins > 0
    }
}

/// The share that a job has in the I/Os of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowSpec {
    /// `flow_id`: jobs of the same one share.
    pub id: u32,
    /// `flow`: its weight in the flow; 0: the job takes no part.
    pub weight: u32,
    /// `flow_sleep`, microseconds: how long it sleeps when it is ahead; 0: it spins.
    pub sleep_us: u32,
}

/// Rates and pauses of a job. A rate of 0 means none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
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
    /// `rate_latency`.
    pub latency: RateLatency,
    /// `rate_catch_up`.
    pub catch_up: CatchUp,
    /// `rate_cycle`, milliseconds: the window over which the minima are judged.
    pub cycle_ms: u32,
    /// `rate_ignore_thinktime`: the job does not make up for pauses.
    pub ignores_pauses: bool,
    /// The options that begin with `think`.
    pub pauses: PauseSpec,
    /// The options that begin with `flow`.
    pub flow: FlowSpec,
}

impl Default for PaceSpec {
    fn default() -> Self {
        Self {
            bytes_per_sec: PerDirection::all(0),
            min_bytes_per_sec: PerDirection::all(0),
            ios_per_sec: PerDirection::all(0),
            min_ios_per_sec: PerDirection::all(0),
            process: RateProcess::Linear,
            latency: RateLatency::Issue,
            catch_up: CatchUp::Burst,
            cycle_ms: 1_000,
            ignores_pauses: false,
            pauses: PauseSpec::default(),
            flow: FlowSpec::default(),
        }
    }
}

impl PaceSpec {
    pub fn limits_rates(&self) -> bool {
        self.bytes_per_sec.0.iter().any(|rate| *rate > 0) || self.ios_per_sec.0.iter().any(|rate| *rate > 0)
    }
}

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
