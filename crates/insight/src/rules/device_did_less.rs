//! The device's work against the claimed work: the rule that covers the most ground.

use super::{FindingRule, Observation, writes_still_dirty};
use crate::case::{Case, CaseJob, is_in_memory, sum};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

pub(super) const RULE: FindingRule = FindingRule {
    id: "device-did-less",
    title: "The device did less than the jobs",
    severity: Severity::Wrong,
    what: "The bytes that the jobs have read or written, and the bytes that the device under their files has, as the kernel counts \
           them. It speaks where the device did less than 90 % of what the jobs did.",
    why: "I/O that did not reach the device was answered by something before it: the page cache, a cache of the file system, or \
          nothing at all. Its latency and bandwidth are those of memory.",
    example: "--name=a --rw=randread --size=1g --ioengine=psync",
    cure: "Add --direct=1, so that the page cache has no part in it.",
    find,
};

/// Less than this share of the claimed bytes is a contradiction. Counters are read before and after, so the rest is no noise.
const SHARE: f64 = 0.9;
/// Fewer bytes than this are not worth a word.
const LEAST_BYTES: u64 = 1 << 20;
/// File systems that may spread a file over several devices of their own.
const OVER_SEVERAL: [&str; 3] = ["btrfs", "bcachefs", "zfs"];

fn find(case: &Case<'_>) -> Vec<Observation> {
    let directions = [(DataDirection::Read, 0), (DataDirection::Write, 1)].into_iter();
    let directions =
        directions.filter(|(direction, _)| *direction == DataDirection::Read || !writes_still_dirty::explains(case));
    let found = directions.flat_map(|(direction, index)| {
        let mut claims: BTreeMap<&str, Vec<&CaseJob<'_>>> = BTreeMap::new();
        for job in case.jobs.iter().filter(|job| job.figures(direction).is_some()) {
            if let Some(device) = only_device(job) {
                claims.entry(device).or_default().push(job);
            }
        }
        claims.into_iter().filter_map(move |(device, jobs)| {
            let disks = case.record.disks()?;
            let disk = disks.iter().find(|disk| disk.name == device)?;
            let device_bytes = disk.counters.sectors[index].saturating_mul(512);
            contradiction(direction, device, device_bytes, &jobs)
        })
    });
    found.collect()
}

/// The device of a job's files, if all are on the same one.
fn only_device<'a>(job: &CaseJob<'a>) -> Option<&'a str> {
    let mut names = job.places.iter().map(|place| {
        let is_spread = place.file_system.as_deref().is_some_and(|kind| OVER_SEVERAL.contains(&kind));
        place.device.as_deref().filter(|_| !is_spread && !is_in_memory(place))
    });
    let first = names.next()??;
    names.all(|name| name == Some(first)).then_some(first)
}

fn contradiction(
    direction: DataDirection,
    device: &str,
    device_bytes: u64,
    jobs: &[&CaseJob<'_>],
) -> Option<Observation> {
    let claimed = sum(jobs.iter().filter_map(|job| job.figures(direction)).map(|figures| figures.bytes));
    if claimed < LEAST_BYTES || device_bytes as f64 >= claimed as f64 * SHARE {
        return None;
    }
    // The rule about unwritten extents says more.
    if direction == DataDirection::Read && jobs.iter().any(|job| super::reads_of_unwritten_extents::explains(job)) {
        return None;
    }
    let missing = text::percent((claimed - device_bytes) as f64, claimed as f64);
    let (did, does) = if direction == DataDirection::Read { ("read", "reads") } else { ("written", "writes") };
    let is_buffered = jobs.iter().any(|job| job.is_buffered());
    let cause = match direction {
        DataDirection::Read if is_buffered => "The page cache answered them: without direct=1 they measure memory.",
        _ if is_buffered => {
            "They went into the page cache and stayed there: without direct=1 or a sync they measure memory."
        }
        _ => {
            "Direct I/O was asked for, so a cache below the page cache answered: of the file system, of a loop device, or of a host."
        }
    };
    let explanation = format!(
        "{missing} of the bytes {did} never reached {device}: the jobs have {did} {}, the device {}. {cause}",
        text::bytes(claimed),
        text::bytes(device_bytes)
    );
    let evidence = vec![
        Measured::bytes(&format!("{did} by the jobs"), claimed),
        Measured::bytes(&format!("{did} by {device}"), device_bytes),
    ];
    let cure = match direction {
        _ if !is_buffered => Some(format!(
            "Write other data than before, with --refill_buffers, and find out which cache {does} go through."
        )),
        DataDirection::Write => {
            Some("Add --direct=1, or --end_fsync=1 so that the time of the write-back counts.".to_owned())
        }
        _ => None,
    };
    Some(Observation { jobs: jobs.iter().map(|job| job.name.to_owned()).collect(), evidence, explanation, cure })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MIB, TestRun, job, place};
    use ferrio_spec::DirectionMix;

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
