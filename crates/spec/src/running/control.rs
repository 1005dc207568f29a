//! Requests for reports during a run, and the trigger that ends it; signals are not among them.
//!
//! Must not know: switches, how a report is made. Start reading at [`ControlSettings`].

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Sources of requests for reports and for the end of a run, apart from signals. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlSettings {
    /// `--status-interval`, at least 1 ms; `None`: no reports before the end.
    pub status_interval: Option<Duration>,
    /// A file that requests such a report by its existence; it is removed when it is seen.
    #[serde(default, with = "crate::targets::path_bytes::optional")]
    pub status_file: Option<PathBuf>,
    /// Samples of the bandwidth of all jobs together are wanted (`--bandwidth-log`).
    pub samples_bandwidth: bool,
    /// `--idle-prof`: CPU idleness is measured, and reported in this detail.
    pub idle: Option<IdleDetail>,
    /// The files of the jobs are opened before and after the run, to find out how much of them is in the page cache.
    pub looks_into_files: bool,
    /// Nobody will see the evidence of probes, except for that which fio has too (disks, CPU idleness), nor the facts about machine
    /// and storage (provenance): they are not gathered.
    pub skips_evidence: bool,
    /// The trigger, which ends all jobs.
    pub trigger: Trigger,
}

/// Detail of the report on CPU idleness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdleDetail {
    /// All CPUs together.
    System,
    /// Each CPU too.
    PerCpu,
}

/// Ends all jobs together, and may start a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// `--trigger-file`: a file that does so by being there; it is removed when it is seen.
    #[serde(default, with = "crate::targets::path_bytes::optional")]
    pub file: Option<PathBuf>,
    /// `--trigger-timeout`: time since the start of the run after which it happens.
    pub timeout: Option<Duration>,
    /// `--trigger`: a command for the shell, started when the jobs are told to end; the run waits for its end.
    pub command: Option<String>,
    /// The standard output belongs to the reports: that of the command goes to the standard error.
    pub keeps_stdout_free: bool,
}
