//! Settings of the kernel: a job names one, the operating system is asked for it.
//!
//! Must not know: the system calls. Start reading at [`NumaMemory`].

use serde::{Deserialize, Serialize};

/// Source of a thread's memory (`numa_mem_policy`). The nodes are numbers of the kernel; lists of them are not empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NumaMemory {
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
    Short = 2,
    Medium = 3,
    Long = 4,
    /// Very long.
    Extreme = 5,
}

/// An I/O priority, as the kernel's block layer knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IoPriority {
    /// 0 none, 1 real time, 2 best effort, 3 idle.
    pub class: u8,
    /// 0 (highest) to 7.
    pub level: u8,
    /// Hint to the device, 0 to 1023.
    pub hint: u16,
}

impl IoPriority {
    /// The kernel's encoding: 3 bits of class, 10 of hint, 3 of level, from the top. Excess bits are cut off.
    pub fn encode(self) -> u16 {
        u16::from(self.class & 7) << 13 | (self.hint & 0x3ff) << 3 | u16::from(self.level & 7)
    }

    /// From the kernel's encoding.
    pub fn decode(value: u16) -> Self {
        Self { class: (value >> 13) as u8, level: (value & 7) as u8, hint: value >> 3 & 0x3ff }
    }
}
