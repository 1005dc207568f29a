//! Replies that come 40 ms late, because one end waits for an acknowledgement that the other end delays.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::histogram::bucket_latency_ns;
use ferrio_stats::{Histogram, Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::{duration_text, thousands};
use std::ops::RangeInclusive;

/// Linux delays an acknowledgement for 40 ms at first; what is added is the way of a small segment.
const DELAYED_NS: RangeInclusive<u64> = 39_500_000..=46_000_000;

/// Latencies close below it: with many of them the device is slow, and the delay is no peak.
const BELOW_NS: RangeInclusive<u64> = 30_000_000..=39_499_999;

/// Part of the I/Os from which on delays are reported.
const LEAST_SHARE: f64 = 0.05;

/// A longer round trip explains such latencies, nanoseconds.
const LONGEST_ROUND_TRIP_NS: f64 = 10e6;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "delayed-replies",
    title: "Replies wait 40 ms for an acknowledgement",
    severity: Severity::Misleading,
    what: "The latencies of a job whose engine has connections of TCP to a server, and the round trip of these connections. It is reported \
           if at least 5 % of the I/Os took 40 to 46 ms, hardly any a little less, and the shortest round trip takes less than 10 ms.",
    why: "Linux delays an acknowledgement by 40 ms if it hopes to send it along with data. A server that does not set TCP_NODELAY holds a \
          small segment back until that acknowledgement has come (Nagle's algorithm). These I/Os then take 40 ms although nothing \
          is slow. ferrio sets TCP_NODELAY at its end.",
    example: "--name=a --ioengine=http --http_host=HOST --filename=/o --rw=randread --bs=4k   (a server that sends the head and the body \
              of a reply separately, without TCP_NODELAY)",
    cure: "Turn TCP_NODELAY on in the server (nginx: tcp_nodelay on).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let round_trip = job.server()?.network.round_trip;
    if round_trip.n_samples == 0 || round_trip.mean_ns() > LONGEST_ROUND_TRIP_NS {
        return None;
    }
    let (direction, n_late, n_all) = DataDirection::ALL.into_iter().find_map(|direction| {
        let figures = job.figures(direction)?;
        // Most jobs have a distribution of one of them only.
        let distributions = [&figures.lat, &figures.clat].map(|latency| latency.histogram.as_ref());
        let histogram = distributions.into_iter().flatten().find(|histogram| histogram.n_samples() > 0)?;
        let (n_late, n_below) = (n_within(histogram, &DELAYED_NS), n_within(histogram, &BELOW_NS));
        let n_all = histogram.n_samples();
        let is_peak = n_late as f64 >= LEAST_SHARE * n_all as f64 && n_below.saturating_mul(5) < n_late;
        (n_late > 0 && is_peak).then_some((direction, n_late, n_all))
    })?;
    let evidence = vec![
        Measured::count("I/Os of 40 to 46 ms", n_late as f64),
        Measured::seconds("round trip", round_trip.mean_ns() / 1e9),
    ];
    let explanation = format!(
        "{} of {} I/Os took 40 to 46 ms, while a round trip to the server takes {}: their replies probably waited for a delayed \
         acknowledgement.",
        thousands(n_late),
        thousands(n_all),
        duration_text(round_trip.mean_ns())
    );
    Some(Observation::of(job, evidence, explanation).about(direction))
}

fn n_within(histogram: &Histogram, range: &RangeInclusive<u64>) -> u64 {
    sum(histogram.filled().filter(|(bucket, _)| range.contains(&bucket_latency_ns(*bucket))).map(|(_, count)| count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LatencyStat, ServerSteps};

    fn told(latencies_ns: &[(u64, u64)], round_trip_ns: Option<u64>) -> Option<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let mut steps = ServerSteps::default();
        if let Some(round_trip_ns) = round_trip_ns {
            steps.network.round_trip.record(round_trip_ns);
        }
        let stats = &mut scene.record.workers[0].stats;
        stats.features.server = Some(Box::new(steps));
        let (mut lat, mut clat) = (LatencyStat::new(false), LatencyStat::new(true));
        for (latency_ns, n_times) in latencies_ns {
            for _ in 0..*n_times {
                lat.record(*latency_ns);
                clat.record(*latency_ns);
            }
        }
        (stats.directions[DataDirection::Read].lat, stats.directions[DataDirection::Read].clat) = (lat, clat);
        scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
    }

    #[test]
    fn a_peak_at_40_ms_is_told_from_a_slow_device() {
        let some = told(&[(200_000, 900), (41_000_000, 100)], Some(100_000));
        let expected = "100 of 1,000 I/Os took 40 to 46 ms, while a round trip to the server takes 100 us: their replies probably \
                        waited for a delayed acknowledgement.";
        assert_eq!(some.as_deref(), Some(expected));
        // A slow disk, a slow network, few of them, no connection of TCP.
        assert_eq!(told(&[(200_000, 900), (35_000_000, 50), (41_000_000, 50)], Some(100_000)), None);
        assert_eq!(told(&[(200_000, 900), (41_000_000, 100)], Some(40_000_000)), None);
        assert_eq!(told(&[(200_000, 960), (41_000_000, 40)], Some(100_000)), None);
        assert_eq!(told(&[(200_000, 900), (41_000_000, 100)], None), None);
    }
}
