//! Heat of CPUs and drives.
//!
//! Must not know: how that is found out. Start reading at [`Heat`].

use serde::{Deserialize, Serialize};

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
