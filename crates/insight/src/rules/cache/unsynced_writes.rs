//! Buffered writes that the job does not sync.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::asked::waits_for_writes;
use crate::measures::cures::written_back;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::Severity;
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "unsynced-writes",
    title: "Nothing waits until the writes are on the device",
    severity: Severity::Misleading,
    what: "The options of a job that has not run, or of which only a report is there: it writes through the page cache, and has neither end_fsync nor fsync, fdatasync, \
           sync_file_range, fsync_on_close, end_syncfs or sync.",
    why: "Such a job ends when its data is in memory, so a small one measures memory and a large one a mix of both.",
    example: "--name=a --rw=write --size=1g --ioengine=psync",
    cure: "Add --direct=1, or --end_fsync=1 so that the time of the write-back counts.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected"],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    // After a run the evidence of the page cache says more.
    if !case.is_before() && !case.is_reported() {
        return Vec::new();
    }
    let of_job = |job: &AuditedJob<'_>| {
        let are = if case.is_before() { "will be" } else { "are" };
        let explanation = format!(
            "The job writes through the page cache and never waits for the device: its figures {are} those of memory as far as that \
             reaches."
        );
        let cure = written_back(case, &[job]);
        Observation { cure, ..Observation::of(job, Vec::new(), explanation) }.about(DataDirection::Write)
    };
    let is_one = |job: &&AuditedJob<'_>| {
        let is_stored = !job.places.iter().any(is_in_memory);
        let writes = job.does(DataDirection::Write) && !job.spec.is_verify_only();
        job.is_buffered() && job.moves_data() && writes && is_stored && !waits_for_writes(job)
    };
    case.jobs.iter().filter(is_one).map(of_job).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn a_sync_of_any_kind_is_enough() {
        let buffered = || {
            let mut scene = TestRun::new(job("a", DirectionMix::Write)).before();
            scene.jobs[0].durability.direct = false;
            scene
        };
        assert_eq!(buffered().found(), ["unsynced-writes"]);
        let changes: [fn(&mut ferrio_spec::DurabilitySpec); 4] = [
            |durability| durability.end_fsync = true,
            |durability| durability.fsync_blocks = 32,
            |durability| durability.fdatasync_blocks = 1,
            |durability| durability.sync = ferrio_spec::SyncMode::Dsync,
        ];
        for change in changes {
            let mut scene = buffered();
            change(&mut scene.jobs[0].durability);
            assert_eq!(scene.found(), Vec::<String>::new());
        }
    }
}
