//! Other programs that use the device during the run.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation, OutsideLoad};
use crate::stack::Level;
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{IoCounters, Measured, Severity, TargetKind};
use ferrio_units::DataDirection;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "other-users",
    title: "Others used the device during the run",
    severity: Severity::Misleading,
    what: "The bytes that the device under the files has read and written, and those that the kernel charges to the processes of the run \
           (/proc/PID/io). Writes are compared where no file system can have caused them: on a device without one, and in runs that only \
           read, less the data that waited to be written at the start. Where one job reads from a loop device, or from one of several \
           disks, the disks below it are compared too. It is reported from 30 % of the bytes of the jobs and 64 MiB on.",
    why: "The device shared its time among the jobs and others, so its own limits are above these figures.",
    example: "--name=a --filename=/dev/sdX --rw=randread --direct=1   (while a backup reads from the same disk)",
    cure: "Repeat the run while nothing else uses the device; `pidstat -d 1` shows which programs do.",
    needs: &[EvidenceKind::Devices, EvidenceKind::Accounts],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Disturbed(OutsideLoad::Device { others: &BY_OTHERS, own: &BY_JOBS }),
    yields_to: &["memory-as-expected"],
    find,
};

/// Others that move less than this share of the jobs' bytes have little effect.
const SHARE: f64 = 0.3;
/// Less than this is what a machine does that is left alone: logs, caches of programs.
const LEAST_BYTES: u64 = 64 << 20;

/// Names of the measured values: bytes of others (read, written, read below the upper devices), and of the jobs (read, both).
const BY_OTHERS: [&str; 3] = ["read by others", "written by others", "read by others below"];
const BY_JOBS: [&str; 2] = ["read by the job", "read and written by the jobs"];

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    // A worker that still runs is not among the charged processes.
    if case.record.workers.iter().any(|worker| !worker.fate.has_ended) {
        return Vec::new();
    }
    let Some(own) = case.charged() else { return Vec::new() };
    let with_levels = case.jobs.iter().filter_map(|job| Some((job, case.levels(job).into_iter().next()?)));
    let jobs: Vec<(&AuditedJob<'_>, Level<'_>)> = with_levels.collect();
    let levels: BTreeSet<&Level<'_>> = jobs.iter().map(|(_, level)| level).collect();
    let on_level = |level: &&Level<'_>| {
        let here: Vec<&AuditedJob<'_>> = jobs.iter().filter(|(_, its)| its == *level).map(|(job, _)| *job).collect();
        of_level(case, own, level, &here)
    };
    let found: Vec<Observation> = levels.iter().filter_map(on_level).collect();
    if found.is_empty() { below(case, &jobs) } else { found }
}

/// Reads of others on the devices below those of the jobs, as on the disk that has the file behind a loop device. What comes through the
/// upper devices is not theirs. Writes are left out, because a file system or a RAID writes more than it is given.
fn below(case: &AuditInput<'_>, jobs: &[(&AuditedJob<'_>, Level<'_>)]) -> Vec<Observation> {
    let mut found: BTreeMap<Level<'_>, Observation> = BTreeMap::new();
    for (job, _) in jobs {
        let levels = case.levels(job);
        for pair in levels.windows(2) {
            let only_reads = !job.does(DataDirection::Write) && !job.does(DataDirection::Trim);
            let is_single = jobs.len() == 1 && only_reads && !is_cached(case, &pair[0]);
            let Some(observation) = of_pair(case, &pair[0], &pair[1], job).filter(|_| is_single) else { continue };
            found.entry(pair[1].clone()).or_insert(observation);
        }
    }
    found.into_values().collect()
}

/// A cache fills itself, and a volume of several parts reads its tables.
fn is_cached(case: &AuditInput<'_>, level: &Level<'_>) -> bool {
    level.iter().filter_map(|name| case.layer(name)).any(|layer| layer.cache.is_some() || layer.is_thin)
}

fn of_pair(case: &AuditInput<'_>, upper: &Level<'_>, lower: &Level<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let all = job.figures(DataDirection::Read)?.bytes;
    let passed = case.level_bytes(upper, DataDirection::Read)?.max(all);
    let others = case.level_bytes(lower, DataDirection::Read)?.saturating_sub(passed);
    if others < LEAST_BYTES || (others as f64) < all as f64 * SHARE {
        return None;
    }
    let devices = |level: &Level<'_>| level.iter().copied().collect::<Vec<_>>().join(" and ");
    let explanation = format!(
        "Others have read {} on {} during the run, below {} with its {}.",
        text::bytes(others),
        devices(lower),
        devices(upper),
        text::bytes(all)
    );
    let evidence = vec![Measured::bytes(BY_JOBS[0], all), Measured::bytes(BY_OTHERS[2], others)];
    Some(Observation::of(job, evidence, explanation))
}

