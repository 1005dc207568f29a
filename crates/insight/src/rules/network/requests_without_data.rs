//! Reads that were requests without data.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "requests-without-data",
    title: "Reads moved no data, but count as if they had",
    severity: Severity::Wrong,
    what: "Reads of a job that asked for headers or names of objects (http_read_mode=head or list). It is reported of the first one.",
    why: "Each counts with the size of a block, which did not move: the bandwidth of the reads says nothing. Their number and their times are \
          right.",
    example: "--name=a --ioengine=http --http_mode=s3 --http_read_mode=get/50:head/50 --rw=read --bs=1m ...",
    cure: "Take the figures of each kind of request, which stand below the table. For a bandwidth, read with http_read_mode=get.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let requests = job.server()?.requests;
    let without_data = requests.0.iter().filter(|figures| figures.kind.is_read_without_data());
    let n_requests: u64 = without_data.map(|figures| figures.time.n_samples).sum();
    let reads = match n_requests {
        0 => return None,
        1 => "One read".to_owned(),
        many => format!("{} reads", thousands(many)),
    };
    let evidence = vec![Measured::count("requests for headers or names", n_requests as f64)];
    Some(Observation::of(job, evidence, format!("{reads} asked for headers or names, and moved no data.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{ObjectRequest, ObjectRequestKind, ServerSteps};

    #[test]
    fn heads_and_lists_are_reported_and_gets_are_not() {
        let told = |kinds: &[ObjectRequestKind]| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let mut steps = ServerSteps::default();
            for kind in kinds {
                let request =
                    ObjectRequest { kind: *kind, bytes: 0, is_absent: false, is_short: false, n_names: 0, time_ns: 1 };
                steps.requests.record(&request);
            }
            scene.record.workers[0].stats.features.server = Some(Box::new(steps));
            scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
        };
        assert_eq!(told(&[ObjectRequestKind::Get, ObjectRequestKind::Put]), None);
        let one = told(&[ObjectRequestKind::Get, ObjectRequestKind::Head]);
        assert_eq!(one.as_deref(), Some("One read asked for headers or names, and moved no data."));
        let two = told(&[ObjectRequestKind::List, ObjectRequestKind::Head]);
        assert_eq!(two.as_deref(), Some("2 reads asked for headers or names, and moved no data."));
    }
}
