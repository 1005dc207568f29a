//! A run that will be refused, because it would overwrite a device that is in use.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::targets::used_place;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "write-refused",
    title: "The run will be refused: it would overwrite a device in use",
    severity: Severity::Wrong,
    what: "The use of a block device that a job writes or trims, before the run: it or a partition of it is mounted, swap space, part of \
           another device, or claimed by another program.",
    why: "The writes would destroy the data of the other users, so no job of such a run begins, and there are no figures.",
    example: "--name=a --filename=/dev/sda --rw=randwrite --direct=1 --size=1g",
    cure: "Check --filename; `lsblk` shows the users of devices. To overwrite data in use all the same, add --allow_mounted_write=1.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_job = |job: &AuditedJob<'_>| {
        let (path, used) = used_place(job).filter(|_| is_refused(case, job))?;
        let explanation = format!("{path} is {used}, and the job would overwrite it: no job of the run will begin.");
        Some(Observation::of(job, Vec::new(), explanation))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

/// The run has not begun, and will not.
fn is_refused(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> bool {
    case.is_before() && job.spec.changes_files() && !job.spec.target.allow_mounted_write
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TargetKind;

    #[test]
    fn only_writers_without_leave_are_refused() {
        let scene = |mix: DirectionMix, is_allowed: bool| {
            let mut scene = TestRun::new(job("a", mix)).before();
            scene.places[0].kind = TargetKind::Block;
            scene.places[0].used = Some("mounted on /".to_owned());
            scene.jobs[0].target.allow_mounted_write = is_allowed;
            scene.found()
        };
        assert_eq!(scene(DirectionMix::Write, false), ["write-refused"]);
        assert_eq!(scene(DirectionMix::ReadWrite, false), ["write-refused"]);
        assert_eq!(scene(DirectionMix::Read, false), ["device-in-use"]);
        assert_eq!(scene(DirectionMix::Write, true), ["device-in-use"]);
    }
}
