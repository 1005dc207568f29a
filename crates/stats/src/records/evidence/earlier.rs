//! Earlier runs of the same I/Os on the same target.
//!
//! Must not know: where they are remembered. Start reading at [`EarlierRun`].

use serde::{Deserialize, Serialize};

/// The last run on a target had the same I/Os in the same order, and the target has not changed since.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EarlierRun {
    pub job_index: u32,
    pub path: String,
    /// Time since the end of that run, seconds.
    pub seconds_ago: u64,
}
