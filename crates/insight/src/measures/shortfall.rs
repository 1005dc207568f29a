//! The devices' work against the work that jobs claim: bytes that no device has seen.
//!
//! Must not know: the causes. Start reading at [`shortfalls`].

use super::asked::waits_at_end;
use super::kept::Shortfall;
use super::page_cache::WaitingWrites;
use super::ranges::range_bytes;
use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::stack::Level;
use ferrio_units::DataDirection;
use std::collections::BTreeSet;

/// Less than this share of the claimed bytes is a contradiction. Counters are read before and after, so the rest is no noise.
pub(crate) const SHARE: f64 = 0.9;
/// A report of fio may lack what the disks did in this time, because it looks at their counters four times a second.
const UNSEEN_SECONDS: f64 = 0.5;
/// No more than this is taken for the work of a closing sync that the report does not tell of, bytes: a fast disk writes it in that time.
const UNTOLD_SYNC_BYTES: u64 = 1 << 30;
/// Fewer bytes than this are not worth a word.
const LEAST_BYTES: u64 = 1 << 20;

/// So few bytes of storage contradict the bytes of a job.
pub(crate) fn is_too_little(stored_bytes: u64, claimed_bytes: u64) -> bool {
    (stored_bytes as f64) < claimed_bytes as f64 * SHARE
}

/// What the devices of each level have not seen. What is missing at a level is missing below it, and is named once.
pub(crate) fn shortfalls<'c>(case: &'c AuditInput<'_>) -> &'c [Shortfall] {
    case.kept.shortfalls.get_or_init(|| {
        let directions = [DataDirection::Read, DataDirection::Write].into_iter();
        // Writes that wait in the page cache will reach the devices later.
        let directions =
            directions.filter(|direction| *direction == DataDirection::Read || WaitingWrites::of(case).is_none());
        directions.flat_map(|direction| of_direction(case, direction)).collect()
    })
}

