//! Ends of a connection by datagrams to which others than the other end have sent some.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "foreign-datagrams",
    title: "Datagrams came from others than the other end",
    severity: Severity::Misleading,
    what: "The senders of the datagrams that a UDP reader gets, and a UDP writer that waits for replies (pingpong). It is reported of the first \
           one from an address that is not that of the other end.",
    why: "Every program that can reach a port can send to it. A job as in fio counts such datagrams among its reads or takes them for \
          replies; a native run leaves them out, and still spends time on them.",
    example: "--name=a --ioengine=net --protocol=udp --port=8888 --rw=read --size=1g   (another program sends to this port)",
    cure: "Use a --port of its own for each pair of jobs, which no other program sends to.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let datagrams = || job.workers.iter().chain(&job.failed).map(|worker| worker.stats.features.foreign_datagrams);
    let n_taken = sum(datagrams().map(|datagrams| datagrams.n_taken));
    let n_left_out = sum(datagrams().map(|datagrams| datagrams.n_left_out));
    let reads = job.does(DataDirection::Read);
    let (n_foreign, fate) = match (n_taken, n_left_out) {
        (0, 0) => return None,
        (0, n_left_out) => (n_left_out, "left out"),
        (n_taken, _) if reads => (n_taken, "counted as reads"),
        (n_taken, _) => (n_taken, "taken for replies"),
    };
    let other_end = if reads { "writer" } else { "reader" };
    let datagrams = if n_foreign == 1 {
        format!("One datagram came from another sender than the {other_end}, and was")
    } else {
        format!("{} datagrams came from other senders than the {other_end}, and were", thousands(n_foreign))
    };
    let evidence = vec![Measured::count("datagrams of others", n_foreign as f64)];
    Some(Observation::of(job, evidence, format!("{datagrams} {fate}.")).about(DataDirection::Read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::ForeignDatagrams;

    fn told(direction: DirectionMix, n_taken: u64, n_left_out: u64) -> Option<String> {
        let mut scene = TestRun::new(job("a", direction));
        scene.record.workers[0].stats.features.foreign_datagrams = ForeignDatagrams { n_taken, n_left_out };
        scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
    }

    #[test]
    fn datagrams_of_others_are_told() {
        let of_reader = |n_taken, n_left_out| told(DirectionMix::Read, n_taken, n_left_out);
        assert_eq!(of_reader(0, 0), None);
        let one = "One datagram came from another sender than the writer, and was left out.";
        assert_eq!(of_reader(0, 1).as_deref(), Some(one));
        let many = "3,000 datagrams came from other senders than the writer, and were counted as reads.";
        assert_eq!(of_reader(3_000, 0).as_deref(), Some(many));
        let reply = "One datagram came from another sender than the reader, and was taken for replies.";
        assert_eq!(told(DirectionMix::Write, 1, 0).as_deref(), Some(reply));
    }
}