fn of_level(
    case: &AuditInput<'_>,
    own: &IoCounters,
    level: &Level<'_>,
    jobs: &[&AuditedJob<'_>],
) -> Option<Observation> {
    let claimed = |direction| sum(jobs.iter().filter_map(|job| job.figures(direction)).map(|figures| figures.bytes));
    let all = claimed(DataDirection::Read).saturating_add(claimed(DataDirection::Write));
    let devices = level.iter().copied().collect::<Vec<_>>().join(" and ");
    let read = case.level_bytes_once(level, DataDirection::Read)?;
    let read = read.saturating_sub(own.read_bytes.max(claimed(DataDirection::Read)));
    let written = written_by_others(case, own, level, jobs, claimed(DataDirection::Write)).unwrap_or(0);
    let others = read.saturating_add(written);
    if all == 0 || others < LEAST_BYTES || (others as f64) < all as f64 * SHARE {
        return None;
    }
    let explanation = format!(
        "Others have read {} and written {} on {devices} during the run, beside the {} of the jobs.",
        text::bytes(read),
        text::bytes(written),
        text::bytes(all)
    );
    let evidence = vec![
        Measured::bytes(BY_JOBS[1], all),
        Measured::bytes(BY_OTHERS[0], read),
        Measured::bytes(BY_OTHERS[1], written),
    ];
    Some(Observation::of_jobs(jobs.iter().copied(), evidence, explanation))
}

/// `None`: the journal and the metadata of a file system may have caused the writes.
fn written_by_others(
    case: &AuditInput<'_>,
    own: &IoCounters,
    level: &Level<'_>,
    jobs: &[&AuditedJob<'_>],
    claimed: u64,
) -> Option<u64> {
    let is_bare = jobs.iter().all(|job| job.places.iter().all(|place| place.kind == TargetKind::Block));
    let only_read = jobs.iter().all(|job| !job.does(DataDirection::Write) && !job.does(DataDirection::Trim));
    if !is_bare && !only_read {
        return None;
    }
    let waited = case.page_cache()?.machine.value()?.dirty_before_bytes;
    let known = own.write_bytes.max(claimed).saturating_add(waited);
    Some(case.level_bytes_once(level, DataDirection::Write)?.saturating_sub(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{MIB, TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{CacheCourse, LayerKind, PageCache, ProcessIo, Reading, StorageLayer};

    fn scene(mix: DirectionMix, disk: [u64; 2], own_read: u64, waited: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", mix));
        scene.disk_bytes = disk;
        let counters = IoCounters { read_bytes: own_read, ..IoCounters::default() };
        scene.record.evidence.process_io = Some(ProcessIo { total: Reading::Value(counters), workers: vec![] });
        let course = CacheCourse { dirty_before_bytes: waited, ..CacheCourse::default() };
        scene.record.evidence.page_cache = Some(PageCache {
            machine: Reading::Value(course),
            files_before: Reading::default(),
            files: Reading::default(),
        });
        scene
    }

    #[test]
    fn reads_that_are_charged_to_nobody_here_are_of_others() {
        let found = |disk: u64, own: u64| scene(DirectionMix::Read, [disk, 0], own, 0).found();
        assert_eq!(found(164 * MIB, 100 * MIB), ["other-users"]);
        assert_eq!(found(164 * MIB - 512, 100 * MIB), Vec::<String>::new());
        // Read-ahead is charged to the reader.
        assert_eq!(found(300 * MIB, 300 * MIB), Vec::<String>::new());
    }

    #[test]
    fn writes_count_where_the_jobs_only_read() {
        let found = |mix, waited| scene(mix, [100 * MIB, 180 * MIB], 100 * MIB, waited).found();
        assert_eq!(found(DirectionMix::Read, 0), ["other-users"]);
        // Written back from before the run.
        assert_eq!(found(DirectionMix::Read, 120 * MIB), Vec::<String>::new());
        // The journal may have written them.
        assert_eq!(found(DirectionMix::ReadWrite, 0), Vec::<String>::new());
    }

    #[test]
    fn writes_count_on_a_device_without_a_file_system() {
        let found = |kind| {
            let mut scene = scene(DirectionMix::Write, [0, 180 * MIB], 0, 0);
            scene.places[0].kind = kind;
            scene.found().contains(&RULE.id.to_owned())
        };
        assert!(found(TargetKind::Block) && !found(TargetKind::File));
    }

    #[test]
    fn others_on_the_disk_below_a_loop_device_are_told() {
        let found = |disk_bytes: u64| {
            let mut scene = scene(DirectionMix::Read, [100 * MIB, 0], 100 * MIB, 0);
            let device = |name: &str, kind, below: &[&str], read: u64| StorageLayer {
                bytes: Some([read, 0]),
                ..layer(name, kind, below)
            };
            scene.layers(vec![
                layer("/data", LayerKind::FileSystem, &["loop0"]),
                device("loop0", LayerKind::Loop, &["vdb"], 100 * MIB),
                device("vdb", LayerKind::Disk, &[], disk_bytes),
            ]);
            scene.found()
        };
        assert_eq!(found(300 * MIB), ["other-users"]);
        assert_eq!(found(100 * MIB), Vec::<String>::new());
    }

    #[test]
    fn a_disk_and_a_loop_device_on_it_do_not_count_twice() {
        let mut scene = scene(DirectionMix::Read, [0, 0], 200 * MIB, 0);
        scene.stats().directions.0[0].bytes = 200 * MIB;
        let device = |name: &str, kind, below: &[&str], read: u64| StorageLayer {
            bytes: Some([read, 0]),
            ..layer(name, kind, below)
        };
        scene.layers(vec![
            layer("/data", LayerKind::FileSystem, &["loop0", "vdb"]),
            device("loop0", LayerKind::Loop, &["vdb"], 100 * MIB),
            device("vdb", LayerKind::Disk, &[], 200 * MIB),
        ]);
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn a_run_that_goes_on_says_nothing() {
        let mut scene = scene(DirectionMix::Read, [300 * MIB, 0], 100 * MIB, 0);
        scene.record.workers[0].fate.has_ended = false;
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