/// Some bytes of a job are missing.
pub(crate) fn is_short(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> bool {
    shortfalls(case).iter().any(|found| found.job_indices.contains(&(job.index as usize)))
}

/// A job with the levels of devices below it.
struct Claim<'c, 'a> {
    job: &'c AuditedJob<'a>,
    levels: Vec<Level<'a>>,
}

fn of_direction(case: &AuditInput<'_>, direction: DataDirection) -> Vec<Shortfall> {
    let is_claim =
        |job: &&AuditedJob<'_>| job.moves_data() && !job.expects_memory() && job.figures(direction).is_some();
    let jobs = case.jobs.iter().filter(is_claim);
    let claims: Vec<Claim<'_, '_>> = jobs.map(|job| Claim { job, levels: case.levels(job) }).collect();
    let n_levels = claims.iter().map(|claim| claim.levels.len()).max().unwrap_or(0);
    let (mut found, mut is_named) = (Vec::new(), vec![false; claims.len()]);
    for depth in 0..n_levels {
        let levels: BTreeSet<&Level<'_>> = claims.iter().filter_map(|claim| claim.levels.get(depth)).collect();
        for level in levels {
            let is_here = |claim: &Claim<'_, '_>| claim.levels.iter().any(|its| its.is_subset(level));
            let here: Vec<usize> = (0..claims.len()).filter(|index| is_here(&claims[*index])).collect();
            if here.iter().any(|index| is_named[*index]) {
                continue;
            }
            let is_of_own = direction == DataDirection::Read && depth == 0;
            let found_here = if is_of_own {
                by_own_bytes(case, level, &claims, &here)
            } else {
                gap(case, direction, level, &jobs_of(&claims, &here)).map(|gap| (gap, here))
            };
            let Some((gap, here)) = found_here else { continue };
            for index in &here {
                is_named[*index] = true;
            }
            let upper = here.iter().find_map(|index| claims[*index].levels.get(depth.checked_sub(1)?));
            found.push(Shortfall {
                depth,
                direction,
                level: names(level),
                upper: upper.map(names),
                job_indices: here.iter().map(|index| claims[*index].job.index as usize).collect(),
                claimed_bytes: gap.claimed_bytes,
                device_bytes: gap.device_bytes,
            });
        }
    }
    found
}

fn names(level: &Level<'_>) -> Vec<String> {
    level.iter().map(|&name| name.to_owned()).collect()
}

fn jobs_of<'c, 'a>(claims: &[Claim<'c, 'a>], indices: &[usize]) -> Vec<&'c AuditedJob<'a>> {
    indices.iter().map(|index| claims[*index].job).collect()
}

/// Reads that no device has served, and their jobs. A job whose own bytes are known is judged by these, because the devices have also
/// read for others: other jobs and programs, and the preparation of the run.
fn by_own_bytes(
    case: &AuditInput<'_>,
    level: &Level<'_>,
    claims: &[Claim<'_, '_>],
    here: &[usize],
) -> Option<(Gap, Vec<usize>)> {
    let claimed = |index: &usize| claims[*index].job.figures(DataDirection::Read).map_or(0, |figures| figures.bytes);
    let own = |index: &usize| claims[*index].job.own_reads(case);
    let gap = |jobs: &[usize], device_bytes: u64| Gap {
        claimed_bytes: sum(jobs.iter().map(claimed)),
        device_bytes,
        unseen: 0,
    };
    let (known, unknown): (Vec<usize>, Vec<usize>) = here.iter().partition(|index| own(index).is_some());
    let is_short = |index: &usize, bytes: u64| is_too_little(bytes, claimed(index));
    let is_cached = |index: &usize| own(index).is_some_and(|own| is_short(index, own.most));
    let cached: Vec<usize> = known.iter().copied().filter(is_cached).collect();
    let of_known = gap(&cached, sum(cached.iter().filter_map(own).map(|own| own.most)));
    if of_known.is_wide() {
        return Some((of_known, cached));
    }
    // What no worker has read itself was read for one of these, and not for all of them.
    let is_open = |index: &usize| own(index).is_some_and(|own| own.most > own.least && is_short(index, own.least));
    let open: Vec<usize> = known.iter().copied().filter(is_open).collect();
    let least = |jobs: &[usize]| sum(jobs.iter().filter_map(own).map(|own| own.least));
    let of_open = gap(&open, least(&open).saturating_add(case.unclaimed_read_bytes().unwrap_or(u64::MAX)));
    if of_open.is_wide() {
        return Some((of_open, open));
    }
    let unseen_bytes = unseen_bytes(case, DataDirection::Read, &jobs_of(claims, &unknown));
    let level_bytes = case.level_bytes(level, DataDirection::Read)?;
    let of_unknown = Gap { unseen: unseen_bytes, ..gap(&unknown, level_bytes.saturating_sub(least(&known))) };
    of_unknown.is_wide().then_some((of_unknown, unknown))
}

/// Bytes of jobs, and bytes of the devices below them.
struct Gap {
    claimed_bytes: u64,
    /// As they are counted, and shown.
    device_bytes: u64,
    /// Bytes that may be missing in the counters.
    unseen: u64,
}

impl Gap {
    fn is_wide(&self) -> bool {
        let most_bytes = self.device_bytes.saturating_add(self.unseen);
        self.claimed_bytes >= LEAST_BYTES && is_too_little(most_bytes, self.claimed_bytes)
    }
}

/// The bytes of the jobs and those of the devices, if these are too few.
fn gap(case: &AuditInput<'_>, direction: DataDirection, level: &Level<'_>, jobs: &[&AuditedJob<'_>]) -> Option<Gap> {
    let (device_bytes, unseen_bytes) = (case.level_bytes(level, direction)?, unseen_bytes(case, direction, jobs));
    let claimed_bytes = sum(jobs.iter().filter_map(|job| job.figures(direction)).map(|figures| figures.bytes));
    Some(Gap { claimed_bytes, device_bytes, unseen: unseen_bytes }).filter(Gap::is_wide)
}

/// Bytes that the devices may have moved beside their counters: none in a run of ferrio, which reads them before and after the jobs.
pub(crate) fn unseen_bytes(case: &AuditInput<'_>, direction: DataDirection, jobs: &[&AuditedJob<'_>]) -> u64 {
    if !case.is_reported() {
        return 0;
    }
    let of_job = |job: &&AuditedJob<'_>| {
        let bytes = job.figures(direction).map_or(0, |figures| figures.bytes);
        let at_end = if direction == DataDirection::Write { closing_sync_bytes(case, job) } else { 0 };
        ((bytes as f64 * unseen_share(job, direction)) as u64).max(at_end.min(bytes))
    };
    sum(jobs.iter().map(of_job))
}

/// The most that a sync at the end of a job can write: each block of its range once. All of it may happen behind the last look at the counters.
fn closing_sync_bytes(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> u64 {
    match () {
        () if case.lacks_options() => UNTOLD_SYNC_BYTES,
        () if job.is_buffered() && waits_at_end(job) => range_bytes(case, job).unwrap_or(u64::MAX),
        () => 0,
    }
}

/// The share of a job's work that the counters of disks in a report may lack.
pub(crate) fn unseen_share(job: &AuditedJob<'_>, direction: DataDirection) -> f64 {
    UNSEEN_SECONDS / job.seconds(direction).max(UNSEEN_SECONDS)
}
