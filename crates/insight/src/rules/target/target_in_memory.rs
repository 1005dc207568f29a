//! Files on a file system in memory.

use crate::case::{Case, CaseJob, is_in_memory};
use crate::measures::targets::is_file_under_dev;
use crate::rules::{FindingRule, Observation};
use ferrio_stats::{Severity, TargetPlace};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "target-in-memory",
    title: "The files are in memory",
    severity: Severity::Wrong,
    what: "The kind of the file system of the files (tmpfs, ramfs, devtmpfs or hugetlbfs), and what lies below it: a loop device on \
           such a file system, or a file system on zram or a RAM disk.",
    why: "There is no device below such files, so a run on them measures memory and the kernel.",
    example: "--name=a --directory=/dev/shm --rw=randwrite --size=100m",
    cure: "Give --directory on a file system of the storage that you want to measure; `df -T` shows them.",
    yields_to: &[],
    find,
};

fn find(case: &Case<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &Case<'_>, job: &CaseJob<'_>) -> Option<Observation> {
    let is_one = |place: &&TargetPlace| is_in_memory(place) && !is_file_under_dev(place);
    let by_kind = job.places.iter().find(is_one).map(|place| {
        let kind = place.file_system.as_deref().unwrap_or_default();
        format!("{} is on {kind}, which keeps its data in memory", place.path)
    });
    let below = || {
        let place = job.places.iter().find(|place| !is_in_memory(place) && case.is_in_memory_below(place))?;
        let lowest = case.layers_of(place).into_iter().rfind(|layer| layer.below.is_empty())?;
        let kind = if lowest.detail.is_empty() { "a device" } else { lowest.detail.as_str() };
        Some(format!("Below {} is {} ({kind}), which keeps its data in memory", place.path, lowest.name))
    };
    let what = by_kind.or_else(below)?;
    let explanation = format!("{what}: these are figures of memory, not of a device.");
    Some(Observation::of(job, Vec::new(), explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LayerKind;

    #[test]
    fn tmpfs_is_told_and_ext4_is_not() {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        (scene.places[0].file_system, scene.places[0].device) = (Some("tmpfs".to_owned()), None);
        assert_eq!(scene.found(), ["target-in-memory"]);
        assert_eq!(scene.before().found(), ["target-in-memory"]);
    }

    #[test]
    fn memory_below_a_device_is_told_and_a_disk_is_not() {
        let scene = |top: LayerKind, lowest: LayerKind| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write)).before();
            let mut layers = vec![layer("/data", top, &["loop0"]), layer("loop0", LayerKind::Loop, &["/image"])];
            layers.push(layer("/image", lowest, &[]));
            scene.layers(layers);
            scene.found()
        };
        assert_eq!(scene(LayerKind::FileSystem, LayerKind::Memory), ["target-in-memory"]);
        assert_eq!(scene(LayerKind::FileSystem, LayerKind::Disk), Vec::<String>::new());
    }

    /// The name of a zram device tells a user what it is.
    #[test]
    fn a_device_in_memory_that_is_the_target_itself_is_not_told() {
        let mut scene = TestRun::new(job("a", DirectionMix::Write)).before();
        scene.layers(vec![layer("/data", LayerKind::Zram, &[])]);
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
