//! The order in which workers start: groups, delays, and jobs that wait for others.
//!
//! Must not know: how workers are started. Start reading at [`due_to_start`].

use super::record::SupervisedWorker;
use crate::plan::RunPlan;
use std::time::Duration;

/// The workers that start now.
#[derive(Debug, Default)]
pub(super) struct DueWorkers {
    /// Their indexes, ascending.
    pub(super) workers: Vec<usize>,
    /// All jobs before this stonewall (the first one is 1) have ended, and it is not open.
    pub(super) waits_at: Option<u32>,
}

/// The workers to start when the run has gone on for `elapsed`. `open_stonewalls`: jobs behind the stonewalls after it wait, whatever has
/// ended; a stonewall before the first job holds nobody.
pub(super) fn due_to_start(
    plan: &RunPlan,
    records: &[SupervisedWorker],
    elapsed: Duration,
    open_stonewalls: u32,
) -> DueWorkers {
    let mut turn = Vec::new();
    let mut waits_at = None;
    let mut stonewall = 0;
    let elapsed_ns = elapsed.as_nanos() as u64;
    let mut earlier_have_ended = true;
    for (index, worker) in plan.workers.iter().enumerate() {
        let record = &records[index];
        stonewall += u32::from(worker.stonewall() && index > 0);
        if record.is_waiting() {
            if worker.stonewall() && !earlier_have_ended {
                break;
            }
            if stonewall > open_stonewalls {
                waits_at = earlier_have_ended.then_some(stonewall);
                break;
            }
            if elapsed_ns >= worker.start_delay_ns && waitee_has_ended(plan, records, index) {
                turn.push(index);
            }
        }
        earlier_have_ended &= record.has_ended();
    }
    debug_assert!(
        turn.is_sorted() && turn.iter().all(|index| records[*index].is_waiting()),
        "workers start once, in order"
    );
    DueWorkers { workers: turn, waits_at }
}

/// `wait_for`: true if all workers of the named job have ended.
fn waitee_has_ended(plan: &RunPlan, records: &[SupervisedWorker], index: usize) -> bool {
    let Some(name) = &plan.workers[index].spec.grouping.wait_for else { return true };
    let same = |other: &usize| plan.workers[*other].spec.name == *name;
    (0..index).filter(same).all(|other| records[other].has_ended())
}

/// Time until the next start delay is over.
pub(super) fn next_start(plan: &RunPlan, records: &[SupervisedWorker], elapsed: Duration) -> Duration {
    let elapsed_ns = elapsed.as_nanos() as u64;
    let waiting = plan.workers.iter().zip(records).filter(|(_, record)| record.is_waiting());
    let left = waiting.map(|(worker, _)| worker.start_delay_ns.saturating_sub(elapsed_ns)).filter(|ns| *ns > 0);
    left.min().map_or(Duration::MAX, Duration::from_nanos)
}
