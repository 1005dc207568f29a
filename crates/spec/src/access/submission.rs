//! Submission of I/Os (`serialize_overlap`, `io_submit_mode`), and priorities of single ones (`cmdprio_percentage` and its family).
//!
//! Must not know: engines. Start reading at [`SubmissionSpec`].

use ferrio_units::{IoPriority, PerDirection};
use serde::{Deserialize, Serialize};

/// The way in which I/Os are submitted to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SubmissionSpec {
    /// `serialize_overlap`: an I/O waits until those in flight that touch its bytes are complete.
    pub serialize_overlap: bool,
    /// `io_submit_mode=offload`: a pool of `iodepth` threads does the I/Os, each with an engine of its own.
    pub offload: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandPrioritySpec {
    /// The shares of reads and of writes, in the order in which they count; trims have none. No share is of 0 percent, and
    /// all that hold for one block size are 100 percent at most.
    pub shares: PerDirection<Vec<PriorityShare>>,
}

impl CommandPrioritySpec {
    /// No I/O has a priority of its own.
    pub fn is_empty(&self) -> bool {
        self.shares.iter().all(|(_, shares)| shares.is_empty())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityShare {
    /// Only I/Os of this length; `None`: all.
    pub block_bytes: Option<u64>,
    /// Share of these I/Os, percent: 1 to 100.
    pub percent: u32,
    /// Class: 1 real time, 2 best effort, 3 idle.
    pub class: u8,
    /// Level: 0 to 7.
    pub level: u8,
    /// Hint: 0 to 1023.
    pub hint: u16,
}

impl PriorityShare {
    pub fn priority(&self) -> IoPriority {
        IoPriority { class: self.class, level: self.level, hint: self.hint }
    }
}
