//! The device's work against the claimed work: the rule that covers the most ground.

use crate::case::{Case, CaseJob, sum};
use crate::rules::cache::direct_not_honoured;
use crate::rules::cache::writes_still_dirty;
use crate::rules::data::data_that_compresses;
use crate::rules::range::range_read_again;
use crate::rules::{FindingRule, Observation};
use crate::stack::Level;
use crate::text;
use ferrio_stats::{ExtentBytes, LayerKind, Measured, Severity};
use ferrio_units::DataDirection;
use std::collections::BTreeSet;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "device-did-less",
    title: "The device did less than the jobs",
    severity: Severity::Wrong,
    what: "The bytes that the jobs have read or written, and the bytes that the devices of their file system have, as the kernel counts \
           them. It speaks where the devices did less than 90 % of what the jobs did.",
    why: "I/O that did not reach the device was answered by something before it: the page cache, a cache of the file system, or \
          nothing at all. Its latency and bandwidth are those of memory.",
    example: "--name=a --rw=randread --size=1g --ioengine=psync",
    cure: "Add --direct=1, so that the page cache has no part in it.",
    find: |case| gaps(case).into_iter().filter(|(depth, _)| *depth == 0).map(|(_, found)| found).collect(),
};

pub(crate) const LOWER: FindingRule = FindingRule {
    id: "lower-device-did-less",
    title: "The disk below the device did less than the jobs",
    severity: Severity::Misleading,
    what: "The bytes that the jobs have read or written, and the bytes that the disks have that a loop, dm, md or bcache device is made \
           of, down to the lowest that can be seen. It speaks where a device did what the jobs did, and those below it less than 90 % \
           of that. The counters of the disks are those of the whole machine: what other programs, or other jobs on the same disks, \
           do meanwhile may hide that one job was answered by memory.",
    why: "The figures are those of the upper device, and of memory: the page cache of the file behind a loop device, or another cache \
          between the two. The disk itself would give other figures.",
    example: "--name=a --filename=/dev/loop0 --rw=randread --direct=1   (after `losetup /dev/loop0 image`)",
    cure: "Set a loop device up with `losetup --direct-io=on`, and take a cache between the devices into account.",
    find: |case| gaps(case).into_iter().filter(|(depth, _)| *depth > 0).map(|(_, found)| found).collect(),
};

/// Less than this share of the claimed bytes is a contradiction. Counters are read before and after, so the rest is no noise.
const SHARE: f64 = 0.9;
/// A report of fio may lack what the disks did in this time, because it looks at their counters four times a second.
const UNSEEN_SECONDS: f64 = 0.5;
/// Fewer bytes than this are not worth a word.
const LEAST_BYTES: u64 = 1 << 20;

/// So few bytes of storage contradict the bytes of a job.
pub(crate) fn is_too_little(stored_bytes: u64, claimed_bytes: u64) -> bool {
    (stored_bytes as f64) < claimed_bytes as f64 * SHARE
}

/// One of these rules speaks about a job.
pub(crate) fn speaks_of(case: &Case<'_>, job: &CaseJob<'_>) -> bool {
    gaps(case).iter().any(|(_, found)| found.jobs.iter().any(|name| name == job.name))
}

/// What the devices of each level have not seen, with the depth of the level.
fn gaps(case: &Case<'_>) -> Vec<(usize, Observation)> {
    let directions = [DataDirection::Read, DataDirection::Write].into_iter();
    let directions =
        directions.filter(|direction| *direction == DataDirection::Read || !writes_still_dirty::explains(case));
    directions.flat_map(|direction| of_direction(case, direction)).collect()
}

/// A job with the levels of devices below it.
struct Claim<'c, 'a> {
    job: &'c CaseJob<'a>,
    levels: Vec<Level<'a>>,
}

fn of_direction(case: &Case<'_>, direction: DataDirection) -> Vec<(usize, Observation)> {
    let jobs = case.jobs.iter().filter(|job| job.figures(direction).is_some());
    let claims: Vec<Claim<'_, '_>> = jobs.map(|job| Claim { job, levels: case.levels(job) }).collect();
    let n_levels = claims.iter().map(|claim| claim.levels.len()).max().unwrap_or(0);
    let (mut found, mut told) = (Vec::new(), vec![false; claims.len()]);
    for depth in 0..n_levels {
        let levels: BTreeSet<&Level<'_>> = claims.iter().filter_map(|claim| claim.levels.get(depth)).collect();
        for level in levels {
            let is_here = |claim: &Claim<'_, '_>| claim.levels.iter().any(|its| its.is_subset(level));
            let here: Vec<usize> = (0..claims.len()).filter(|index| is_here(&claims[*index])).collect();
            // What is missing above is missing below.
            if here.iter().any(|index| told[*index]) {
                continue;
            }
            let is_of_own = direction == DataDirection::Read && depth == 0;
            let found_here = if is_of_own {
                by_own_bytes(case, level, &claims, &here)
            } else {
                gap(case, direction, level, &jobs_of(&claims, &here)).map(|gap| (gap, here))
            };
            let Some((gap, here)) = found_here else { continue };
            let jobs = jobs_of(&claims, &here);
            for index in &here {
                told[*index] = true;
            }
            let upper = here.iter().find_map(|index| claims[*index].levels.get(depth.checked_sub(1)?));
            found.extend(tell(case, &gap, &jobs, upper).map(|told| (depth, told)));
        }
    }
    found
}

