//! What the machine did with its CPUs during the run, how warm it was, whether its clocks went on evenly, and earlier runs on it.
//!
//! Must not know: how that is found out. Start reading at [`HostCpu`].

use super::Reading;
use serde::{Deserialize, Serialize};

/// CPU time of the machine during the run, and CPU time that was taken away.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostCpu {
    /// All CPUs of the machine together, all programs.
    pub machine: Reading<CpuTimes>,
    /// The control group that was held back longest: that of this process or one above it.
    pub throttling: Reading<Throttling>,
}

/// Sums over all CPUs, milliseconds (`/proc/stat`, whose unit is the tick, usually 10 ms).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuTimes {
    /// Programs, the kernel, and interrupts.
    pub busy_ms: u64,
    /// Nothing to do.
    pub idle_ms: u64,
    /// The machine is virtual, and its host gave the CPU to others although there was work.
    pub steal_ms: u64,
}

/// Periods in which a control group had used up its CPU time (`cpu.stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Throttling {
    /// Periods in which the group had work.
    pub n_periods: u64,
    /// Those of them in which it was held back.
    pub n_throttled: u64,
    /// Time in which it was held back, microseconds; the sum over its CPUs.
    pub throttled_us: u64,
}

/// Course of the machine's clocks during the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostClock {
    /// Milliseconds by which the time of day was set forward (negative: back).
    pub stepped_ms: i64,
    pub suspended_ms: u64,
}

/// Speed of the machine's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemoryCopy {
    /// Bytes a second that one CPU copies within its caches, at the best size.
    pub bytes_per_sec: u64,
}

/// The last run on a target had the same I/Os in the same order, and the target has not changed since.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EarlierRun {
    pub job_index: u32,
    pub path: String,
    /// Time since the end of that run, seconds.
    pub seconds_ago: u64,
}

/// Heat of the machine during the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Heat {
    /// Time for which a CPU was slowed down because of heat, of the one that was longest, milliseconds; `None`: the machine does not
    /// count that.
    pub cpu_throttled_ms: Option<u64>,
    /// Drives under the files of the jobs that tell their temperature.
    pub drives: Vec<DriveHeat>,
}

/// Temperatures of a drive, thousandths of a degree Celsius.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DriveHeat {
    pub name: String,
    pub before: i64,
    pub now: i64,
    /// The drive warns, and slows down, from here on.
    pub limit: i64,
}
