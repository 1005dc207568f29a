//! Trims of files, which make holes in them.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Severity, TargetKind};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "trims-of-files",
    title: "Trims of a file make holes in it",
    severity: Severity::Note,
    what: "The targets of a job that trims. It is reported where they are files.",
    why: "A trim of a device tells the device that it may drop the blocks. A trim of a file is fallocate() with FALLOC_FL_PUNCH_HOLE: the file system changes its \
          records, and whether and when the device hears of it depends on the mount option discard or on fstrim. Its latency is that of the file system. Reads of the holes find no \
          storage.",
    example: "--name=a --filename=/data/file --rw=randtrim --bs=64k --size=1g",
    cure: "Name a device whose data may be lost, if trims of the device are what you want to measure.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["target-in-memory", "memory-as-expected", "no-io"],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let trims = job.does(DataDirection::Trim) && (case.is_before() || job.figures(DataDirection::Trim).is_some());
    let are_files = !job.places.is_empty()
        && job
            .places
            .iter()
            .all(|place| matches!(place.kind, TargetKind::File | TargetKind::Missing) && !is_in_memory(place));
    if !trims || !are_files || !job.has_files() || !job.engine.targets.are_opened_by_run() {
        return None;
    }
    let explanation = "The job trims files: the figures are those of the file system, which makes holes, and not of a discard by the device.";
    Some(Observation::of(job, Vec::new(), explanation.to_owned()).about(DataDirection::Trim))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TargetKind;

    #[test]
    fn files_are_told_and_devices_are_not() {
        let is_told = |mix, kind| {
            let mut scene = TestRun::new(job("a", mix));
            scene.places[0].kind = kind;
            scene.before().found().contains(&RULE.id.to_owned())
        };
        assert!(is_told(DirectionMix::Trim, TargetKind::File));
        assert!(!is_told(DirectionMix::Trim, TargetKind::Block));
        assert!(!is_told(DirectionMix::Write, TargetKind::File));
    }
}