fn jobs_of<'c, 'a>(claims: &[Claim<'c, 'a>], indices: &[usize]) -> Vec<&'c CaseJob<'a>> {
    indices.iter().map(|index| claims[*index].job).collect()
}

/// Reads that no device has served, and their jobs. A job whose own bytes are known is judged by these, because the devices have also
/// read for others: other jobs and programs, and the preparation of the run.
fn by_own_bytes<'c, 'a>(
    case: &Case<'_>,
    level: &'c Level<'a>,
    claims: &[Claim<'c, 'a>],
    here: &[usize],
) -> Option<(Gap<'c, 'a>, Vec<usize>)> {
    let claimed = |index: &usize| claims[*index].job.figures(DataDirection::Read).map_or(0, |figures| figures.bytes);
    let own = |index: &usize| claims[*index].job.own_reads(case);
    let gap = |jobs: &[usize], device_bytes: u64| Gap {
        direction: DataDirection::Read,
        level,
        claimed: sum(jobs.iter().map(claimed)),
        device_bytes,
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
    let unseen = unseen_bytes(case, DataDirection::Read, &jobs_of(claims, &unknown));
    let level_bytes = case.level_bytes(level, DataDirection::Read)?.saturating_add(unseen);
    let of_unknown = gap(&unknown, level_bytes.saturating_sub(least(&known)));
    of_unknown.is_wide().then_some((of_unknown, unknown))
}

/// Work of jobs that the devices of a level have not seen.
struct Gap<'c, 'a> {
    direction: DataDirection,
    level: &'c Level<'a>,
    claimed: u64,
    device_bytes: u64,
}

impl Gap<'_, '_> {
    fn is_wide(&self) -> bool {
        self.claimed >= LEAST_BYTES && is_too_little(self.device_bytes, self.claimed)
    }
}

/// The bytes of the jobs and those of the devices, if these are too few.
fn gap<'c, 'a>(
    case: &Case<'_>,
    direction: DataDirection,
    level: &'c Level<'a>,
    jobs: &[&CaseJob<'_>],
) -> Option<Gap<'c, 'a>> {
    let device_bytes = case.level_bytes(level, direction)?.saturating_add(unseen_bytes(case, direction, jobs));
    let claimed = sum(jobs.iter().filter_map(|job| job.figures(direction)).map(|figures| figures.bytes));
    Some(Gap { direction, level, claimed, device_bytes }).filter(Gap::is_wide)
}

/// Bytes that the devices may have moved beside their counters: none in a run of ferrio, which reads them before and after the jobs.
fn unseen_bytes(case: &Case<'_>, direction: DataDirection, jobs: &[&CaseJob<'_>]) -> u64 {
    if !case.is_reported() {
        return 0;
    }
    let of_job = |job: &&CaseJob<'_>| {
        let bytes = job.figures(direction).map_or(0, |figures| figures.bytes) as f64;
        (bytes * (UNSEEN_SECONDS / job.seconds(direction).max(UNSEEN_SECONDS))) as u64
    };
    sum(jobs.iter().map(of_job))
}

