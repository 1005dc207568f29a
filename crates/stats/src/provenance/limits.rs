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
}

/// A limit of a control group for one device and direction (`io.max`, `blkio.throttle`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoLimit {
    /// The device, as in `/sys/block`.
    pub device: String,
    /// It is for writes; otherwise for reads.
    pub is_write: bool,
    /// Bytes a second.
    pub bytes_per_sec: Option<u64>,
    /// I/Os a second.
    pub ios_per_sec: Option<u64>,
}
