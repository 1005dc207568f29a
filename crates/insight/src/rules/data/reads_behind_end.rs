//! Reads that found the end of the file instead of data.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "reads-behind-end",
    title: "Reads found the end of the file instead of data",
    severity: Severity::Wrong,
    what: "The reads of a job that moved no byte because the file ended before their place. It is reported of the first one.",
    why: "Such a read moves nothing and asks no device, so it is faster than any read of data. fio counts it as an I/O when an \
          asynchronous engine has done it, and its IOPS and latencies are those of reads of nothing; a native run ends with an error.",
    example: "--name=a --filename=f --size=1g --rw=randread --ioengine=libaio   (f is truncated meanwhile)",
    cure: "Find out what makes the file shorter during the run, or read a file that has been written to its end.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let workers = || job.workers.iter().chain(&job.failed);
    let n_empty = sum(workers().map(|worker| worker.stats.features.n_empty_reads));
    if n_empty == 0 {
        return None;
    }
    let n_done = sum(workers().map(|worker| worker.stats.directions[DataDirection::Read].n_completed));
    let has_errors = workers().any(|worker| worker.fate.failure.is_some() || worker.stats.tolerated.n_total > 0);
    let effect = if has_errors {
        "They failed, and do not count as I/Os.".to_owned()
    } else {
        format!(
            "They are {} of the {} reads that IOPS and latencies are made of.",
            text::percent(n_empty as f64, n_done as f64),
            thousands(n_done)
        )
    };
    let reads = if n_empty == 1 { "One read".to_owned() } else { format!("{} reads", thousands(n_empty)) };
    let explanation = format!("{reads} found the end of the file where the job expected data. {effect}");
    let evidence =
        vec![Measured::count("reads without a byte", n_empty as f64), Measured::count("reads", n_done as f64)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::Failure;

    fn scene(n_empty: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.record.workers[0].stats.features.n_empty_reads = n_empty;
        scene
    }

    #[test]
    fn reads_without_a_byte_are_told() {
        assert!(!scene(0).found().contains(&RULE.id.to_owned()));
        let told = scene(12_800).finding(RULE.id).explanation;
        assert!(told.starts_with("12,800 reads found the end of the file"), "{told}");
        assert!(told.ends_with("50 % of the 25,600 reads that IOPS and latencies are made of."), "{told}");
        let mut failed = scene(1);
        failed.record.workers[0].fate.failure = Some(Failure::new(5, "x.rs:1", "io_u error"));
        let told = failed.finding(RULE.id).explanation;
        assert!(told.starts_with("One read found") && told.ends_with("and do not count as I/Os."), "{told}");
    }
}
