//! Everything that one worker (process, thread, later host) counts. It crosses every border in this one form.
//!
//! Must not know: formats. Start reading at [`ThreadStats`].

use crate::{BatchCounts, DepthCounts, LatencyBuckets, LatencyStat, SampleStat};
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Counts of one data direction.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DirectionStats {
    /// I/Os that were issued.
    pub n_issued: u64,
    /// I/Os that completed.
    pub n_completed: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Transfers that came back short and were continued.
    pub n_short: u64,
    /// I/Os given up.
    pub n_dropped: u64,
    /// Time of the phases that include this direction.
    pub runtime_ns: u64,
    /// Submission latency (engines that queue).
    pub slat: LatencyStat,
    /// Completion latency.
    pub clat: LatencyStat,
    /// Total latency.
    pub lat: LatencyStat,
    /// Bandwidth samples, KiB/s.
    pub bw: SampleStat,
    /// Samples of I/Os per second.
    pub iops: SampleStat,
}

/// What the kernel says the worker used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ResourceUsage {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
}

/// Errors that were tolerated (`continue_on_error`, `ignore_error`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ErrorCounts {
    /// How many.
    pub n_total: u64,
    /// errno of the first.
    pub first_errno: i32,
}

/// Everything that one worker counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ThreadStats {
    /// Reads, writes, trims.
    pub directions: PerDirection<DirectionStats>,
    /// Latency of syncs.
    pub sync: LatencyStat,
    /// Syncs issued, those of the end phase included.
    pub n_syncs_issued: u64,
    /// Completion latencies of reads, writes and trims in coarse buckets.
    pub latency_buckets: LatencyBuckets,
    /// Depth at submission.
    pub depth: DepthCounts,
    /// I/Os per submit call.
    pub submit: BatchCounts,
    /// I/Os per completion call.
    pub complete: BatchCounts,
    /// CPU, faults, switches.
    pub usage: ResourceUsage,
    /// Time since the start of I/O, all phases.
    pub total_runtime_ns: u64,
    /// Wall clock at the start of I/O, milliseconds since 1970.
    pub job_start_ms: u64,
    /// errno that ended the job, or of the first tolerated error; 0: none.
    pub errno: i32,
    /// What failed, for the report's brackets; empty when the error was tolerated.
    pub error_text: String,
    /// Tolerated errors.
    pub tolerated: ErrorCounts,
    /// Depth that the latency target search found; `iodepth` without one.
    pub latency_depth: u32,
}