fn tell(case: &Case<'_>, gap: &Gap<'_, '_>, jobs: &[&CaseJob<'_>], upper: Option<&Level<'_>>) -> Option<Observation> {
    let &Gap { direction, level, claimed, device_bytes } = gap;
    // These rules say more.
    let is_read = direction == DataDirection::Read;
    let is_explained = |job: &CaseJob<'_>| {
        is_read && crate::rules::data::reads_of_unwritten_extents::explains(case, job)
            || data_that_compresses::explains(case, job)
            || direct_not_honoured::explains(case, job)
    };
    if jobs.iter().any(|job| is_explained(job)) {
        return None;
    }
    let missing = text::percent((claimed - device_bytes) as f64, claimed as f64);
    let (did, does) = if is_read { ("read", "reads") } else { ("written", "writes") };
    let devices = level.iter().copied().collect::<Vec<_>>().join(" and ");
    let (reason, cure) = upper
        .and_then(|upper| behind_loop(case, direction, upper))
        .or_else(|| in_holes(case, gap, jobs))
        .unwrap_or_else(|| at_the_top(direction, jobs, does));
    let explanation = format!(
        "{missing} of the bytes {did} never reached {devices}: the jobs have {did} {}, the device{} {}. {reason}",
        text::bytes(claimed),
        if level.len() > 1 { "s" } else { "" },
        text::bytes(device_bytes)
    );
    let evidence = vec![
        Measured::bytes(&format!("{did} by the jobs"), claimed),
        Measured::bytes(&format!("{did} by {devices}"), device_bytes),
    ];
    let jobs = jobs.iter().map(|job| job.name.to_owned()).collect();
    Some(Observation { cure, ..Observation::of_jobs(jobs, evidence, explanation) }.about(direction))
}

/// Reads past the page cache of files with so many bytes without data that these can be the missing ones.
fn in_holes(case: &Case<'_>, gap: &Gap<'_, '_>, jobs: &[&CaseJob<'_>]) -> Option<(String, Option<String>)> {
    if gap.direction != DataDirection::Read || jobs.iter().any(|job| job.is_buffered()) {
        return None;
    }
    let places = || jobs.iter().flat_map(|job| job.places);
    let without_data =
        sum(places().filter_map(|place| place.before.extents.value()).map(ExtentBytes::without_data_bytes));
    let range_bytes = sum(jobs.iter().filter_map(|job| range_read_again::range_bytes(case, job)));
    // Each block of the range may have been read several times.
    let missing = range_bytes.min(gap.claimed) as f64 * (gap.claimed - gap.device_bytes) as f64 / gap.claimed as f64;
    if missing <= 0.0 || (without_data as f64) < missing * SHARE {
        return None;
    }
    let reason = format!(
        "{} of the files hold no data (holes, or extents that were never written): the file system answers reads of these with zeroes and \
         asks no device.",
        text::bytes(without_data)
    );
    let cure =
        "Write the part that is read first: run the job once with --rw=write and the same offset and size.".to_owned();
    Some((reason, Some(cure)))
}

