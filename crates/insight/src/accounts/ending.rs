//! How a run has ended: as asked, or before that, and by what.
//!
//! Must not know: figures. Start reading at [`of`].

use crate::audit_input::AuditInput;
use ferrio_stats::{EndedBy, RunEnding, WorkerRecord};

/// How the run has ended. What has ended all of it comes before what has ended a job.
pub(crate) fn of(case: &AuditInput<'_>) -> RunEnding {
    let workers = &case.record.workers;
    let is_of_run = |by: &EndedBy| matches!(by, EndedBy::Request { .. } | EndedBy::Trigger);
    let of_run = workers.iter().filter_map(|worker| worker.fate.ended_by.clone()).find(is_of_run);
    let Some(by) = of_run.or_else(|| workers.iter().find_map(by_of)) else { return RunEnding::AsAsked };
    let ended: Vec<&WorkerRecord> = workers.iter().filter(|worker| by_of(worker).is_some()).collect();
    let mut jobs: Vec<String> = Vec::new();
    for worker in &ended {
        if !jobs.contains(&worker.name) {
            jobs.push(worker.name.clone());
        }
    }
    if ended.len() == workers.len() {
        jobs.clear();
    }
    RunEnding::Early { by, jobs }
}

fn by_of(worker: &WorkerRecord) -> Option<EndedBy> {
    let fate = &worker.fate;
    if let Some(signal) = fate.killed_by {
        return Some(EndedBy::Killed { signal });
    }
    if fate.failure.as_ref().is_some_and(|failure| !failure.is_stopped()) {
        return Some(EndedBy::Error);
    }
    fate.ended_by.clone()
}
