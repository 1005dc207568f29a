//! Connections to a server that were lost and made again.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::humanize::{duration_text, thousands};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "lost-connections",
    title: "Connections to the server were lost and made again",
    severity: Severity::Misleading,
    what: "The connections that a job has made to its server. It is reported of the first one that replaced a lost one.",
    why: "The I/O that meets a lost connection waits for a new one: for the name, TCP, TLS, the agreement with the server. This time is in \
          its latency, though the storage is not slow. A server that closes each connection after a number of requests causes a tail \
          that repeats.",
    example: "--name=a --ioengine=http --http_host=HOST --filename=/o --rw=read   (a server that closes connections after 100 requests)",
    cure: "Let the server keep connections open (nginx: keepalive_requests), and look in its log why it closes them.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let steps = job.server()?;
    if steps.n_reconnects == 0 {
        return None;
    }
    let evidence = vec![
        Measured::count("connections made again", steps.n_reconnects as f64),
        Measured::count("requests sent again over them", steps.n_resent as f64),
        Measured::seconds("longest connect", steps.connect.max_ns as f64 / 1e9),
        Measured::seconds("longest TLS handshake", steps.tls.max_ns as f64 / 1e9),
    ];
    let times = if steps.n_reconnects == 1 {
        "A connection to the server was lost and made again once".to_owned()
    } else {
        format!("Connections to the server were lost and made again {} times", thousands(steps.n_reconnects))
    };
    let longest_ns = (steps.connect.max_ns.saturating_add(steps.tls.max_ns)) as f64;
    let resent = match steps.n_resent {
        0 => String::new(),
        1 => " One request was on a connection that the server had closed, and was sent again.".to_owned(),
        many => format!(
            " {} requests were on connections that the server had closed, and were sent again.",
            thousands(many)
        ),
    };
    let explanation = format!("{times}; the longest connect with its TLS took {}.{resent}", duration_text(longest_ns));
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::ServerSteps;

    #[test]
    fn the_first_lost_connection_is_reported() {
        let told = |n_reconnects: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let mut steps = ServerSteps { n_reconnects, ..ServerSteps::default() };
            steps.connect.record(1_000_000);
            steps.tls.record(2_000_000);
            scene.record.workers[0].stats.features.server = Some(Box::new(steps));
            scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
        };
        assert_eq!(told(0), None);
        let once =
            "A connection to the server was lost and made again once; the longest connect with its TLS took 3.00 ms.";
        assert_eq!(told(1).as_deref(), Some(once));
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let steps = ServerSteps { n_reconnects: 3, n_resent: 3, ..ServerSteps::default() };
        scene.record.workers[0].stats.features.server = Some(Box::new(steps));
        let told_resent = scene.finding(RULE.id).explanation;
        assert!(
            told_resent.ends_with("3 requests were on connections that the server had closed, and were sent again."),
            "{told_resent}"
        );
        assert!(told(2_000).unwrap().starts_with("Connections to the server were lost and made again 2,000 times;"));
    }
}
