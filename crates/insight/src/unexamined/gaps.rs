//! Evidence that is missing, by its kind, with the reason.
//!
//! Must not know: which rules rest on it. Start reading at [`devices`].

use super::Gap;
use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::course::JobCourse;
use crate::measures::asked::is_held_back;
use crate::measures::ranges::range_bytes;
use crate::measures::shortfall::{is_short, is_too_little};
use crate::rules::cache::{buffered_below_page, sync_without_flush};
use crate::rules::range::same_blocks_again;
use crate::rules::target::below_unseen;
use ferrio_spec::RandomDistribution;
use ferrio_spec::engines::Targets;
use ferrio_stats::{ImprecisionReason, LayerKind, PageCache, Pressure, ProcessIo, Reading, TargetKind};
use ferrio_units::DataDirection;

/// Jobs that have moved data to or from files or devices that are not known to be in memory.
fn stored<'c, 'a>(case: &'c AuditInput<'a>) -> impl Iterator<Item = (u32, &'c AuditedJob<'a>)> {
    (0_u32..).zip(&case.jobs).filter(|(_, job)| {
        let has_moved = [DataDirection::Read, DataDirection::Write].into_iter().any(|of| job.figures(of).is_some());
        let is_in_memory = !job.places.is_empty() && job.places.iter().all(is_in_memory);
        has_moved && job.has_files() && !job.engine.moves_nothing() && !is_in_memory
    })
}

fn of_jobs<'c, 'a: 'c>(
    case: &'c AuditInput<'a>,
    reason: impl Fn(u32, &'c AuditedJob<'a>) -> Option<String>,
) -> Vec<Gap> {
    stored(case).filter_map(|(index, job)| Some(Gap::of_job(job, reason(index, job)?))).collect()
}

/// A gap of the whole run.
fn of_run(reason: Option<String>) -> Vec<Gap> {
    reason.map(|reason| Gap { job: None, reason, is_of_machine: false }).into_iter().collect()
}

/// A gap of the whole run, and of all others on this machine.
fn of_machine(reason: Option<String>) -> Vec<Gap> {
    of_run(reason).into_iter().map(|gap| Gap { is_of_machine: true, ..gap }).collect()
}

impl Gap {
    fn of_job(job: &AuditedJob<'_>, reason: String) -> Self {
        Self { job: Some(job.name.to_owned()), reason, is_of_machine: false }
    }
}

fn missing<T>(reading: Option<&Reading<T>>) -> Option<String> {
    match reading {
        None => Some("not measured".to_owned()),
        Some(Reading::Missing(reason)) => Some(reason.clone()),
        Some(Reading::Value(_)) => None,
    }
}

/// Devices whose work cannot be compared with that of a job.
pub(super) fn devices(case: &AuditInput<'_>) -> Vec<Gap> {
    of_jobs(case, |_, job| {
        if job.places.is_empty() {
            return Some("the targets were not looked at".to_owned());
        }
        let levels = case.levels(job);
        let Some(top) = levels.first() else { return Some(unseen(case, job)) };
        let is_counted = case.level_bytes(top, DataDirection::Read).is_some();
        (!is_counted).then(|| format!("{} is not counted", top.iter().copied().collect::<Vec<_>>().join(" and ")))
    })
}

