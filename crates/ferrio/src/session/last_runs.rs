//! The last run on each target, remembered from one native run to the next, to know when the same blocks are read again.
//!
//! The history of the user has them (`FERRIO_STATE=off` does without). A history that cannot be read or written changes nothing.
//! Must not know: rules, how they are stored. Start reading at [`look_up`] and [`look_back`].

use crate::history::{HistoryError, HistoryPlace, LastRun, RunHistory, TargetState, last_runs};
use ferrio_stats::{EarlierRun, RunRecord};
use std::path::Path;
use std::time::SystemTime;

/// A job's target and I/Os, now.
struct JobNow {
    job_index: u32,
    target: TargetState,
    pattern: String,
}

/// Adds to the record which of its jobs have the I/Os of the last run on their targets.
pub(crate) fn look_up(record: &mut RunRecord) {
    let Ok(place) = HistoryPlace::of_user() else { return };
    let memory = last_runs(&place).unwrap_or_default();
    let earlier = earlier_runs(&memory, &jobs_now(record), now_secs());
    // An empty list says that the memory was looked at.
    record.evidence.earlier_runs = Some(earlier);
}

/// Compares a run that is over with the last runs on its targets, and remembers it.
pub(crate) fn look_back(record: &mut RunRecord) -> Result<(), HistoryError> {
    look_up(record);
    remember(record)
}

fn remember(record: &RunRecord) -> Result<(), HistoryError> {
    let (Ok(place), jobs) = (HistoryPlace::of_user(), jobs_now(record)) else { return Ok(()) };
    if jobs.is_empty() {
        return Ok(());
    }
    let ended_secs = now_secs();
    let last_run = |JobNow { target, pattern, .. }| LastRun { target, pattern, ended_secs };
    let runs: Vec<LastRun> = jobs.into_iter().map(last_run).collect();
    RunHistory::open_or_make(&place)?.remember(&place, &runs)
}

fn earlier_runs(memory: &[LastRun], jobs: &[JobNow], now_secs: u64) -> Vec<EarlierRun> {
    let of_job = |job: &JobNow| {
        let last = memory.iter().find(|last| last.target == job.target && last.pattern == job.pattern)?;
        let seconds_ago = now_secs.saturating_sub(last.ended_secs);
        Some(EarlierRun { job_index: job.job_index, path: job.target.path.display().to_string(), seconds_ago })
    };
    jobs.iter().filter_map(of_job).collect()
}

/// The jobs with the first of their targets.
fn jobs_now(record: &RunRecord) -> Vec<JobNow> {
    let Some(provenance) = &record.provenance else { return Vec::new() };
    let of_job = |targets: &ferrio_stats::JobTargets| {
        let job = provenance.jobs.get(usize::try_from(targets.job_index).ok()?)?;
        let spec = job.options.as_deref()?;
        let pattern =
            (&spec.pattern, &spec.extent, &spec.zones, spec.numjobs, spec.durability.direct, job.first_number);
        let target = TargetState::of(Path::new(&targets.places.first()?.path))?;
        Some(JobNow { job_index: targets.job_index, target, pattern: serde_json::to_string(&pattern).ok()? })
    };
    record.targets().iter().filter_map(of_job).collect()
}

fn now_secs() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn job(name: &str, pattern: &str, modified: i64) -> JobNow {
        let path = PathBuf::from(format!("/data/{name}"));
        let target = TargetState { path, device: 1, inode: 2, size_bytes: 3, modified: (modified, 0) };
        JobNow { job_index: 0, target, pattern: pattern.to_owned() }
    }

    #[test]
    fn the_last_run_on_a_target_counts_until_the_target_changes() {
        let JobNow { target, pattern, .. } = job("a", "reads", 5);
        let memory = [LastRun { target, pattern, ended_secs: 100 }];
        let again = |job| earlier_runs(&memory, &[job], 160);
        assert_eq!(again(job("a", "reads", 5))[0].seconds_ago, 60);
        assert_eq!(again(job("a", "reads", 6)), []);
        assert_eq!(again(job("a", "other reads", 5)), []);
        assert_eq!(again(job("b", "reads", 5)), []);
    }
}
