//! Segments that the network has lost, so that they were sent again.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::humanize::thousands;

/// Fewer segments than this say nothing about the network.
const LEAST_SENT: u64 = 1_000;

/// Lost segments, of all that were sent, from which on they are reported: a network within a data centre loses far fewer.
const LEAST_SHARE: f64 = 0.001;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "lost-segments",
    title: "The network lost data that was sent again",
    severity: Severity::Misleading,
    what: "The segments that the connections of a job to its server have sent, and those that the kernel had to send again (TCP_INFO). It is \
           reported from one in 1,000 on. What the server had to send again is not seen from this end.",
    why: "A lost segment costs at least a round trip, often 200 ms or more, and TCP sends more slowly after it. The latencies, above all \
          the highest percentiles, are then those of the network and not of the storage.",
    example: "--name=a --ioengine=nbd --uri=nbd://HOST/ --rw=randwrite --size=1g   (over a network that loses one segment in a hundred)",
    cure: "Look for the place of the loss (ip -s link, ethtool -S, ss -ti), or measure on the server itself to know the storage without \
           the network.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let network = job.server()?.network;
    let share = network.n_sent_again as f64 / network.n_sent as f64;
    if network.n_sent < LEAST_SENT || share < LEAST_SHARE {
        return None;
    }
    let evidence = vec![
        Measured::count("segments sent", network.n_sent as f64),
        Measured::count("segments sent again", network.n_sent_again as f64),
    ];
    let explanation = format!(
        "Of {} segments to the server {} were lost and sent again ({:.1} %).",
        thousands(network.n_sent),
        thousands(network.n_sent_again),
        share * 100.0
    );
    let cure = (network.n_local > 0).then(|| CURE_ON_ONE_HOST.to_owned());
    Some(Observation { cure, ..Observation::of(job, evidence, explanation) })
}

/// No network card has a part in a connection within a machine.
const CURE_ON_ONE_HOST: &str = "The server is on this machine, so no network card has lost them: look for rules that drop or delay packets (tc qdisc show, \
                                nft list ruleset), and for a server or a machine that is short of CPU time or of memory for sockets (nstat, ss -ti).";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::ServerSteps;

    #[test]
    fn one_segment_in_a_thousand_is_reported() {
        let scene = |n_sent: u64, n_sent_again: u64, n_local: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            let mut steps = ServerSteps::default();
            (steps.network.n_sent, steps.network.n_sent_again, steps.network.n_local) = (n_sent, n_sent_again, n_local);
            scene.record.workers[0].stats.features.server = Some(Box::new(steps));
            scene
        };
        let told = |n_sent, n_sent_again| {
            let scene = scene(n_sent, n_sent_again, 0);
            scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
        };
        let cure = |n_local| scene(4_000, 40, n_local).finding(RULE.id).cure;
        assert!(cure(0).contains("ethtool") && !cure(1).contains("ethtool") && cure(1).contains("tc qdisc"));
        let some = "Of 4,000 segments to the server 40 were lost and sent again (1.0 %).";
        assert_eq!(told(4_000, 40).as_deref(), Some(some));
        assert!(told(4_000, 4).is_some());
        assert_eq!(told(4_000, 3), None);
        assert_eq!(told(999, 900), None);
        assert_eq!(told(0, 0), None);
    }
}
