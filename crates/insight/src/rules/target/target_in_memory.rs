//! Files on a file system in memory.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::targets::is_file_under_dev;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Severity, TargetKind, TargetPlace};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "target-in-memory",
    title: "The files are in memory",
    severity: Severity::Wrong,
    what: "The kind of the file system of the files (tmpfs, ramfs, devtmpfs or hugetlbfs), and what lies below it: a loop device on \
           such a file system, or a file system on zram or a RAM disk. Devices \
           of the kernel that store nothing, such as /dev/null, count too.",
    why: "There is no device below such files, so a run on them measures memory and the kernel.",
    example: "--name=a --directory=/dev/shm --rw=randwrite --size=100m",
    cure: "Give --directory on a file system of the storage that you want to measure; `df -T` shows them. If memory is what you want to measure, add --expect=memory.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected"],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let is_one =
        |place: &&TargetPlace| is_in_memory(place) && !is_file_under_dev(place) && place.kind != TargetKind::Character;
    if let Some(place) = job.places.iter().find(|place| keeps_nothing(place)) {
        let explanation =
            format!("{} is a device of the kernel that stores nothing: no storage was measured.", place.path);
        return Some(Observation::of(job, Vec::new(), explanation));
    }
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

/// The place is a character device of the kernel behind which there is no storage. Others, such as those of SCSI and NVMe commands,
/// lead to a disk, although their names are on a file system in memory.
fn keeps_nothing(place: &TargetPlace) -> bool {
    const NAMES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
    place.kind == TargetKind::Character && NAMES.contains(&place.path.as_str())
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LayerKind, TargetKind};

    /// Names under /dev are on devtmpfs, and what is behind them is not.
    #[test]
    fn devices_of_the_kernel_store_nothing_and_other_names_lead_to_disks() {
        let scene = |path: &str| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            let place = &mut scene.places[0];
            (place.kind, place.path) = (TargetKind::Character, path.to_owned());
            (place.file_system, place.device) = (Some("devtmpfs".to_owned()), None);
            scene
        };
        let explanation = scene("/dev/null").finding("target-in-memory").explanation;
        let expected = "/dev/null is a device of the kernel that stores nothing: no storage was measured.";
        assert_eq!(explanation, expected);
        assert!(!scene("/dev/sg0").found().contains(&"target-in-memory".to_owned()));
    }

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
