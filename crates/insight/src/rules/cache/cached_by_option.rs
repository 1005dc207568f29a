//! Options that have the page cache hold what a job reads.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::cures::past_page_cache;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::Severity;
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "cached-by-option",
    title: "An option keeps the data of the reads in memory",
    severity: Severity::Misleading,
    what: "The options of a job that has not run, or of which only a report is there. It is reported for buffered reads with pre_read=1 or invalidate=0.",
    why: "With pre_read the job reads its files into the page cache before it begins. Without invalidate what an earlier run, or the layout of the files, has left there stays. \
          The reads are then answered by memory, as far as it reaches.",
    example: "--name=a --rw=read --size=1g --pre_read=1",
    cure: "Leave out pre_read and invalidate=0, or add --direct=1; or --expect=memory, if the page cache is what you want to measure.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["cached-by-earlier-job", "memory-as-expected", "target-in-memory", "path-in-memory"],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    // After a run the counters of the devices say more.
    if !case.is_before() && !case.is_reported() || case.lacks_options() {
        return Vec::new();
    }
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let is_read = job.is_buffered() && job.moves_data() && job.has_files() && job.does(DataDirection::Read);
    if !is_read || job.expects_memory() || job.spec.replay.is_set() {
        return None;
    }
    let explanation = match () {
        () if job.spec.layout.pre_read => {
            "pre_read=1 reads the files into the page cache before the job begins: its reads find them there."
        }
        () if !job.spec.layout.invalidate => {
            "invalidate=0 leaves in the page cache what is there of the files, and nothing says how much of them that is."
        }
        () => return None,
    };
    let cure = past_page_cache(case, &[job], ".");
    Some(Observation { cure, ..Observation::of(job, Vec::new(), explanation.to_owned()) }.about(DataDirection::Read))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{DirectionMix, JobSpec};

    fn is_told(change: fn(&mut JobSpec)) -> bool {
        let mut job = job("a", DirectionMix::Read);
        job.durability.direct = false;
        change(&mut job);
        TestRun::new(job).before().found().contains(&RULE.id.to_owned())
    }

    #[test]
    fn buffered_reads_of_what_is_kept_in_memory_are_told() {
        assert!(is_told(|job| job.layout.pre_read = true));
        assert!(is_told(|job| job.layout.invalidate = false));
        assert!(!is_told(|_| ()));
        assert!(!is_told(|job| (job.layout.invalidate, job.durability.direct) = (false, true)));
        assert!(!is_told(|job| (job.layout.invalidate, job.pattern.mix) = (false, DirectionMix::Write)));
        assert!(!is_told(|job| (job.layout.pre_read, job.durability.expects_memory) = (true, true)));
    }
}
