//! Requests that were sent again after a failure.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "requests-sent-again",
    title: "Requests failed and were sent again",
    severity: Severity::Misleading,
    what: "The requests of a job that its engine has sent again, because the server refused them for the moment or a connection was lost. \
           It is reported of the first one.",
    why: "An I/O that is tried again counts once, with all of its tries and the pauses between them in its latency. The rate is that of \
          successes, the server has seen more requests.",
    example: "--name=a --ioengine=http --http_mode=s3 --http_retries=5 --rw=write ...   (a server that replies 503 at times)",
    cure: "Look in the server's log for the reason. With fewer jobs or a --rate the server may need no second try.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let n_retries = job.server()?.n_retries;
    let requests = match n_retries {
        0 => return None,
        1 => "One request".to_owned(),
        many => format!("{} requests", thousands(many)),
    };
    let evidence = vec![Measured::count("requests sent again", n_retries as f64)];
    Some(Observation::of(job, evidence, format!("{requests} had to be sent again.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::ServerSteps;

    #[test]
    fn the_first_second_try_is_reported() {
        let told = |n_retries: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let steps = ServerSteps { n_retries, ..ServerSteps::default() };
            scene.record.workers[0].stats.features.server = Some(Box::new(steps));
            scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
        };
        assert_eq!(told(0), None);
        assert_eq!(told(1).as_deref(), Some("One request had to be sent again."));
        assert_eq!(told(1_234).as_deref(), Some("1,234 requests had to be sent again."));
    }
}
