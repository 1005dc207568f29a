//! Limits that the kernel sets for ferrio: those of its control group and of its process.
//!
//! Must not know: how they are found out. Start reading at [`LimitFacts`].

use serde::{Deserialize, Serialize};

/// Limits of the process and of its control group. `None` or an empty list: none, or not known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LimitFacts {
    /// Limits of the control group for I/O to the devices behind the jobs' files.
    pub io: Vec<IoLimit>,
    /// Memory that the control group may use, with its page cache; only where that is less than the machine has.
    pub memory_bytes: Option<u64>,
    /// Largest size to which a file may be written (`RLIMIT_FSIZE`).
    pub file_size_bytes: Option<u64>,
    /// Memory that the process may lock (`RLIMIT_MEMLOCK`); a process with the privilege `CAP_IPC_LOCK` has no limit.
    #[serde(default)]
    pub locked_bytes: Option<u64>,
    /// Files that the process may have open at a time, where it raises its limit as far as it may (`RLIMIT_NOFILE`).
    #[serde(default)]
    pub open_files: Option<u64>,
    /// CPU time of the control group, milliseconds a second (`cpu.max`, `cpu.cfs_quota_us`): 1000 is one CPU.
    #[serde(default)]
    pub cpu_ms_per_sec: Option<u64>,
    /// Shares of the control group in the devices behind the jobs' files, where the kernel shares these out by weight.
    #[serde(default)]
    pub io_weights: Vec<IoWeight>,
}

/// The share of a control group in a device that several groups use (`io.weight`, `io.bfq.weight`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoWeight {
    pub device: String,
    /// The share, relative to those of the other groups; a group has 100 unless it was set.
    pub weight: u64,
    /// The file in which it is set.
    pub setting: String,
}

/// A limit of a control group for one device and direction (`io.max`, `blkio.throttle`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoLimit {
    pub device: String,
    /// It is for writes; otherwise for reads.
    pub is_write: bool,
    pub bytes_per_sec: Option<u64>,
    pub ios_per_sec: Option<u64>,
}
