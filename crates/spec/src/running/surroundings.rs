//! The surroundings of a job's I/O: commands before and after it, and settings of the kernel.
//!
//! Must not know: how any of it is done. Start reading at [`SurroundingsSpec`].

use ferrio_units::NumaMemory;
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
