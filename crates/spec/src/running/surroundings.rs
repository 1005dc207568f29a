//! The surroundings of a job's I/O: commands before and after it, and settings of the kernel.
//!
//! Must not know: how any of it is done. Start reading at [`SurroundingsSpec`].

use serde::{Deserialize, Serialize};

/// The surroundings of a job's I/O. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurroundingsSpec {
    /// `exec_prerun`: a command for the shell before the first I/O; not empty.
    pub exec_prerun: Option<String>,
    /// `exec_postrun`: a command after the last I/O.
    pub exec_postrun: Option<String>,
    /// `ioscheduler`: name in the kernel; not empty.
    pub ioscheduler: Option<String>,
    /// `numa_cpu_nodes`: not empty; `None`: not given.
    pub numa_cpu_nodes: Option<Vec<u32>>,
    /// `numa_mem_policy`; `None`: not given.
    pub numa_memory: Option<NumaMemory>,
    pub cgroup: CgroupSpec,
}

/// `numa_mem_policy`. Lists of nodes are not empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NumaMemory {
    Default,
    /// From this node first.
    Prefer(u32),
    /// Only from these nodes.
    Bind(Vec<u32>),
    /// From these nodes in turn.
    Interleave(Vec<u32>),
    /// From the node of the CPU that asks for the memory.
    Local,
}

/// The control group of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CgroupSpec {
    /// `cgroup`; `None`: stays where it is.
    pub name: Option<String>,
    /// `cgroup_weight`, 100 to 1000; without effect without a group.
    pub weight: Option<u32>,
    /// `cgroup_nodelete`.
    pub is_kept: bool,
}
