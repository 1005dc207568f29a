//! A plain file where a device was meant.

use crate::audit_input::AuditInput;
use crate::measures::targets::is_file_under_dev;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "file-under-dev",
    title: "The target is a plain file under /dev",
    severity: Severity::Wrong,
    what: "The path of a target: it lies under /dev, outside of /dev/shm, and is a regular file or not there.",
    why: "A mistyped or absent device becomes a file in memory, because /dev is kept in memory, and the run measures that.",
    example: "--name=a --filename=/dev/nvme9n9 --rw=randread --size=1g",
    cure: "Correct --filename; `lsblk` lists the devices. Remove the file that an earlier run has left there.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_job = |job: &crate::audit_input::AuditedJob<'_>| {
        let place = job.places.iter().find(|place| is_file_under_dev(place))?;
        let explanation = format!(
            "{} is no device but a file in memory: the figures are those of memory, and no device was asked.",
            place.path
        );
        Some(Observation::of(job, Vec::new(), explanation))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TargetKind;

    #[test]
    fn a_device_that_is_none_is_told_once() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.places[0].path = "/dev/nvme9n9".to_owned();
        (scene.places[0].file_system, scene.places[0].device) = (Some("devtmpfs".to_owned()), None);
        assert_eq!(scene.found(), ["file-under-dev"]);
        scene.places[0].kind = TargetKind::Missing;
        assert_eq!(scene.before().found(), ["file-under-dev"]);
    }

    #[test]
    fn devices_and_shared_memory_are_what_they_say() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.places[0].path = "/dev/vda".to_owned();
        scene.places[0].kind = TargetKind::Block;
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.places[0].path = "/dev/shm/file".to_owned();
        scene.places[0].kind = TargetKind::File;
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
