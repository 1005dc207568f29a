//! Fewer writes than the interval of the syncs between them.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::{most_ios, waits_at_end};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::{counted, thousands};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "syncs-never-due",
    title: "The job wrote less often than its interval of syncs",
    severity: Severity::Misleading,
    what: "The interval of syncs (fsync, fdatasync, sync_file_range, in writes) and the writes of each clone. It is reported where the interval \
           is longer than the writes that a clone has done, or can do before the run, and no option asks for a sync at the end.",
    why: "A sync follows after so many writes. With fewer writes there is none, and the figures are those of a job without syncs.",
    example: "--name=a --rw=write --bs=1m --size=64m --fsync=100 --ioengine=psync",
    cure: "Use a smaller interval, more writes, or --end_fsync=1 for one sync at the end.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &["fsync", "fdatasync"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let durability = &job.spec.durability;
    let every = durability.sync_file_range.map_or(0, |(_, n_writes)| n_writes);
    let named =
        [("fsync", durability.fsync_blocks), ("fdatasync", durability.fdatasync_blocks), ("sync_file_range", every)];
    let mut intervals = named.into_iter().filter(|(_, n_writes)| *n_writes > 0);
    // With a shorter interval of another kind there are syncs.
    let (option, interval) = intervals.clone().min_by_key(|(_, n_writes)| *n_writes)?;
    let has_one = intervals.next().is_some();
    // With a sync at the end the data is in the storage, however long the interval is.
    if !has_one || !job.does(DataDirection::Write) || job.spec.replay.is_set() || waits_at_end(job) {
        return None;
    }
    let n_writes = if case.is_before() {
        most_ios(job)?.div_ceil(u64::from(job.n_clones.max(1)))
    } else {
        // A sync behind the last write is one of the end.
        let total = job.total.as_ref()?;
        let n_writes = job.figures(DataDirection::Write)?.n_completed.div_ceil(job.workers.len().max(1) as u64);
        if total.n_syncs_issued > 0 {
            return None;
        }
        n_writes
    };
    if n_writes >= u64::from(interval) {
        return None;
    }
    let tense = if case.is_before() { "can do" } else { "has done" };
    let explanation = format!(
        "{option}={interval} wants a sync after {}, and each clone {tense} at most {}: there is no sync between writes.",
        counted(interval.into(), "write", "writes"),
        thousands(n_writes)
    );
    let evidence = vec![
        Measured::count("interval of syncs", f64::from(interval)),
        Measured::count("writes of a clone", n_writes as f64),
    ];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    /// 25,600 writes.
    fn is_told(fsync: u32, fdatasync: u32, n_syncs: u64) -> bool {
        let mut job = job("a", DirectionMix::Write);
        (job.durability.fsync_blocks, job.durability.fdatasync_blocks) = (fsync, fdatasync);
        let mut scene = TestRun::new(job);
        scene.stats().n_syncs_issued = n_syncs;
        let after = scene.found().contains(&"syncs-never-due".to_owned());
        if n_syncs == 0 {
            assert_eq!(after, scene.before().found().contains(&"syncs-never-due".to_owned()));
        }
        after
    }

    #[test]
    fn an_interval_beyond_the_writes_is_told() {
        assert!(is_told(25_601, 0, 0) && is_told(0, 30_000, 0));
        assert!(!is_told(25_600, 0, 0) && !is_told(0, 0, 0));
        assert!(!is_told(30_000, 100, 0), "another sync comes earlier");
        assert!(!is_told(30_000, 0, 1));
        let mut closed = job("a", DirectionMix::Write);
        (closed.durability.fsync_blocks, closed.durability.end_fsync) = (30_000, true);
        let scene = TestRun::new(closed);
        assert!(!scene.found().contains(&"syncs-never-due".to_owned()));
        assert!(!scene.before().found().contains(&"syncs-never-due".to_owned()));
    }
}
