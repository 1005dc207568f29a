//! The model of a run's outcome (finished, or a snapshot of a running one): what every format is written from.
//!
//! Must not know: formats. Start reading at [`RunResult`].

use crate::ThreadStats;
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// How a job wants to be shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportSettings {
    /// `kb_base`: 1024 or 1000.
    pub kb_base: u32,
    /// Bandwidth in bits.
    pub unit_bits: bool,
    /// `significant_figures`.
    pub significant_figures: u32,
    /// `percentile_list`.
    pub percentiles: Vec<f64>,
    /// Digits after the point in the list.
    pub percentile_digits: u32,
    /// `clat_percentiles`.
    pub clat_percentiles: bool,
    /// `lat_percentiles`.
    pub lat_percentiles: bool,
    /// `slat_percentiles`.
    pub slat_percentiles: bool,
    /// `unified_rw_reporting=mixed`: all directions are counted as one, in the read slot.
    pub unified_mixed: bool,
    /// `unified_rw_reporting=both`: a summed block after the directions.
    pub unified_both: bool,
    /// `continue_on_error` or `ignore_error` is active: show the errors line.
    pub show_errors: bool,
}

/// One block of the report: a job, or the jobs of a group summed (`group_reporting`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobReport {
    /// Name of the first member.
    pub name: String,
    /// Description of the first member.
    pub description: Option<String>,
    /// Group number.
    pub group_index: u32,
    /// Members summed.
    pub n_members: u32,
    /// Process id of the first member.
    pub pid: u32,
    /// Options of the first member (JSON `job options`).
    pub given_options: Vec<(String, String)>,
    /// How it is shown.
    pub settings: ReportSettings,
    /// Sum of the members' figures.
    pub stats: ThreadStats,
}

/// One direction of a group line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupDirection {
    /// Bytes of all members.
    pub bytes: u64,
    /// Group bandwidth, bytes per second: all bytes over the longest runtime.
    pub bw_bytes_per_sec: u64,
    /// Slowest member, bytes per second.
    pub min_bw_bytes_per_sec: u64,
    /// Fastest member, bytes per second.
    pub max_bw_bytes_per_sec: u64,
    /// Shortest runtime of a member, milliseconds.
    pub min_runtime_ms: u64,
    /// Longest runtime of a member, milliseconds; 0: the direction did not run.
    pub max_runtime_ms: u64,
}

/// The `Run status group` block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupReport {
    /// Reads, writes, trims (or all in the read slot when unified).
    pub directions: PerDirection<GroupDirection>,
    /// `kb_base` of the first job.
    pub kb_base: u32,
    /// Bits instead of bytes.
    pub unit_bits: bool,
    /// The read slot holds all directions.
    pub unified_mixed: bool,
    /// Show the sum in a line of its own.
    pub unified_both: bool,
}

/// Counters of a block device over the run (differences of `/sys/block/X/stat`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskCounters {
    /// I/Os: read, write.
    pub ios: [u64; 2],
    /// Merged I/Os.
    pub merges: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// Milliseconds that I/Os took in sum.
    pub ticks_ms: [u64; 2],
    /// Weighted milliseconds in queue.
    pub in_queue_ms: u64,
    /// Percent of the time that the device was busy, at most 100.
    pub util_percent: f64,
}

/// One device of the `Disk stats` block.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskReport {
    /// Name in `/sys/block`.
    pub name: String,
    /// What it did.
    pub counters: DiskCounters,
    /// Averages over the slaves of a stacked device (utilisation: the largest).
    pub slaves: Option<DiskCounters>,
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Version string of the outputs, `fio-3.42-...`.
    pub version: String,
    /// Wall clock of the report, milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Seconds since the start, rounded up.
    pub elapsed_secs: u64,
    /// Seconds left; 2147483647 when not known yet.
    pub eta_secs: u64,
    /// Options given for all jobs.
    pub global_options: Vec<(String, String)>,
    /// Job blocks in order.
    pub jobs: Vec<JobReport>,
    /// Group blocks by group number.
    pub groups: Vec<GroupReport>,
    /// Devices; `None` when `disk_util` is off.
    pub disks: Option<Vec<DiskReport>>,
}
