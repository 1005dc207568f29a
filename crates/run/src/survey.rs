//! Collects facts about the targets of a run without running it: no file is created or opened for writing, and no job
//! is started.
//!
//! Must not know: conclusions from the facts. Start reading at [`survey`].

use crate::error::RunError;
use crate::plan::RunPlan;
use crate::probe::targets;
use crate::provenance;
use ferrio_spec::RunSpec;
use ferrio_stats::RunRecord;
use ferrio_sys::Clock;

/// The record of a run that has not begun: provenance, with the options of the jobs, and the targets that they name. It has no
/// workers.
///
/// # Errors
/// The run cannot be planned.
pub fn survey(spec: RunSpec, command_line: &[String]) -> Result<RunRecord, RunError> {
    let global_options = spec.global_options.clone();
    let mut plan = RunPlan::new(spec)?;
    plan.facts = provenance::collect(&plan, command_line, &Clock::new(), &|_| ());
    Ok(RunRecord {
        global_options,
        provenance: Some(provenance::with_jobs(&plan)),
        evidence: targets::of_workers(&plan.workers),
        ..RunRecord::default()
    })
}
