//! Measurements of a job and their presentation.
//!
//! Must not know: formats. Start reading at [`ReportingSpec`].

use serde::{Deserialize, Serialize};

/// `unified_rw_reporting`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnifiedReporting {
    /// A block for each direction.
    None,
    /// One block with the sum.
    Mixed,
    Both,
}

/// Measurements and their presentation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportingSpec {
    /// `stats`: false leaves the job out of the report.
    pub stats: bool,
    pub disable_lat: bool,
    pub disable_clat: bool,
    pub disable_slat: bool,
    /// `disable_bw_measurement`.
    pub disable_bw: bool,
    /// `gtod_reduce`: all of the above and fewer clock reads.
    pub gtod_reduce: bool,
    pub clat_percentiles: bool,
    pub lat_percentiles: bool,
    pub slat_percentiles: bool,
    /// `percentile_list`, as given.
    pub percentiles: Vec<f64>,
    /// Digits after the point of the longest entry of `percentile_list` (default 2).
    pub percentile_digits: u32,
    pub significant_figures: u32,
    /// `unified_rw_reporting`.
    pub unified: UnifiedReporting,
    /// `kb_base`: 1024 or 1000.
    pub kb_base: u32,
    /// Bits (`unit_base=1`) or bytes; `None`: as the engine counts.
    pub unit_bits: Option<bool>,
    pub block_error_percentiles: bool,
    /// `job_start_clock_id`: the clock of `job_start` in JSON (0: wall clock).
    pub job_start_clock_id: u32,
    pub disk_util: bool,
    /// Window of the bandwidth samples (`bwavgtime`, or a row of the bandwidth log), milliseconds.
    pub bw_window_ms: u64,
    /// Window of the samples of I/Os per second (`iopsavgtime`, or a row of the log), milliseconds.
    pub iops_window_ms: u64,
}
