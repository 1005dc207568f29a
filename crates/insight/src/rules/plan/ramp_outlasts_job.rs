//! A ramp that is longer than the job.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_spec::SizeSpec;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "ramp-outlasts-job",
    title: "The job ended within its ramp",
    severity: Severity::Wrong,
    what: "The length of the ramp (ramp_time, ramp_size) and the time of the job until its data were done. It is reported where the job ended \
           within the ramp; before a run, where ramp_size is as large as the data.",
    why: "I/O within the ramp is not counted. Without time_based a job ends with its data, and if that is earlier than the end of the ramp \
          there is nothing to count.",
    example: "--name=a --rw=read --size=64m --direct=1 --ramp_time=30",
    cure: "Add --time_based and --runtime, which begins behind the ramp, or use a larger --size.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let limits = &job.spec.limits;
    if case.is_before() {
        let Some(SizeSpec::Bytes(size_bytes)) = job.spec.extent.size else { return None };
        let all_bytes = size_bytes.saturating_mul(u64::from(limits.loops.max(1)));
        let never_ends = limits.time_based || job.spec.extent.io_size.is_some();
        let explanation = format!(
            "The ramp takes {} and the job has {}: nothing will be counted.",
            text::bytes(limits.ramp_bytes),
            text::bytes(all_bytes)
        );
        let is_all = limits.ramp_bytes > 0 && limits.ramp_bytes >= all_bytes && !never_ends;
        return is_all.then(|| {
            let evidence = vec![Measured::bytes("ramp", limits.ramp_bytes), Measured::bytes("data", all_bytes)];
            Observation::of(job, evidence, explanation)
        });
    }
    counted_nothing(job).then(|| {
        let ramp = if limits.ramp_time_us > 0 {
            format!("{} s", text::short(limits.ramp_time_us as f64 / 1e6))
        } else {
            text::bytes(limits.ramp_bytes)
        };
        let explanation = format!(
            "The ramp is {ramp} long, and the job was through with its data before its end: all of its I/O was in the ramp, which is not \
             counted."
        );
        Observation::of(
            job,
            vec![Measured::seconds("ramp_time", limits.ramp_time_us as f64 / 1e6)],
            explanation,
        )
    })
}

/// The job has run, has a ramp, and nothing was counted behind it although nothing else cut it short.
fn counted_nothing(job: &AuditedJob<'_>) -> bool {
    let limits = &job.spec.limits;
    let has_ramp = limits.ramp_time_us > 0 || limits.ramp_bytes > 0;
    let ends_by_data = !(limits.time_based && limits.runtime_us > 0);
    let has_none = job
        .total
        .as_ref()
        .is_some_and(|total| total.directions.0.iter().all(|direction| direction.n_completed == 0) && total.errno == 0);
    has_ramp && ends_by_data && has_none && !job.engine.moves_nothing()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{DirectionMix, JobSpec};
    use ferrio_stats::ThreadStats;

    fn found(has_io: bool, change: fn(&mut JobSpec)) -> Vec<String> {
        let mut job = job("a", DirectionMix::Read);
        change(&mut job);
        let mut scene = TestRun::new(job);
        if !has_io {
            *scene.stats() = ThreadStats::default();
        }
        scene.found()
    }

    #[test]
    fn a_job_that_ends_within_its_ramp_is_told() {
        assert_eq!(found(false, |job| job.limits.ramp_time_us = 5_000_000), ["ramp-outlasts-job"]);
        assert_eq!(found(true, |job| job.limits.ramp_time_us = 5_000_000), Vec::<String>::new());
        assert!(!found(false, |_| ()).contains(&"ramp-outlasts-job".to_owned()));
    }

    #[test]
    fn a_ramp_of_all_data_is_told_before_the_run() {
        let is_told = |ramp_bytes, time_based| {
            let mut job = job("a", DirectionMix::Read);
            (job.limits.ramp_bytes, job.limits.time_based) = (ramp_bytes, time_based);
            TestRun::new(job).before().found().contains(&"ramp-outlasts-job".to_owned())
        };
        assert!(is_told(100 * MIB, false));
        assert!(!is_told(99 * MIB, false) && !is_told(100 * MIB, true) && !is_told(0, false));
    }
}
