//! Sending that waited for room in the window of the server.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::humanize::duration_text;

/// Part of the time in which data was to be sent, from which on the window is reported.
const LEAST_SHARE: f64 = 0.2;

/// Shorter times say nothing, nanoseconds.
const LEAST_NS: u64 = 100_000_000;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "small-window",
    title: "The server's receive window held the job back",
    severity: Severity::Misleading,
    what: "The time in which data waited to be sent to the server or to be acknowledged, and the part of it in which the receive window of \
           the server had no room (TCP_INFO). It is reported from 20 % on.",
    why: "A full window means that the server does not take the data as fast as the job sends it: its buffer is too small for the \
          bandwidth and the round trip, or its program, or the storage behind it, is slower than the network.",
    example: "--name=a --ioengine=nbd --uri=nbd://HOST/ --rw=write --bs=1m --iodepth=32 --size=10g   (a server with a small receive buffer)",
    cure: "On the server, raise net.ipv4.tcp_rmem and look whether its program sets SO_RCVBUF. If its storage is the slow part, the \
           figures are right as they are.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let network = job.server()?.network;
    let share = network.window_limited_ns as f64 / network.busy_ns as f64;
    if network.busy_ns < LEAST_NS || share < LEAST_SHARE {
        return None;
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    let evidence = vec![
        Measured::seconds("time with data to send", seconds(network.busy_ns)),
        Measured::seconds("time without room in the window", seconds(network.window_limited_ns)),
    ];
    let explanation = format!(
        "Data waited to be sent or acknowledged for {}, and for {:.0} % of that time the server's receive window had no room.",
        duration_text(network.busy_ns as f64),
        share * 100.0
    );
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::ServerSteps;

    #[test]
    fn a_fifth_of_the_time_is_reported() {
        let told = |busy_ns: u64, window_limited_ns: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            let mut steps = ServerSteps::default();
            (steps.network.busy_ns, steps.network.window_limited_ns) = (busy_ns, window_limited_ns);
            scene.record.workers[0].stats.features.server = Some(Box::new(steps));
            scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
        };
        let half = "Data waited to be sent or acknowledged for 2.00 s, and for 50 % of that time the server's receive window had \
                    no room.";
        assert_eq!(told(2_000_000_000, 1_000_000_000).as_deref(), Some(half));
        assert!(told(100_000_000, 20_000_000).is_some());
        assert_eq!(told(100_000_000, 19_000_000), None);
        assert_eq!(told(99_000_000, 99_000_000), None);
        assert_eq!(told(0, 0), None);
    }
}
