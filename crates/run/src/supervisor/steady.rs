//! The groups of workers whose steady state is judged together, and the workers that end because of a sample.
//!
//! Must not know: the criteria of a steady state, how workers are ended. Start reading at [`enter`], then [`take`].

use super::record::SupervisedWorker;
use super::steady_group::{Steady, SteadyGroup};
use crate::plan::RunPlan;
use ferrio_stats::{SteadySample, SteadyState};

/// Sets the groups of workers that are judged together: those that share a report.
pub(super) fn enter(plan: &RunPlan, records: &mut [SupervisedWorker]) {
    let mut first: Option<usize> = None;
    for (index, worker) in plan.workers.iter().enumerate() {
        if worker.spec.steady_state.duration_us == 0 {
            first = None;
            continue;
        }
        let joins = worker.spec.grouping.group_reporting && worker.spec.reporting.stats;
        let leader = first.filter(|first| joins && plan.workers[*first].group_index == worker.group_index);
        if let Some(leader) = leader
            && let Some(Steady::Leads(group)) = &mut records[leader].steady
        {
            group.join(index);
            records[index].steady = Some(Steady::Follows(leader));
            continue;
        }
        records[index].steady = SteadyGroup::new(index, worker).map(|group| Steady::Leads(Box::new(group)));
        if worker.spec.reporting.stats {
            first = Some(index);
        }
    }
}

/// Adds the sample of a worker; returns the workers that end because of it. Results are reported as by
/// [`SteadyGroup::take`].
pub(super) fn take(
    records: &mut [SupervisedWorker],
    index: usize,
    sample: SteadySample,
    tell: impl FnMut(usize, &SteadyState),
) -> Vec<usize> {
    let leader = match &records[index].steady {
        Some(Steady::Leads(_)) => index,
        Some(Steady::Follows(leader)) => *leader,
        None => return Vec::new(),
    };
    let Some(Steady::Leads(mut group)) = records[leader].steady.take() else { return Vec::new() };
    let is_steady = group.take(index, sample, |member| records[member].phase(), tell);
    let ending = if is_steady { group.members().collect() } else { Vec::new() };
    records[leader].steady = Some(Steady::Leads(group));
    ending
}
