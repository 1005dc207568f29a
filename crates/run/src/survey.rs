//! Collects facts about the targets of a run without running it: no file is created or opened for writing, and no job
//! is started.
//!
//! Must not know: conclusions from the facts. Start reading at [`survey`].

mod obstacles;

use crate::error::RunError;
use crate::files::size::{self, SetupWait};
use crate::files::{guard, naming};
use crate::layout;
use crate::plan::{RunPlan, WorkerPlan};
use crate::probed::{probed, provenance};
use ferrio_spec::RunSpec;
use ferrio_stats::note::{DeviceUsage, FileNote};
use ferrio_stats::{Evidence, LaidOver, Provenance, RunRecord, TargetKind};
use ferrio_sys::Clock;
use ferrio_sys::mounts::DeviceUse;
use std::cell::Cell;

/// The record of a run that has not begun: provenance, with the options of the jobs, and the targets that they name. It has no
/// workers. `readonly`: as [`RunSettings::readonly`](crate::supervisor::RunSettings::readonly).
pub fn survey(spec: RunSpec, command_line: &[String], readonly: bool) -> Result<RunRecord, RunError> {
    let global_options = spec.global_options.clone();
    let from_environment = spec.from_environment.clone();
    let late_globals = spec.late_globals.clone();
    let mut plan = RunPlan::new(spec)?;
    let facts = crate::evidence::provenance::collect(&probed(&plan.workers), command_line, &Clock::new(), &|_| ());
    plan.facts = Provenance { from_environment, late_globals, ..facts };
    let mut evidence = crate::evidence::targets_without_run(&probed(&plan.workers));
    note_claimed(&mut evidence, &plan.workers);
    evidence.laid_over = plan.workers.iter().flat_map(laid_over).collect();
    plan.facts.obstacles = obstacles::find(&plan, readonly);
    Ok(RunRecord { global_options, provenance: Some(provenance(&plan)), evidence, ..RunRecord::default() })
}

/// The files with data that the layout of a job would replace or make longer. Nothing, where its files are not to be found yet.
fn laid_over(worker: &WorkerPlan) -> Vec<LaidOver> {
    if worker.spec.replay.is_set()
        || worker.engine.def.moves_nothing()
        || worker.engine.def.targets.are_sized_by_engine()
    {
        return Vec::new();
    }
    let targets = naming::found(worker).ok();
    let set = targets.and_then(|targets| {
        size::file_set(worker, &targets, SetupWait { stop: &|| false, in_vain: &Cell::default() }).ok()
    });
    set.map(|set| layout::laid_over(worker, &set)).unwrap_or_default()
}

/// Notes a device that cannot be written to because of a user that only the kernel sees. A run finds it before it writes to a device.
fn note_claimed(evidence: &mut Evidence, workers: &[WorkerPlan]) {
    let refusal = guard::check_devices(workers, &|_| ());
    if let Some(FileNote::InUse { path, usage: DeviceUsage::Claimed }) = refusal.map(|refusal| refusal.note) {
        let places = evidence.targets.iter_mut().flatten().flat_map(|job| &mut job.places);
        let places = places.filter(|place| place.kind == TargetKind::Block && place.path == path);
        places.for_each(|place| place.used = Some(DeviceUse::Claimed.to_string()));
    }
}
