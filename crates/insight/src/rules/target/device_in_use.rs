//! A device that others use beside the job.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::targets::used_place;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "device-in-use",
    title: "Others use the device as well",
    severity: Severity::Note,
    what: "The use of a block device that a job reads, or writes with allow_mounted_write: it or a partition of it is mounted, swap space, \
           or part of another device (dm, md, loop).",
    why: "I/O of the other users, such as that of a mounted file system, takes a part of what the device can do, and a different part in \
          every run. Writes destroy the data of the other users.",
    example: "--name=a --filename=/dev/sda --rw=randread --direct=1 --size=1g",
    cure: "Use a device that nobody else uses, or make sure that the others are idle during the run; `lsblk` shows the users.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["write-refused"],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_job = |job: &AuditedJob<'_>| {
        let (path, used) = used_place(job)?;
        let effect = if job.spec.changes_files() {
            "the job destroys data that is in use, and shares the device with its users"
        } else {
            "I/O of its users takes a part of what the device can do"
        };
        Some(Observation::of(job, Vec::new(), format!("{path} is {used}: {effect}.")))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TargetKind;

    fn scene(mix: DirectionMix, used: Option<&str>) -> TestRun {
        let mut scene = TestRun::new(job("a", mix));
        let place = &mut scene.places[0];
        (place.kind, place.path, place.file_system) = (TargetKind::Block, "/dev/vda".to_owned(), None);
        place.used = used.map(str::to_owned);
        scene
    }

    #[test]
    fn readers_beside_a_mount_are_told() {
        let finding = scene(DirectionMix::Read, Some("mounted on /")).finding("device-in-use");
        assert_eq!(
            finding.explanation,
            "/dev/vda is mounted on /: I/O of its users takes a part of what the device can do."
        );
        assert_eq!(scene(DirectionMix::Read, Some("in use by dm-0")).before().found(), ["device-in-use"]);
        assert_eq!(scene(DirectionMix::Read, None).found(), Vec::<String>::new());
    }

    #[test]
    fn writers_are_told_where_they_are_let() {
        let mut scene = scene(DirectionMix::Write, Some("mounted on /"));
        scene.jobs[0].target.allow_mounted_write = true;
        assert!(scene.finding("device-in-use").explanation.contains("destroys data that is in use"));
        // The place of a file: its file system is mounted, as it must be.
        (scene.places[0].kind, scene.places[0].path) = (TargetKind::File, "/data/file".to_owned());
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
