//! Settings of the kernel: a job names one, the operating system is asked for it.
//!
//! Must not know: the system calls. Start reading at [`NumaMemory`].

use serde::{Deserialize, Serialize};

/// Source of a thread's memory (`numa_mem_policy`). The nodes are numbers of the kernel; lists of them are not empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NumaMemory {
    /// The system's default.
    Default,
    /// From this node, or from others when it has none left.
    Prefer(u32),
    /// Only from these nodes.
    Bind(Vec<u32>),
    /// From these nodes in turn.
    Interleave(Vec<u32>),
    /// From the node of the CPU that asks for the memory.
    Local,
}

/// Expected lifetime of data, as a hint to the device (`write_hint`). The numbers are those of `RWH_WRITE_LIFE_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteHint {
    /// No hint.
    None = 1,
    /// Short.
    Short = 2,
    /// Medium.
    Medium = 3,
    /// Long.
    Long = 4,
    /// Very long.
    Extreme = 5,
}
