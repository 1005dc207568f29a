//! The workers of a plan as the probes of `evidence` see them.
//!
//! Must not know: probes. Start reading at [`probed`].

use crate::evidence::{ProbedWorker, TargetPaths};
use crate::plan::{RunPlan, WorkerPlan};
use crate::worker::check_state;
use crate::{compat, files, replay};
use ferrio_stats::Provenance;
use std::path::PathBuf;

pub(crate) fn probed(workers: &[WorkerPlan]) -> Vec<ProbedWorker<'_>> {
    workers.iter().map(probed_worker).collect()
}

fn probed_worker(worker: &WorkerPlan) -> ProbedWorker<'_> {
    ProbedWorker {
        spec: &worker.spec,
        engine: &worker.engine.def,
        job_index: worker.job_index as u32,
        clone_index: worker.clone_index,
        number: worker.thread_number,
        group_index: worker.group_index,
        paths: worker,
    }
}

/// All facts of a run, including the options of the jobs.
pub(crate) fn provenance(plan: &RunPlan) -> Box<Provenance> {
    crate::evidence::provenance::with_jobs(&plan.facts, &probed(&plan.workers))
}

impl TargetPaths for WorkerPlan {
    fn named(&self) -> Vec<PathBuf> {
        files::named_paths(self)
    }

    fn expected(&self, laid_out: &[PathBuf]) -> Vec<PathBuf> {
        // A job whose state of an earlier run is missing does no I/O.
        let is_traced = replay::takes_files_of_trace(self);
        if check_state(self).is_err() || (is_traced && compat::lacks_disks_of_trace(self)) {
            return Vec::new();
        }
        // A job without files so far lays them out itself, so the paths count at which they will be.
        if is_traced || laid_out.is_empty() { replay::expected_paths(self) } else { laid_out.to_vec() }
    }
}
