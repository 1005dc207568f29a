//! What looks into a run while it goes on, or ends it, beside signals.
//!
//! Must not know: switches, how a report is made. Start reading at [`ControlSettings`].

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// What asks for reports of the running state or ends it, beside signals. The default is nothing of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlSettings {
    /// `--status-interval`, at least 1 ms; `None`: no reports before the end.
    pub status_interval: Option<Duration>,
    /// A file that asks for such a report by being there; it is removed when it is seen.
    pub status_file: Option<PathBuf>,
    /// Samples of the bandwidth of all jobs together are wanted (`--bandwidth-log`).
    pub samples_bandwidth: bool,
    /// `--idle-prof`: how idle the CPUs are is measured, and reported in this detail.
    pub idle: Option<IdleDetail>,
    /// The files of the jobs are opened before and after the run, to ask what the page cache holds of them.
    pub looks_into_files: bool,
    /// What ends all jobs.
    pub trigger: Trigger,
}

/// How the idleness of the CPUs is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdleDetail {
    /// All CPUs together.
    System,
    /// Each CPU too.
    PerCpu,
}

/// What ends all jobs at once, and what is done then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// `--trigger-file`: a file that does so by being there; it is removed when it is seen.
    pub file: Option<PathBuf>,
    /// `--trigger-timeout`: time since the start of the run after which it happens.
    pub timeout: Option<Duration>,
    /// `--trigger`: a command for the shell, started when the jobs are told to end; the run waits for its end.
    pub command: Option<String>,
    /// The standard output belongs to the reports: that of the command goes to the standard error.
    pub keeps_stdout_free: bool,
}