/// The reason why no devices are known below a job.
fn unseen(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> String {
    let mut layers = job.places.iter().flat_map(|place| case.layers_of(place));
    let reason = layers.find_map(|layer| match layer.kind {
        LayerKind::Network => Some(format!("{}: a server on the network has them", layer.name)),
        _ => Some(format!("{}: {}", layer.name, below_unseen::reason(layer)?)),
    });
    let path = job.places.first().map_or("", |place| place.path.as_str());
    reason.unwrap_or_else(|| format!("no device with counters is known below {path}"))
}

pub(super) fn page_cache(case: &AuditInput<'_>) -> Vec<Gap> {
    let cache: Option<&PageCache> = case.page_cache();
    let reason = missing(cache.map(|cache| &cache.machine)).or_else(|| missing(cache.map(|cache| &cache.files)));
    of_run(reason.filter(|_| stored(case).any(|(_, job)| uses_cache(job.engine.targets))))
}

fn uses_cache(targets: Targets) -> bool {
    targets.are_opened_by_run() && !targets.are_passthrough()
}

/// Extents of the files that a job reads or writes, or of the files behind the loop devices below those that it reads.
pub(super) fn extents(case: &AuditInput<'_>) -> Vec<Gap> {
    of_jobs(case, |_, job| {
        if job.figures(DataDirection::Write).is_some() {
            let mut written = job.places.iter().filter(|place| place.kind == TargetKind::File && !is_in_memory(place));
            if let Some(reason) = written.find_map(|place| missing(Some(&place.now.extents))) {
                return Some(reason);
            }
        }
        job.figures(DataDirection::Read)?;
        let files = job.places.iter().filter(|place| place.kind == TargetKind::File && !is_in_memory(place));
        let mut files = files.filter(|place| place.before.size_bytes > 0);
        let of_file = files.find_map(|place| missing(Some(&place.before.extents)));
        let backings =
            job.places.iter().flat_map(|place| case.layers_of(place)).filter_map(|layer| layer.backing.as_ref());
        let mut of_backings =
            backings.filter_map(|backing| Some(format!("{}: {}", backing.path, missing(Some(&backing.extents))?)));
        of_file.or_else(|| of_backings.next())
    })
}

/// Contents of blocks, which are looked at after jobs that only read.
pub(super) fn contents(case: &AuditInput<'_>) -> Vec<Gap> {
    let samples = case.record.evidence.read_samples.as_deref();
    let is_known = |index: u32| samples.unwrap_or_default().iter().any(|sample| sample.job_index == index);
    of_jobs(case, |index, job| {
        let only_reads = !job.does(DataDirection::Write) && !job.does(DataDirection::Trim);
        let is_about = only_reads && job.engine.data.is_kept() && !job.spec.replay.is_set();
        (is_about && !is_known(index)).then(|| "no block of the targets could be looked at after the run".to_owned())
    })
}

pub(super) fn accounts(case: &AuditInput<'_>) -> Vec<Gap> {
    let io: Option<&ProcessIo> = case.record.evidence.process_io.as_ref();
    of_run(missing(io.map(|io| &io.total)).filter(|_| stored(case).next().is_some()))
}

/// Jobs without intervals. What holds a job back on purpose also decides about its course.
pub(super) fn course(case: &AuditInput<'_>) -> Vec<Gap> {
    let jobs = (0_u32..).zip(&case.jobs).filter(|(_, job)| !is_held_back(job) && !job.engine.moves_nothing());
    let with_io = jobs.filter(|(_, job)| DataDirection::ALL.into_iter().any(|of| job.figures(of).is_some()));
    let gap = |(index, job): (u32, &AuditedJob<'_>)| {
        let series = case.record.series.iter().find(|series| series.job_index == index);
        let reason = match series.map(JobCourse::of) {
            None => "its intervals were not recorded",
            Some(Err(ImprecisionReason::ClonesApart)) => "its clones ran at different times",
            Some(Err(_)) => "it was too short",
            Some(Ok(_)) => return None,
        };
        Some(Gap::of_job(job, reason.to_owned()))
    };
    with_io.filter_map(gap).collect()
}

pub(super) fn earlier_runs(case: &AuditInput<'_>) -> Vec<Gap> {
    let is_remembered = case.record.evidence.earlier_runs.is_some();
    of_jobs(case, |_, job| {
        let is_about = same_blocks_again::may_hit_caches(job);
        (is_about && !is_remembered).then(|| "earlier runs are not remembered".to_owned())
    })
}

pub(super) fn host_cpu(case: &AuditInput<'_>) -> Vec<Gap> {
    of_run(missing(case.host_cpu().map(|cpu| &cpu.machine)))
}

pub(super) fn pressure(case: &AuditInput<'_>) -> Vec<Gap> {
    let pressure: Option<&Pressure> = case.record.evidence.pressure.as_ref();
    let of_all = missing(pressure.map(|pressure| &pressure.machine.memory));
    let of_group = missing(pressure.map(|pressure| &pressure.cgroup.memory));
    of_machine(of_all.filter(|_| of_group.is_some()))
}

pub(super) fn clock(case: &AuditInput<'_>) -> Vec<Gap> {
    let is_measured = case.record.evidence.host_clock.is_some();
    of_run((!is_measured).then(|| "not measured".to_owned()))
}

/// Heat of drives and CPUs: of runs with storage, because a run in memory is over before anything is hot.
pub(super) fn heat(case: &AuditInput<'_>) -> Vec<Gap> {
    if stored(case).next().is_none() {
        return Vec::new();
    }
    let heat = case.record.evidence.heat.as_ref();
    match heat {
        None => of_run(Some("only ferrio run, and --record, ask the sensors".to_owned())),
        Some(heat) if heat.cpu_throttled_ms.is_some() || !heat.drives.is_empty() => Vec::new(),
        Some(_) => of_machine(Some("neither its CPUs nor its drives tell theirs".to_owned())),
    }
}

/// Jobs with blocks below a page whose account also has the I/O of others.
pub(super) fn parts_of_pages(case: &AuditInput<'_>) -> Vec<Gap> {
    let reason = || "the kernel's account of the run also has the I/O of other jobs, or of a verification".to_owned();
    let is_about = |job: &AuditedJob<'_>| buffered_below_page::is_blind(case, job);
    of_jobs(case, |_, job| is_about(job).then(reason))
}

/// Devices of jobs with syncs whose flushes are not counted.
pub(super) fn flushes(case: &AuditInput<'_>) -> Vec<Gap> {
    of_jobs(case, |_, job| sync_without_flush::flushes(case, job)?.err().map(|why| why.to_string()))
}

/// Targets of which nothing is known.
pub(super) fn targets(case: &AuditInput<'_>) -> Vec<Gap> {
    of_jobs(case, |_, job| job.places.is_empty().then(|| "they were not looked at".to_owned()))
}

/// Ranges of jobs that may come back to the same blocks.
pub(super) fn ranges(case: &AuditInput<'_>) -> Vec<Gap> {
    of_jobs(case, |_, job| {
        let reads = job.spec.durability.direct && job.figures(DataDirection::Read).is_some();
        let trims = !job.does(DataDirection::Write) && job.figures(DataDirection::Trim).is_some();
        let is_skewed = job.spec.pattern.random && job.spec.pattern.distribution != RandomDistribution::Uniform;
        if job.spec.replay.is_set() || job.places.is_empty() || !(reads || trims || is_skewed) {
            return None;
        }
        match () {
            () if job.has_more_files => Some("only a part of the files was looked at".to_owned()),
            () if range_bytes(case, job).is_none() => Some("the size of the targets is not known".to_owned()),
            () => None,
        }
    })
}

/// Turns on a CPU, without which the wait for one is not known.
pub(super) fn cpu_turns(case: &AuditInput<'_>) -> Vec<Gap> {
    let is_blind = |job: &AuditedJob<'_>| job.total.as_ref().is_some_and(|total| total.usage.cpu_turns.is_none());
    let is_timed = case.provenance.clock.source != "virtual";
    of_machine((is_timed && case.jobs.iter().any(is_blind)).then(|| "the kernel does not tell them".to_owned()))
}

/// Jobs that are threads whose reads others of the process have done, for one of several such jobs.
pub(super) fn reads_of_threads(case: &AuditInput<'_>) -> Vec<Gap> {
    let is_about = |job: &AuditedJob<'_>| job.has_threads_read() && job.figures(DataDirection::Read).is_some();
    if case.jobs.iter().filter(|job| is_about(job)).count() < 2 {
        return Vec::new();
    }
    of_jobs(case, |_, job| {
        let claimed = job.figures(DataDirection::Read).filter(|_| is_about(job))?.bytes;
        let own = job.own_reads(case).filter(|_| !is_short(case, job))?;
        let is_open = is_too_little(own.least, claimed) && !is_too_little(own.most, claimed);
        is_open.then(|| {
            "threads that serve several jobs have read them; without thread=1 each job has its own account".to_owned()
        })
    })
}
