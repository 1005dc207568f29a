//! The sum of the jobs of all groups (`report_total`).
//!
//! Groups ran one after another, so their times are added, where the members of a group count by the longest time.
//! Must not know: how the sum is printed. Start reading at [`TotalReport`].

use super::JobReport;
use ferrio_stats::{DirectionStats, PriorityStats, SampleStat, ThreadStats, WorkerRecord};
use ferrio_units::PerDirection;
use std::borrow::Cow;
use std::collections::BTreeMap;

const NS_PER_MS: u64 = 1_000_000;

/// The jobs with `report_total`, summed.
#[derive(Debug, Clone, PartialEq)]
pub struct TotalReport<'a> {
    /// The sum as a block of a report, with the settings of the first job. The runtime of a direction is the sum of its times in the
    /// groups. It has no samples of rates: those of a group say nothing about another.
    pub job: JobReport<'a>,
    pub n_groups: u32,
    /// All directions joined; `None`: the first job does not have `unified_rw_reporting=both`.
    pub mixed: Option<DirectionStats>,
}

/// The sum; `None`: no job that is reported asks for it.
pub(super) fn report(workers: &[WorkerRecord]) -> Option<TotalReport<'_>> {
    let members = members(workers);
    let settings = &members.first()?.settings;
    let groups = groups(&members, settings.unified_mixed);
    let n_groups = u32::try_from(groups.len()).unwrap_or(u32::MAX);
    let mixed = settings.unified_both.then(|| in_sequence(groups.iter().map(ThreadStats::unified)));
    let stats = sum(groups)?;
    let n_members = u32::try_from(members.len()).unwrap_or(u32::MAX);
    let job =
        JobReport { n_members, settings: Cow::Borrowed(settings), stats: Cow::Owned(stats), ..JobReport::default() };
    Some(TotalReport { job, n_groups, mixed })
}

/// Number of members, and their sum with the directions apart; `None`: no job that is reported asks for it.
pub(crate) fn apart(workers: &[WorkerRecord]) -> Option<(usize, ThreadStats)> {
    let members = members(workers);
    Some((members.len(), sum(groups(&members, false))?))
}

fn members(workers: &[WorkerRecord]) -> Vec<&WorkerRecord> {
    workers.iter().filter(|worker| worker.settings.report_total && worker.settings.is_reported).collect()
}

/// The sums of the groups; `unifies`: all directions of each become one.
fn groups(members: &[&WorkerRecord], unifies: bool) -> Vec<ThreadStats> {
    let mut groups: BTreeMap<u32, ThreadStats> = BTreeMap::new();
    for member in members {
        match groups.get_mut(&member.group_index) {
            Some(group) => group.merge(&member.stats),
            None => {
                groups.insert(member.group_index, (*member.stats).clone());
            }
        }
    }
    if unifies {
        groups.values_mut().for_each(ThreadStats::unify);
    }
    groups.into_values().collect()
}

/// The sum of groups that ran one after another.
fn sum(groups: Vec<ThreadStats>) -> Option<ThreadStats> {
    let mut directions = PerDirection::<DirectionStats>::default();
    for (index, sum) in directions.0.iter_mut().enumerate() {
        *sum = in_sequence(groups.iter().map(|group| group.directions.0[index].clone()));
    }
    let mut stats = groups.into_iter().reduce(|mut sum, group| {
        sum.merge(&group);
        sum
    })?;
    stats.directions = directions;
    Some(stats)
}

/// A direction of groups that ran one after another: times are added as they are shown, in whole milliseconds.
fn in_sequence(groups: impl Iterator<Item = DirectionStats>) -> DirectionStats {
    let mut runtime_ms: u64 = 0;
    let mut sum = DirectionStats::default();
    for group in groups {
        runtime_ms = runtime_ms.saturating_add(group.runtime_ms());
        sum.merge(&group);
    }
    sum.runtime_ns = runtime_ms.saturating_mul(NS_PER_MS);
    (sum.bw, sum.iops, sum.priorities) = (SampleStat::default(), SampleStat::default(), PriorityStats::default());
    sum
}
