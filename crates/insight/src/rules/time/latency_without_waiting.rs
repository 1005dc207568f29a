//! Latencies under a rate that leave out the time for which I/Os waited to begin (coordinated omission).

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::waits_beside_rate;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{LatencyStat, Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "latency-without-waiting",
    title: "The latencies leave out the time for which I/Os waited to begin",
    severity: Severity::Misleading,
    what: "The latencies of a job with a rate, counted from the start of each I/O as in the report, and from the time at which the rate \
           wanted it to start. It is reported where an I/O that took long made others late, and one of p99.9, p99, p90 and p50 is more than \
           30 ms longer from the wanted start, and more than twice as long.",
    why: "While a job waits for a slow I/O, it cannot begin those that are due. They follow in a burst, and each has a short latency of its \
          own: a stall of a second is one sample, where users who come at this rate would have seen hundreds.",
    example: "--name=a --ioengine=sim --sim_stall=2s/500ms --rate_iops=1000 --rw=randread --size=1g --time_based --runtime=10",
    cure: "Add --rate_latency=response: the report then also has latencies from the wanted start (`response_ns` in JSON).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["stopped-by-signal"],
    find,
};

/// A shorter difference may come from a job that waited for a CPU.
const LEAST_NS: u64 = 30_000_000;
const TIMES: u64 = 2;
/// With fewer I/Os p99.9 is the slowest of all.
const LEAST_IOS: u64 = 100;
/// A stall of a device that comes often enough is in the highest of them anyway.
const PERCENTS: [f64; 4] = [99.9, 99.0, 90.0, 50.0];

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let each = |job| DataDirection::ALL.into_iter().filter_map(move |direction| of_job(job, direction));
    case.jobs.iter().flat_map(each).collect()
}

fn of_job(job: &AuditedJob<'_>, direction: DataDirection) -> Option<Observation> {
    let rate = job.total.as_ref()?.features.rate.as_ref()?;
    let own = &job.figures(direction)?.clat;
    // An I/O that took long, and not a job that waited for a CPU, was the reason.
    if own.n_samples < LEAST_IOS
        || own.max_ns < LEAST_NS
        || own.max_ns < rate.most_late_ns / 2
        || waits_beside_rate(job)
    {
        return None;
    }
    let both =
        |percent| Some((percent, at_percentile(own, percent)?, at_percentile(&rate.response[direction], percent)?));
    let differ = |(_, shown_ns, wanted_ns): &(f64, u64, u64)| {
        wanted_ns.saturating_sub(*shown_ns) >= LEAST_NS && *wanted_ns >= shown_ns.saturating_mul(TIMES)
    };
    let (percent, shown_ns, wanted_ns) = PERCENTS.into_iter().filter_map(both).find(differ)?;
    let explanation = format!(
        "An I/O took {}; others that were due meanwhile began up to {} late, and their latencies count from there. From the start that \
         the rate wanted, p{percent} is {} and not {}.",
        duration_text(own.max_ns as f64),
        duration_text(rate.most_late_ns as f64),
        duration_text(wanted_ns as f64),
        duration_text(shown_ns as f64)
    );
    let seconds = |what: &str, ns: u64| Measured::seconds(what, ns as f64 / 1e9);
    let evidence = vec![
        seconds(&format!("p{percent} from the start"), shown_ns),
        seconds(&format!("p{percent} from the wanted start"), wanted_ns),
        seconds("longest delay of a start", rate.most_late_ns),
    ];
    Some(Observation::of(job, evidence, explanation).about(direction))
}

fn at_percentile(latency: &LatencyStat, percent: f64) -> Option<u64> {
    latency.percentile(percent).map(|found| found.latency_ns)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LatencyStat, RateStats};

    /// 25,600 reads, one of which takes so many milliseconds, and makes so many others late, by half of that.
    fn scene(milliseconds: u64, n_late: u64) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        job.pace.ios_per_sec.0[0] = 2560;
        let mut scene = TestRun::new(job);
        let stall_ns = milliseconds * 1_000_000;
        let mut rate = RateStats { most_late_ns: stall_ns, ..RateStats::default() };
        rate.response.0[0] = LatencyStat::new(true);
        let clat = &mut scene.stats().directions.0[0].clat;
        *clat = LatencyStat::new(true);
        for index in 0..25_600 {
            clat.record(if index == 0 { stall_ns } else { 300_000 });
            rate.response.0[0].record(if index <= n_late { stall_ns / 2 } else { 300_000 });
        }
        scene.stats().features.rate = Some(Box::new(rate));
        scene
    }

    #[test]
    fn a_stall_that_hides_behind_the_rate_is_told() {
        // The stall itself took a twentieth of the time.
        assert_eq!(scene(500, 100).found(), ["latency-without-waiting", "stalls"]);
        // Of 25,600 reads 25.6 are beyond p99.9.
        assert!(!scene(500, 20).found().contains(&"latency-without-waiting".to_owned()));
        assert_eq!(scene(50, 100).found(), Vec::<String>::new());
        let explanation = scene(500, 100).finding("latency-without-waiting").explanation;
        assert!(
            explanation.starts_with("An I/O took 500 ms; others that were due meanwhile began up to 500 ms late"),
            "{explanation}"
        );
        assert!(explanation.ends_with("p99.9 is 250 ms and not 301 us."), "{explanation}");
    }

    #[test]
    fn a_job_that_waited_for_a_cpu_is_left_alone() {
        let mut scene = scene(500, 100);
        let clat = &mut scene.stats().directions.0[0].clat;
        *clat = LatencyStat::new(true);
        (0..25_600).for_each(|_| clat.record(300_000));
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
