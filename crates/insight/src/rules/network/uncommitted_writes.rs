//! Writes that a server may still have in its memory.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::waits_for_writes;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_spec::engines::Data;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::{bytes_text, counted};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "uncommitted-writes",
    title: "The server was not asked to make the writes durable",
    severity: Severity::Misleading,
    what: "The writes of a job to files of an NFS server that has no sync: neither end_fsync nor fsync, fdatasync, fsync_on_close or sync.",
    why: "Such writes are sent as UNSTABLE. The server may answer when it has them in its memory, and writes them to its disks after a \
          COMMIT, which is a sync of the job, or in its own time. A short job then measures the memory of the server.",
    example: "--name=a --ioengine=nfs --nfs_url=nfs://HOST/EXPORT --filename=f --rw=write --size=1g",
    cure: "Add --end_fsync=1, so that the time of the server's disks counts, or --sync=1, which makes each write stable.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    if job.engine.data != Data::KeptBySyncs || waits_for_writes(job) {
        return None;
    }
    let writes = job.figures(DataDirection::Write)?;
    let evidence = vec![
        Measured::count("writes", writes.n_completed as f64),
        Measured::bytes("bytes written", writes.bytes),
        Measured::count("syncs", 0.0),
    ];
    let explanation = format!(
        "The job has written {} in {}, and no COMMIT followed: the server may still have them in its memory.",
        bytes_text(writes.bytes),
        counted(writes.n_completed, "write", "writes")
    );
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{DirectionMix, DurabilitySpec, SyncMode};

    fn scene(engine: &str) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        engine.clone_into(&mut scene.jobs[0].engine.name);
        let writes = &mut scene.record.workers[0].stats.directions[DataDirection::Write];
        (writes.n_completed, writes.bytes) = (2_000, 2_000 << 10);
        scene
    }

    #[test]
    fn writes_without_a_sync_are_reported() {
        let told = scene("nfs").finding(RULE.id).explanation;
        let expected = "The job has written 1.95 MiB in 2,000 writes, and no COMMIT followed: the server may still \
                        have them in its memory.";
        assert_eq!(told, expected);
        // A server of blocks has a cache of its own, of which nothing is known.
        assert!(!scene("nbd").found().contains(&RULE.id.to_owned()));
    }

    #[test]
    fn a_sync_of_any_kind_is_enough() {
        let changes: [fn(&mut DurabilitySpec); 4] = [
            |durability| durability.end_fsync = true,
            |durability| durability.fsync_blocks = 32,
            |durability| durability.fdatasync_blocks = 1,
            |durability| durability.sync = SyncMode::Sync,
        ];
        for change in changes {
            let mut scene = scene("nfs");
            change(&mut scene.jobs[0].durability);
            assert!(!scene.found().contains(&RULE.id.to_owned()));
        }
    }
}