/// The cause above all devices, and its cure if it is not that of the rule.
fn at_the_top(direction: DataDirection, jobs: &[&CaseJob<'_>], does: &str) -> (String, Option<String>) {
    let is_buffered = jobs.iter().any(|job| job.is_buffered());
    let (reason, cure) = match direction {
        DataDirection::Read if is_buffered => {
            ("The page cache answered them: without direct=1 they measure memory.", None)
        }
        _ if is_buffered => (
            "They went into the page cache and stayed there: without direct=1 or a sync they measure memory.",
            Some("Add --direct=1, or --end_fsync=1 so that the time of the write-back counts.".to_owned()),
        ),
        _ => (
            "Direct I/O was asked for, so a cache below the page cache answered: of the file system, of a loop device, or of a host.",
            Some(if direction == DataDirection::Read {
                format!(
                    "Read a range that is larger than the caches below, once, and find out which cache {does} go through."
                )
            } else {
                format!(
                    "Write other data than before, with --refill_buffers, and find out which cache {does} go through."
                )
            }),
        ),
    };
    (reason.to_owned(), cure)
}

/// The cause between two levels, if a loop device is above the lower one.
fn behind_loop(case: &Case<'_>, direction: DataDirection, upper: &Level<'_>) -> Option<(String, Option<String>)> {
    let mut layers = upper.iter().filter_map(|name| case.layer(name)).filter(|layer| layer.kind == LayerKind::Loop);
    let (layer, backing) = layers.find_map(|layer| Some((layer, layer.backing.as_ref()?)))?;
    let (name, path) = (&layer.name, &backing.path);
    let (reason, end) = match direction {
        DataDirection::Read => ("answered them", "."),
        _ => ("took them", ", or end the job with --end_fsync=1 so that the time of the write-back counts."),
    };
    let reason = match backing.direct_io {
        Some(false) => {
            format!("{name} is in the file {path} without direct I/O, so the page cache of that file {reason}.")
        }
        _ => format!("{name} is in the file {path}, whose file system {reason} from memory."),
    };
    let cure = format!(
        "Set the loop device up with `losetup --direct-io=on` (`losetup --direct-io=on /dev/{name}` changes this one){end}"
    );
    Some((reason, Some(cure)))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job, layer, place};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{BackingFile, LayerKind, StorageLayer};

    fn device(name: &str, kind: LayerKind, below: &[&str], read_bytes: u64) -> StorageLayer {
        StorageLayer { bytes: Some([read_bytes, 0]), ..layer(name, kind, below) }
    }

    /// Reads of 100 MiB of files on a loop device, on a file of a file system on a disk.
    fn over_loop(loop_bytes: u64, disk_bytes: u64, direct_io: bool) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let mut over = device("loop0", LayerKind::Loop, &["/"], loop_bytes);
        let direct_io = Some(direct_io);
        over.backing = Some(BackingFile { path: "/image".to_owned(), direct_io, ..BackingFile::default() });
        let mut layers = vec![layer("/data", LayerKind::FileSystem, &["loop0"]), over];
        layers.push(layer("/", LayerKind::FileSystem, &["sda"]));
        layers.push(device("sda", LayerKind::Disk, &[], disk_bytes));
        scene.layers(layers);
        scene
    }

    #[test]
    fn work_is_followed_below_a_loop_device() {
        let cached = over_loop(100 * MIB, 0, false).finding("lower-device-did-less");
        assert_eq!(
            cached.explanation,
            "100 % of the bytes read never reached sda: the jobs have read 100 MiB, the device 0 bytes. loop0 is in the file /image \
             without direct I/O, so the page cache of that file answered them."
        );
        assert!(cached.cure.contains("losetup --direct-io=on"), "{}", cached.cure);
        assert_eq!(over_loop(100 * MIB, 90 * MIB, false).found(), Vec::<String>::new());
        // The upper level is told alone, with its own cause.
        let above = over_loop(0, 0, false);
        assert_eq!(above.found(), ["device-did-less"]);
        assert!(above.finding("device-did-less").explanation.contains("never reached loop0"));
    }

    #[test]
    fn members_count_together() {
        let scene = |each: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let member = |name| device(name, LayerKind::Disk, &[], each);
            let top = layer("/data", LayerKind::FileSystem, &["sda", "sdb"]);
            scene.layers(vec![top, member("sda"), member("sdb")]);
            scene.found()
        };
        assert_eq!(scene(45 * MIB), Vec::<String>::new());
        assert_eq!(scene(44 * MIB), ["device-did-less"]);
    }

    #[test]
    fn what_cannot_be_followed_is_not_compared() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.disk_bytes = [0, 0];
        let mut top = layer("/data", LayerKind::Overlay, &["sda"]);
        top.is_cut = true;
        scene.layers(vec![top, device("sda", LayerKind::Disk, &[], 0)]);
        assert!(!scene.found().contains(&"device-did-less".to_owned()));
    }

    /// A record may hold anything.
    #[test]
    fn layers_in_a_circle_end() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let circle = layer("/b", LayerKind::FileSystem, &["/data", "loop0"]);
        let mut layers = vec![layer("/data", LayerKind::FileSystem, &["/b"]), circle];
        layers
            .extend([device("loop0", LayerKind::Loop, &["loop1"], 0), device("loop1", LayerKind::Loop, &["loop0"], 0)]);
        scene.layers(layers);
        assert_eq!(scene.found(), ["device-did-less"]);
    }

    #[test]
    fn reads_that_the_page_cache_answered_are_told() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.jobs[0].durability.direct = false;
        scene.disk_bytes = [0, 0];
        let finding = scene.finding("device-did-less");
        assert!(
            finding.explanation.starts_with(
                "100 % of the bytes read never reached vda: the jobs have read 100 MiB, the device 0 bytes."
            ),
            "{}",
            finding.explanation
        );
        assert_eq!(finding.evidence.iter().map(|measured| measured.value).collect::<Vec<_>>(), [104_857_600.0, 0.0]);
        scene.disk_bytes = [90 * MIB, 0];
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.disk_bytes = [90 * MIB - 512, 0];
        assert_eq!(scene.found(), ["device-did-less"]);
    }

    /// A job that reads 10 MiB of a file of 1,000 MiB, of which so many are a hole.
    #[test]
    fn a_range_that_is_a_hole_is_no_cache() {
        let told = |hole_bytes: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.disk_bytes = [0, 0];
            scene.jobs[0].extent.size = Some(ferrio_spec::SizeSpec::Bytes(10 * MIB));
            let place = &mut scene.places[0];
            for size in [&mut place.before, &mut place.now] {
                size.size_bytes = 1000 * MIB;
                size.extents = ferrio_stats::Reading::Value(ferrio_stats::ExtentBytes {
                    hole_bytes,
                    ..ferrio_stats::ExtentBytes::default()
                });
            }
            scene.finding("device-did-less")
        };
        let hole = told(10 * MIB);
        assert!(
            hole.explanation.contains("10 MiB of the files hold no data") && hole.cure.contains("--rw=write"),
            "{hole:?}"
        );
        let cache = told(8 * MIB);
        assert!(cache.explanation.contains("a cache below the page cache answered"), "{cache:?}");
        assert!(!cache.cure.contains("refill_buffers"), "reads have no buffers to fill: {cache:?}");
    }

    #[test]
    fn reads_are_judged_by_the_bytes_of_their_own_job() {
        let mut scene = TestRun::new(job("cached", DirectionMix::Read));
        scene.jobs[0].durability.direct = false;
        scene.add(job("direct", DirectionMix::Read), place("/data/direct"));
        let own = |scene: &mut TestRun, index: usize, bytes: u64| {
            scene.record.workers[index].stats.features.own_read_bytes = Some(bytes);
        };
        // The disk has read for both, for others, and before the run.
        scene.disk_bytes = [500 * MIB, 0];
        own(&mut scene, 0, 0);
        own(&mut scene, 1, 100 * MIB);
        assert_eq!(scene.finding("device-did-less").jobs, ["cached"]);
        own(&mut scene, 0, 90 * MIB);
        assert!(!scene.found().contains(&"device-did-less".to_owned()));
        // The bytes of one of them are not known.
        scene.record.workers[0].stats.features.own_read_bytes = None;
        scene.disk_bytes = [100 * MIB, 0];
        assert_eq!(scene.finding("device-did-less").jobs, ["cached"]);
    }

    /// Threads whose engine has others of the process read for them.
    #[test]
    fn threads_that_others_read_for_are_judged_by_what_these_can_have_read() {
        let thread = |name: &str| {
            let mut job = job(name, DirectionMix::Read);
            "io_uring".clone_into(&mut job.engine.name);
            job.worker.thread = true;
            job
        };
        let mut scene = TestRun::new(thread("cached"));
        scene.disk_bytes = [900 * MIB, 0];
        let total = |scene: &mut TestRun, read_bytes: u64| {
            scene.record.evidence.process_io = None;
            let counters = ferrio_stats::IoCounters { read_bytes, ..ferrio_stats::IoCounters::default() };
            let total = ferrio_stats::Reading::Value(counters);
            scene.record.evidence.process_io = Some(ferrio_stats::ProcessIo { total, workers: vec![] });
        };
        let own = |scene: &mut TestRun, index: usize, before: u64, bytes: u64| {
            let features = &mut scene.record.workers[index].stats.features;
            (features.read_before_bytes, features.own_read_bytes) = (Some(before), Some(bytes));
        };
        let told = |scene: &TestRun| {
            let audit = crate::audit(&scene.made());
            let found = audit.findings.into_iter().find(|finding| finding.id == "device-did-less");
            let is_open = audit.unexamined.iter().any(|part| part.subject.contains("read for each job"));
            (found.map_or(vec![], |found| found.jobs), is_open)
        };
        // Alone: what no worker has read itself was read for it, but not what it has read in a `pre_read`.
        own(&mut scene, 0, 100 * MIB, 0);
        total(&mut scene, 100 * MIB);
        assert_eq!(told(&scene), (vec!["cached".to_owned()], false));
        total(&mut scene, 200 * MIB);
        assert_eq!(told(&scene), (vec![], false));
        // Beside a job that has read for itself.
        scene.add(thread("other"), place("/data/other"));
        own(&mut scene, 1, 0, 100 * MIB);
        assert_eq!(told(&scene), (vec!["cached".to_owned()], false));
        // Others have read enough for one of them, but not for both.
        own(&mut scene, 1, 0, 0);
        assert_eq!(told(&scene), (vec!["cached".to_owned(), "other".to_owned()], false));
        total(&mut scene, 290 * MIB);
        assert_eq!(told(&scene), (vec![], true), "for which of them is not known");
    }

    #[test]
    fn jobs_on_one_device_are_taken_together() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.add(job("b", DirectionMix::Read), place("/data/b"));
        scene.disk_bytes = [100 * MIB, 0];
        assert_eq!(scene.finding("device-did-less").jobs, ["a", "b"]);
        // Another device of which nothing is known explains nothing and is blamed for nothing.
        scene.places[1].device = Some("vdb".to_owned());
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn a_device_that_is_not_the_only_one_is_not_blamed() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.disk_bytes = [0, 0];
        scene.places[0].file_system = Some("btrfs".to_owned());
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn other_users_of_the_device_are_no_contradiction() {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        scene.disk_bytes = [5000 * MIB, 5000 * MIB];
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
