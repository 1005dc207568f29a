//! Files on a file system in memory.

use super::{FindingRule, Observation};
use crate::case::{Case, CaseJob, is_in_memory};
use ferrio_stats::Severity;

pub(super) const RULE: FindingRule = FindingRule {
    id: "target-in-memory",
    title: "The files are in memory",
    severity: Severity::Wrong,
    what: "The kind of the file system of the files: tmpfs, ramfs, devtmpfs or hugetlbfs.",
    why: "Such a file system has no device, so a run on it measures memory and the kernel.",
    example: "--name=a --directory=/dev/shm --rw=randwrite --size=100m",
    cure: "Give --directory on a file system of the storage that you want to measure; `df -T` shows them.",
    find,
};

fn find(case: &Case<'_>) -> Vec<Observation> {
    let of_job = |job: &CaseJob<'_>| {
        let is_one = |place: &&ferrio_stats::TargetPlace| is_in_memory(place) && !super::file_under_dev::is_one(place);
        let place = job.places.iter().find(is_one)?;
        let kind = place.file_system.as_deref().unwrap_or_default();
        let explanation = format!(
            "{} is on {kind}, which keeps its data in memory: these are figures of memory, not of a device.",
            place.path
        );
        Some(Observation::of(job.name, Vec::new(), explanation))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn tmpfs_is_told_and_ext4_is_not() {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        (scene.places[0].file_system, scene.places[0].device) = (Some("tmpfs".to_owned()), None);
        assert_eq!(scene.found(), ["target-in-memory"]);
        assert_eq!(scene.before().found(), ["target-in-memory"]);
    }
}
