//! The files of a run that no output may replace: what it reads, and the data of its jobs.
//!
//! Must not know: outputs. Start reading at [`protected_files`].

use crate::error::RunError;
use crate::plan::{RunPlan, WorkerPlan};
use crate::replay::expected_paths;
use ferrio_spec::RunSpec;
use ferrio_sys::output::{FileRole, ProtectedPaths};
use ferrio_units::byte_text;
use std::collections::HashSet;
use std::path::PathBuf;

/// The files of a run that no output may replace. `inputs`: files that were read for its specification, such as job files.
pub fn protected_files(spec: &RunSpec, inputs: &[PathBuf]) -> Result<ProtectedPaths, RunError> {
    Ok(of_workers(&RunPlan::new(spec.clone())?.workers, inputs))
}

pub(crate) fn of_workers(workers: &[WorkerPlan], inputs: &[PathBuf]) -> ProtectedPaths {
    let inputs = inputs.iter().cloned().chain(workers.iter().flat_map(traces));
    let with_role = |role| move |path: PathBuf| (path, role);
    let mut seen = HashSet::new();
    let targets = workers.iter().filter(|worker| worker.engine.def.targets.are_files()).filter(|worker| {
        // Clones that replay the same trace use the same files, and a trace is long.
        !worker.spec.replay.is_set() || seen.insert((worker.job_index, trace(worker)))
    });
    let targets = targets.flat_map(|worker| {
        let below =
            worker.spec.target.opendirs.iter().filter_map(|tree| super::naming::files_below(tree).ok()).flatten();
        expected_paths(worker).into_iter().chain(below)
    });
    ProtectedPaths::new(inputs.map(with_role(FileRole::Input)).chain(targets.map(with_role(FileRole::Target))))
}

/// True if workers open outputs of their own, so that the kept files are looked up before the first of them starts.
pub(crate) fn have_outputs(workers: &[WorkerPlan]) -> bool {
    workers.iter().any(|worker| {
        let (spec, around) = (&worker.spec, &worker.spec.surroundings);
        let runs_commands = around.exec_prerun.is_some() || around.exec_postrun.is_some();
        spec.write_iolog.is_some() || spec.logs.is_on() || spec.verify.is_some() || runs_commands
    })
}

fn traces(worker: &WorkerPlan) -> Vec<PathBuf> {
    worker.spec.replay.traces.iter().map(|trace| PathBuf::from(byte_text::to_os_string(trace))).collect()
}

fn trace(worker: &WorkerPlan) -> Option<String> {
    let traces = &worker.spec.replay.traces;
    traces.get(worker.clone_index as usize % traces.len().max(1)).cloned()
}
