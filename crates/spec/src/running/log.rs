//! Performance logs of a job.
//!
//! Must not know: rows, files on disk. Start reading at [`LogSpec`].

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `log_window_value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum WindowValue {
    /// The mean of a window.
    #[default]
    Average,
    Maximum,
    /// Mean and maximum, in two columns.
    Both,
}

/// Performance logs. The default is that of a job without any of these options: none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LogSpec {
    /// `write_bw_log`: prefix of the file name.
    #[serde(default, with = "crate::targets::path_bytes::optional")]
    pub bw: Option<PathBuf>,
    /// `write_iops_log`.
    #[serde(default, with = "crate::targets::path_bytes::optional")]
    pub iops: Option<PathBuf>,
    /// `write_lat_log`: logs of slat, clat and lat.
    #[serde(default, with = "crate::targets::path_bytes::optional")]
    pub latency: Option<PathBuf>,
    /// `write_hist_log`.
    #[serde(default, with = "crate::targets::path_bytes::optional")]
    pub histogram: Option<PathBuf>,
    /// `per_job_logs=0`: one file for all clones and jobs of the same prefix.
    pub shared_files: bool,
    /// `log_avg_msec`, milliseconds; 0: a row for each I/O.
    pub window_ms: u32,
    /// `log_hist_msec`, milliseconds; 0: one histogram of the whole job.
    pub histogram_ms: u32,
    /// `log_hist_coarseness`, 0 to 6.
    pub histogram_coarseness: u32,
    /// `log_window_value`.
    pub window_value: WindowValue,
    /// `log_offset`.
    pub offset: bool,
    /// `log_prio`.
    pub full_priority: bool,
    /// `log_issue_time`.
    pub issue_time: bool,
    /// `log_compression`, bytes; 0: off.
    pub compression_bytes: u32,
    /// `log_compression_cpus`: CPUs on which logs are compressed and written; `None`: any.
    pub compression_cpus: Option<Vec<u32>>,
    /// `log_store_compressed`.
    pub store_compressed: bool,
    /// `log_alternate_epoch`: times are those of a clock of the system.
    pub alternate_epoch: bool,
    /// `log_alternate_epoch_clock_id`: the clock (0: wall clock).
    pub epoch_clock_id: u32,
}

impl LogSpec {
    /// True if there is any log.
    pub fn is_on(&self) -> bool {
        self.bw.is_some() || self.iops.is_some() || self.latency.is_some() || self.histogram.is_some()
    }
}
