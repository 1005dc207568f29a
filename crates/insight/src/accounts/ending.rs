//! How a run has ended: as asked, or before that, and by what.
//!
//! Must not know: figures. Start reading at [`of`].

use crate::audit_input::AuditInput;
use ferrio_stats::{EndedBy, RunEnding, WorkerRecord};

/// How the run has ended. What has ended the whole run comes before what has ended a job.
pub(crate) fn of(case: &AuditInput<'_>) -> RunEnding {
    let record = case.record;
    let by_run = record.ended_by.clone();
    let is_ended = |worker: &&WorkerRecord| by_of(worker).is_some();
    let of_worker = || record.workers.iter().find_map(by_of);
    let Some(by) = by_run.or_else(of_worker) else { return RunEnding::AsAsked };
    let ended: Vec<&WorkerRecord> = record.workers.iter().filter(is_ended).collect();
    let mut jobs: Vec<String> = Vec::new();
    for worker in &ended {
        if !jobs.contains(&worker.name) {
            jobs.push(worker.name.clone());
        }
    }
    if ended.len() == record.workers.len() || ended.is_empty() {
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
