//! Random reads that are those of the last run.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_spec::DirectionMix;
use ferrio_stats::{EarlierRun, Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "same-blocks-again",
    title: "The run reads the blocks of the last run again",
    severity: Severity::Note,
    what: "The targets, seeds and patterns of direct random reads, and those of the last run of ferrio on the same targets, which \
           `ferrio run` remembers. It is reported where both are the same, the target has not changed, and the last run was within a day.",
    why: "With a fixed seed (randrepeat=1, the default) each run reads the same blocks in the same order. A cache of the device, of an array \
          or of a host may still have those, and then the second run is faster than the first.",
    example: "--name=a --filename=/dev/sdb --rw=randread --direct=1 --size=1g",
    cure: "Add --randrepeat=0, so that each run draws blocks of its own, and use a target that is much larger than the caches.",
    needs: &[EvidenceKind::EarlierRuns],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected"],
    find,
};

/// What was read before is seldom in a cache after a longer time, seconds.
const A_DAY: u64 = 24 * 60 * 60;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let earlier = case.record.evidence.earlier_runs.as_ref();
    let jobs = (0_u32..).zip(&case.jobs);
    let of_job = |(index, job): (u32, &AuditedJob<'_>)| {
        let run = earlier?.iter().find(|run| run.job_index == index && run.seconds_ago <= A_DAY)?;
        may_hit_caches(job).then(|| observation(job, run))
    };
    jobs.filter_map(of_job).collect()
}

/// Direct random reads with a fixed seed, of a target that is not in memory.
pub(crate) fn may_hit_caches(job: &AuditedJob<'_>) -> bool {
    let pattern = &job.spec.pattern;
    let is_fixed = pattern.randrepeat || pattern.randseed.is_some();
    let is_stored = !job.places.is_empty() && !job.places.iter().any(is_in_memory);
    pattern.mix == DirectionMix::Read && pattern.random && is_fixed && job.spec.durability.direct && is_stored
}

fn observation(job: &AuditedJob<'_>, run: &EarlierRun) -> Observation {
    let explanation = format!(
        "The last run on {}, {} s before, read the same blocks in the same order, and nothing has been written since. A cache below the \
         page cache may still have had them.",
        run.path,
        thousands(run.seconds_ago)
    );
    let evidence = vec![Measured::seconds("time since the last run", run.seconds_ago as f64)];
    Observation::of(job, evidence, explanation).about(DataDirection::Read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::JobSpec;

    fn found(seconds_ago: u64, change: fn(&mut JobSpec)) -> Vec<String> {
        let mut job = job("a", DirectionMix::Read);
        job.pattern.random = true;
        change(&mut job);
        let mut scene = TestRun::new(job);
        let run = EarlierRun { job_index: 0, path: "/data/a".to_owned(), seconds_ago };
        scene.record.evidence.earlier_runs = Some(vec![run]);
        scene.found()
    }

    #[test]
    fn random_reads_with_a_fixed_seed_are_told_for_a_day() {
        assert_eq!(found(60, |_| ()), ["same-blocks-again"]);
        assert_eq!(found(A_DAY, |_| ()), ["same-blocks-again"]);
        assert_eq!(found(A_DAY + 1, |_| ()), Vec::<String>::new());
        assert_eq!(found(60, |job| job.pattern.randrepeat = false), Vec::<String>::new());
        assert_eq!(found(60, |job| job.pattern.random = false), Vec::<String>::new());
    }
}
