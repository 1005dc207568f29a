//! The device's work against the claimed work: the rule that covers the most ground.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::asked::waits_at_end;
use crate::measures::cures::{past_page_cache, written_back};
use crate::measures::extents;
use crate::measures::kept::Shortfall;
use crate::measures::ranges::range_bytes;
use crate::measures::shortfall::{SHARE, shortfalls};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{LayerKind, Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "device-did-less",
    title: "The device did less than the jobs",
    severity: Severity::Wrong,
    what: "The bytes that the jobs have read or written, and the bytes that the devices of their file system have, as the kernel counts \
           them. It is reported where the devices did less than 90 % of what the jobs did.",
    why: "I/O that did not reach the device was answered by something before it: the page cache, a cache of the file system, or \
          nothing at all. Its latency and bandwidth are those of memory.",
    example: "--name=a --rw=randread --size=1g --ioengine=psync --invalidate=0   (twice: the second run reads what the first has read)",
    cure: "Add --direct=1, so that the page cache has no part in it; or --expect=memory, if the page cache is what you want to measure.",
    needs: &[EvidenceKind::Devices, EvidenceKind::ReadsOfThreads],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["reads-of-unwritten-extents", "data-that-compresses", "direct-not-honoured"],
    find: |case| found(case, |depth| depth == 0),
};

pub(crate) const LOWER: FindingRule = FindingRule {
    id: "lower-device-did-less",
    title: "The disk below the device did less than the jobs",
    severity: Severity::Misleading,
    what: "The bytes that the jobs have read or written, and the bytes that the disks have that a loop, dm, md or bcache device is made \
           of, down to the lowest that can be seen. It is reported where a device did what the jobs did, and those below it less than 90 % \
           of that. The counters of the disks are those of the whole machine: what other programs, or other jobs on the same disks, \
           do meanwhile may hide that one job was answered by memory.",
    why: "The figures are those of the upper device, and of memory: the page cache of the file behind a loop device, or another cache \
          between the two. The disk itself would give other figures.",
    example: "--name=a --filename=/dev/loop0 --rw=randread --direct=1   (after `losetup /dev/loop0 image`)",
    cure: "Set a loop device up with `losetup --direct-io=on`, and take a cache between the devices into account.",
    needs: &[EvidenceKind::Devices],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["reads-of-unwritten-extents", "data-that-compresses", "direct-not-honoured"],
    find: |case| found(case, |depth| depth > 0),
};

/// What the devices have not seen, at levels of a depth.
fn found(case: &AuditInput<'_>, is_wanted: fn(usize) -> bool) -> Vec<Observation> {
    shortfalls(case).iter().filter(|shortfall| is_wanted(shortfall.depth)).map(|found| tell(case, found)).collect()
}

fn tell(case: &AuditInput<'_>, shortfall: &Shortfall) -> Observation {
    let &Shortfall { direction, claimed_bytes: claimed, device_bytes, .. } = shortfall;
    let jobs: Vec<&AuditedJob<'_>> = shortfall.job_indices.iter().map(|index| &case.jobs[*index]).collect();
    let is_read = direction == DataDirection::Read;
    let missing = text::percent((claimed - device_bytes) as f64, claimed as f64);
    let (did, does) = if is_read { ("read", "reads") } else { ("written", "writes") };
    let devices = shortfall.level.join(" and ");
    let (reason, cure) = shortfall
        .upper
        .as_ref()
        .and_then(|upper| behind_loop(case, direction, upper))
        .or_else(|| in_holes(case, shortfall, &jobs))
        .unwrap_or_else(|| if case.lacks_options() { not_told() } else { at_the_top(case, direction, &jobs, does) });
    let explanation = format!(
        "{missing} of the bytes {did} never reached {devices}: the jobs have {did} {}, the device{} {}. {reason}",
        text::bytes(claimed),
        if shortfall.level.len() > 1 { "s" } else { "" },
        text::bytes(device_bytes)
    );
    let evidence = vec![
        Measured::bytes(&format!("{did} by the jobs"), claimed),
        Measured::bytes(&format!("{did} by {devices}"), device_bytes),
    ];
    Observation { cure, ..Observation::of_jobs(jobs, evidence, explanation) }.about(direction)
}

