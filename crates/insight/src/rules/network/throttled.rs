//! Replies in which a server asks for fewer requests.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "throttled",
    title: "The server asked for fewer requests",
    severity: Severity::Misleading,
    what: "The replies of a server that ask for fewer requests: the HTTP status 503 (S3: SlowDown) or 429. It is reported of the first one.",
    why: "The figures then show a limit that the operator of the service has set, for this account or for this moment, and not what its \
          storage can do.",
    example: "--name=a --ioengine=http --http_mode=s3 --http_host=HOST --rw=write --bs=4k --numjobs=64 ...",
    cure: "Find the limit of the account. To measure below it, use fewer jobs or a --rate.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let n_throttled = job.server()?.n_throttled;
    let replies = match n_throttled {
        0 => return None,
        1 => "One reply".to_owned(),
        many => format!("{} replies", thousands(many)),
    };
    let evidence = vec![Measured::count("replies that ask for fewer requests", n_throttled as f64)];
    Some(Observation::of(job, evidence, format!("{replies} of the server asked for fewer requests.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::ServerSteps;

    #[test]
    fn the_first_such_reply_is_reported() {
        let told = |n_throttled: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let steps = ServerSteps { n_throttled, ..ServerSteps::default() };
            scene.record.workers[0].stats.features.server = Some(Box::new(steps));
            scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
        };
        assert_eq!(told(0), None);
        assert_eq!(told(1).as_deref(), Some("One reply of the server asked for fewer requests."));
        assert_eq!(told(70).as_deref(), Some("70 replies of the server asked for fewer requests."));
    }
}
