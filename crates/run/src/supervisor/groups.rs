//! Control groups that workers make (`cgroup`) and that have to be removed at the end of the run.
//!
//! Must not know: how a worker enters a group. Start reading at [`Made`].

use crate::plan::WorkerPlan;
use ferrio_spec::CgroupSpec;
use ferrio_sys::cgroup::Hierarchy;

/// The groups that did not exist before the run; only these are removed.
pub(super) struct Made {
    groups: Option<Hierarchy>,
    names: Vec<String>,
}

fn specs_of(workers: &[WorkerPlan]) -> impl Iterator<Item = &CgroupSpec> {
    workers.iter().map(|worker| &worker.spec.surroundings.cgroup)
}

impl Made {
    /// Looks for existing groups, before any worker starts.
    pub(super) fn before(workers: &[WorkerPlan]) -> Self {
        let mut names: Vec<String> = specs_of(workers).filter_map(|spec| spec.name.clone()).collect();
        let keeps = |name: &str| specs_of(workers).any(|spec| spec.is_kept && spec.name.as_deref() == Some(name));
        names.sort();
        names.dedup();
        names.retain(|name| !keeps(name));
        let groups = if names.is_empty() { None } else { Hierarchy::find().ok() };
        if let Some(groups) = &groups {
            names.retain(|name| !groups.has(name));
        }
        Self { groups, names }
    }

    /// Removes the groups, after all workers have ended.
    pub(super) fn remove(&self) {
        for (groups, name) in self.groups.iter().flat_map(|groups| self.names.iter().map(move |name| (groups, name))) {
            // Fails for a group that was never made or that other processes have entered, which is fine.
            let _ = groups.remove(name);
        }
    }
}
