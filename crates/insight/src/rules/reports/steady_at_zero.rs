//! A steady state of nothing.

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, ReportedSteady, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "steady-at-zero",
    title: "The steady state is one without I/O",
    severity: Severity::Wrong,
    what: "In a report that was not measured here: the mean rate of the window in which a steady state was attained. It is reported where \
           that is 0.",
    why: "A rate of 0 does not change, so it meets every criterion. The job stood still, or the window lies before its first I/O.",
    example: "ferrio check --result=report.json   (a job with steadystate=iops:10% whose device did not answer)",
    cure: "Find out why the job stood still, and give --steadystate_ramp_time, so that the window begins later.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let outcomes = case.reported().map_or(&[][..], |facts| &facts.steady);
    let is_one = |outcome: &&ReportedSteady| outcome.is_attained && outcome.mean_ios_per_sec == Some(0.0);
    let tell = |outcome: &ReportedSteady| {
        let explanation = "The steady state was attained at 0 I/Os a second: the job stood still.".to_owned();
        let evidence = vec![Measured::count("mean rate of the window", 0.0)];
        match case.jobs.iter().find(|job| job.name == outcome.job) {
            Some(job) => Observation::of(job, evidence, explanation),
            None => Observation::of_run(evidence, explanation),
        }
    };
    outcomes.iter().filter(is_one).map(tell).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{RecordOrigin, ReportedFacts, ReportedSteady};

    #[test]
    fn an_attained_rate_of_0_is_told() {
        let found = |is_attained: bool, mean_ios_per_sec: Option<f64>| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let steady = vec![ReportedSteady { job: "a".to_owned(), is_attained, mean_ios_per_sec }];
            scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
            scene.record.evidence.reported = Some(Box::new(ReportedFacts { steady, ..ReportedFacts::default() }));
            scene.found()
        };
        let quiet: [&str; 0] = [];
        assert_eq!(found(true, Some(0.0)), ["steady-at-zero"]);
        assert_eq!(found(true, Some(1.0)), quiet);
        assert_eq!(found(true, None), quiet);
        assert_eq!(found(false, Some(0.0)), quiet);
    }
}
