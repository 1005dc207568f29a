//! What is done around the I/O of a job: commands before and after it, and where the kernel puts it.
//!
//! Must not know: how any of it is done. Start reading at [`SurroundingsSpec`].

use serde::{Deserialize, Serialize};

/// What is done around the I/O of a job. The default does nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurroundingsSpec {
    /// `exec_prerun`: a command for the shell before the first I/O; not empty.
    pub exec_prerun: Option<String>,
    /// `exec_postrun`: the same after the last one.
    pub exec_postrun: Option<String>,
    /// `ioscheduler`: its name in the kernel; not empty.
    pub ioscheduler: Option<String>,
    /// `numa_cpu_nodes`: not empty; `None`: not given.
    pub numa_cpu_nodes: Option<Vec<u32>>,
    /// `numa_mem_policy`; `None`: not given.
    pub numa_memory: Option<NumaMemory>,
    /// `cgroup` and its kin.
    pub cgroup: CgroupSpec,
}

/// `numa_mem_policy`. Lists of nodes are not empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NumaMemory {
    /// As the system does it.
    Default,
    /// From this node first.
    Prefer(u32),
    /// From these nodes only.
    Bind(Vec<u32>),
    /// From these nodes in turn.
    Interleave(Vec<u32>),
    /// From the node of the CPU that asks.
    Local,
}

/// The control group of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CgroupSpec {
    /// `cgroup`; `None`: stays where it is.
    pub name: Option<String>,
    /// `cgroup_weight`, 100 to 1000; without effect without a group.
    pub weight: Option<u32>,
    /// `cgroup_nodelete`.
    pub is_kept: bool,
}
