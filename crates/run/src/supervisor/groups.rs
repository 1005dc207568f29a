//! Control groups that workers make (`cgroup`), and that are to be gone when the run is over.
//!
//! Must not know: how a worker enters one. Start reading at [`Made`].

use crate::plan::WorkerPlan;
use ferrio_spec::CgroupSpec;
use ferrio_sys::cgroup::Hierarchy;

/// The groups that were not there before the run. Those that were stay.
pub(super) struct Made {
    groups: Option<Hierarchy>,
    names: Vec<String>,
}

fn specs_of(workers: &[WorkerPlan]) -> impl Iterator<Item = &CgroupSpec> {
    workers.iter().map(|worker| &worker.spec.surroundings.cgroup)
}

impl Made {
    /// Looks, before any worker starts.
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

    /// Removes them, all workers having ended.
    pub(super) fn remove(&self) {
        for (groups, name) in self.groups.iter().flat_map(|groups| self.names.iter().map(move |name| (groups, name))) {
            // One that was never made, or that others are in now, is left alone.
            let _ = groups.remove(name);
        }
    }
}
