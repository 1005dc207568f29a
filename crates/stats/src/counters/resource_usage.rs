//! CPU time, switches and page faults of a worker, as the kernel counts them.
//!
//! Must not know: how they are measured. Start reading at [`ResourceUsage`].

use crate::counters::counts::add_to;
use serde::{Deserialize, Serialize};

/// The worker's use of resources, according to the kernel: that of its own thread, as fio counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ResourceUsage {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Turns of the worker's own thread on a CPU; `None`: the kernel does not count them.
    pub cpu_turns: Option<CpuTurns>,
    /// CPU time of the threads beside it. `None`: unknown, because the jobs of the process can't be told apart. Where they are threads,
    /// the kernel's workers of `io_uring` are known, as far as they have not ended before the job.
    #[serde(default)]
    pub helpers: Option<HelperUsage>,
}

/// CPU time of the threads that work for a job beside its own: the kernel's workers (`io_uring`), threads of engines and of
/// verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HelperUsage {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
}

impl HelperUsage {
    /// CPU time in user mode and in the kernel.
    pub fn cpu_ns(self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }
}

/// Turns of a worker's own thread on a CPU (`/proc/PID/schedstat`); its helpers are not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuTurns {
    pub ran_ns: u64,
    /// Time in which it was ready to run and had no CPU.
    pub waited_ns: u64,
    /// Number of times that it got a CPU.
    pub n_turns: u64,
    /// Number of times that it gave the CPU up by itself, as when it waits for I/O.
    pub n_sleeps: u64,
}

impl ResourceUsage {
    /// CPU time of the worker and of the threads beside it, as far as that is known.
    pub fn cpu_ns(&self) -> u64 {
        let helpers_ns = self.helpers.map_or(0, HelperUsage::cpu_ns);
        self.user_ns.saturating_add(self.system_ns).saturating_add(helpers_ns)
    }

    /// Adds the use of another worker.
    pub fn merge(&mut self, other: &Self) {
        if let Some(theirs) = other.helpers {
            let helpers = self.helpers.get_or_insert_default();
            add_to(&mut helpers.user_ns, theirs.user_ns);
            add_to(&mut helpers.system_ns, theirs.system_ns);
        }
        add_to(&mut self.user_ns, other.user_ns);
        add_to(&mut self.system_ns, other.system_ns);
        add_to(&mut self.context_switches, other.context_switches);
        add_to(&mut self.major_faults, other.major_faults);
        add_to(&mut self.minor_faults, other.minor_faults);
        if let Some(theirs) = other.cpu_turns {
            let turns = self.cpu_turns.get_or_insert_default();
            add_to(&mut turns.ran_ns, theirs.ran_ns);
            add_to(&mut turns.waited_ns, theirs.waited_ns);
            add_to(&mut turns.n_turns, theirs.n_turns);
            add_to(&mut turns.n_sleeps, theirs.n_sleeps);
        }
    }
}