/// Reads of files with so many bytes without data that these can be the missing ones.
fn in_holes(case: &AuditInput<'_>, gap: &Shortfall, jobs: &[&AuditedJob<'_>]) -> Option<(String, Option<String>)> {
    if gap.direction != DataDirection::Read {
        return None;
    }
    // What an earlier job of the run has written, and what waits in the page cache, is data.
    let of_job = |job: &&AuditedJob<'_>| extents::of_files(case, job).map(|(extents, _)| extents.without_data_bytes());
    let without_data = sum(jobs.iter().filter_map(of_job));
    let range_bytes = sum(jobs.iter().filter_map(|job| range_bytes(case, job)));
    // Each block of the range may have been read several times.
    let missing = range_bytes.min(gap.claimed_bytes) as f64 * (gap.claimed_bytes - gap.device_bytes) as f64
        / gap.claimed_bytes as f64;
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
fn at_the_top(
    case: &AuditInput<'_>,
    direction: DataDirection,
    jobs: &[&AuditedJob<'_>],
    does: &str,
) -> (String, Option<String>) {
    let is_buffered = jobs.iter().any(|job| job.is_buffered());
    let (reason, cure) = match direction {
        DataDirection::Read if is_buffered => {
            let cure = past_page_cache(case, jobs, ".");
            let by_option = |is_one: fn(&AuditedJob<'_>) -> bool| jobs.iter().any(|job| is_one(job));
            let reason = match () {
                () if by_option(|job| job.spec.layout.pre_read) => {
                    "pre_read had read the files into the page cache, which answered them: they measure memory."
                }
                () if by_option(|job| !job.spec.layout.invalidate) => {
                    "The page cache answered them, which invalidate=0 has left as it was: they measure memory."
                }
                () => "The page cache answered them: they measure memory.",
            };
            (reason, cure)
        }
        _ if is_buffered && jobs.iter().all(|job| waits_at_end(job)) => (
            "They were written again in the page cache before it was written back: the sync at the end finds the last state only.",
            written_back(case, jobs),
        ),
        _ if is_buffered => (
            "They went into the page cache and stayed there: without a sync they measure memory.",
            written_back(case, jobs).or_else(|| {
                Some("Add --direct=1, or --end_fsync=1 so that the time of the write-back counts.".to_owned())
            }),
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

/// The cause where the report does not say whether the I/O was direct.
fn not_told() -> (String, Option<String>) {
    let reason = "Something above the device answered them: the page cache, if the job had no direct=1, which this report does not tell, \
                  or else a cache below it.";
    (reason.to_owned(), None)
}

/// The cause between two levels, if a loop device is above the lower one.
fn behind_loop(case: &AuditInput<'_>, direction: DataDirection, upper: &[String]) -> Option<(String, Option<String>)> {
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

    /// The bytes of these are sizes of files: nothing is read or written.
    #[test]
    fn to_look_at_files_and_to_change_their_sizes_moves_no_data() {
        for (engine, mix, is_told) in [
            ("filestat", DirectionMix::Read, false),
            ("filedelete", DirectionMix::Read, false),
            ("falloc", DirectionMix::Write, false),
            ("ftruncate", DirectionMix::Write, false),
            ("psync", DirectionMix::Read, true),
        ] {
            let mut scene = TestRun::new(job("a", mix));
            engine.clone_into(&mut scene.jobs[0].engine.name);
            scene.disk_bytes = [0, 0];
            assert_eq!(scene.found().contains(&"device-did-less".to_owned()), is_told, "{engine}");
        }
    }

    /// direct=1 is no cure of an engine that works on the page cache, nor of blocks that no device has.
    #[test]
    fn the_way_past_the_page_cache_is_that_of_the_job() {
        let cure = |change: fn(&mut ferrio_spec::JobSpec)| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.jobs[0].durability.direct = false;
            change(&mut scene.jobs[0]);
            scene.disk_bytes = [0, 0];
            scene.finding("device-did-less").cure
        };
        assert_eq!(cure(|_| ()), super::RULE.cure);
        let mapped = cure(|job| "mmap".clone_into(&mut job.engine.name));
        assert!(mapped.contains("--ioengine=psync"), "{mapped}");
        assert_eq!(cure(|job| ("mmap".clone_into(&mut job.engine.name), job.durability.direct = true).1), mapped);
        let small = cure(|job| job.pattern.block_size.0[0] = ferrio_spec::BlockRange::one(4));
        assert!(small.contains("a --bs of 512"), "{small}");
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

    /// 64 I/Os of 1 MiB are in flight at the end of a ramp: the kernel has counted them before, the job counts them after.
    #[test]
    fn what_is_in_flight_at_the_end_of_a_ramp_has_been_read() {
        let found = |ramp_time_us: u64, read_mib: u64| {
            let mut ramped = job("a", DirectionMix::Read);
            "libaio".clone_into(&mut ramped.engine.name);
            ramped.queue.iodepth = 64;
            ramped.pattern.block_size.0[0].max_bytes = MIB;
            ramped.limits.ramp_time_us = ramp_time_us;
            let mut scene = TestRun::new(ramped);
            scene.stats().directions.0[0].bytes = 353 * MIB;
            scene.stats().features.own_read_bytes = Some(read_mib * MIB);
            scene.found().contains(&"device-did-less".to_owned())
        };
        assert!(found(0, 290) && !found(50_000, 290));
        assert!(found(50_000, 250), "more than can have been in flight");
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
