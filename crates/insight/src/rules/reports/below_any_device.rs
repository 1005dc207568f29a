//! Direct I/O in a report that took less time than any device takes.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::on_device::is_direct;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{DirectionStats, Measured, ReportedRow, Severity, ThreadStats, full_percentiles};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "below-any-device",
    title: "The latencies are below those of any device",
    severity: Severity::Wrong,
    what: "In a report that was not measured here: the least, mean and median latency of direct I/O to files and devices. It is reported where \
           the mean is below one microsecond, or the median of an engine that waits for each I/O, or where the least is 0.",
    why: "A direct I/O passes the file system and the block layer and waits for the device; no system call that does so is back in less \
          than a microsecond. Something in memory answered, or the times are none of the I/Os.",
    example: "ferrio check --result=report.json   (direct reads with a mean latency of 604 ns)",
    cure: "Find out what answered: holes in the file, a file system that ignores direct=1, a device in memory; or run the job again.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// The mean of direct I/O is longer, nanoseconds.
const LEAST_MEAN_NS: f64 = 1_000.0;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let rows = case.reported_rows().filter(|(job, ..)| is_direct(job) && has_own_clock(job));
    rows.flat_map(|(job, _, stats): (_, &ReportedRow, &ThreadStats)| {
        let of = move |direction| of_direction(case, job, &stats.directions[direction], direction);
        [DataDirection::Read, DataDirection::Write].into_iter().filter_map(of)
    })
    .collect()
}

/// Each I/O is timed by the clock itself: not by one that another CPU sets now and then, nor by one of microseconds.
fn has_own_clock(job: &AuditedJob<'_>) -> bool {
    let given = |name: &str| job.spec.given_options.iter().any(|(option, _)| option == name);
    !given("gtod_cpu") && !given("clocksource")
}

fn of_direction(
    case: &AuditInput<'_>,
    job: &AuditedJob<'_>,
    figures: &DirectionStats,
    direction: DataDirection,
) -> Option<Observation> {
    // Such a job writes nothing: its rows count what would have been written.
    if job.spec.is_verify_only() && direction == DataDirection::Write {
        return None;
    }
    // The whole latency: an engine that queues may reap at once what its submission has done.
    let latency = &figures.lat;
    if latency.n_samples == 0 || latency.max_ns == 0 {
        return None;
    }
    let has_zero = latency.min_ns == 0 && !case.reported().is_some_and(|facts| facts.has_whole_us);
    let name = direction.name();
    let what = match () {
        () if latency.mean_ns() < LEAST_MEAN_NS => {
            format!("Direct {name}s took {} on average", duration_text(latency.mean_ns()))
        }
        () if job.engine.is_inline() && has_fast_half(case, figures) => {
            format!("Half of the direct {name}s took less than a microsecond")
        }
        () if has_zero => format!("The fastest direct {name} took 0 ns"),
        () => return None,
    };
    let explanation = format!("{what}, which no device can do: something in memory answered, or the times are wrong.");
    let evidence = vec![
        Measured::seconds("mean latency", latency.mean_ns() / 1e9),
        Measured::seconds("least latency", latency.min_ns as f64 / 1e9),
    ];
    Some(Observation::of(job, evidence, explanation).about(direction))
}

/// Noise of the machine lifts a mean, and not a median. The latency of an engine that waits has nearly all of the whole one.
fn has_fast_half(case: &AuditInput<'_>, figures: &DirectionStats) -> bool {
    let median = figures.clat.histogram.as_ref().and_then(|all| full_percentiles(all, &[50.0]).first().copied());
    let has_whole_us = case.reported().is_some_and(|facts| facts.has_whole_us);
    !has_whole_us && figures.clat.max_ns > 0 && median.is_some_and(|(_, ns)| (ns as f64) < LEAST_MEAN_NS)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{DirectionMix, VerifiedWrites, VerifyMethod, VerifySpec};
    use ferrio_stats::{LatencyStat, RecordOrigin, ReportedFacts, ReportedRow};

    fn scene(latencies_ns: [u64; 2]) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let lat = &mut scene.stats().directions.0[0].lat;
        *lat = LatencyStat::new(true);
        (0..10_000).for_each(|at| lat.record(latencies_ns[at % 2]));
        let rows = vec![ReportedRow { worker_number: 1, ..ReportedRow::default() }];
        scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
        scene.record.evidence.reported = Some(Box::new(ReportedFacts { rows, ..ReportedFacts::default() }));
        scene
    }

    /// A few waits for a CPU make the mean that of a device.
    #[test]
    fn half_of_all_ios_count_more_than_some_slow_ones() {
        let with_median = |median_ns: u64| {
            let mut scene = scene([100_000, 100_000]);
            let clat = &mut scene.stats().directions.0[0].clat;
            *clat = LatencyStat::new(true);
            (0..10_000).for_each(|at| clat.record(if at % 5 == 0 { 500_000 } else { median_ns }));
            scene.found().contains(&"below-any-device".to_owned())
        };
        assert!(with_median(950) && !with_median(1_100));
    }

    #[test]
    fn direct_io_takes_a_microsecond_and_no_io_takes_none() {
        let quiet: [&str; 0] = [];
        assert_eq!(scene([900, 1_100]).found(), quiet);
        assert_eq!(scene([900, 1_098]).found(), ["below-any-device"]);
        assert_eq!(scene([0, 90_000]).found(), ["below-any-device"]);
        let mut cached = scene([900, 900]);
        cached.jobs[0].durability.direct = false;
        assert!(!cached.found().contains(&"below-any-device".to_owned()));
        // What is only compared, and not written, takes no time.
        let mut compared = scene([100, 300]);
        let stats = compared.stats();
        stats.directions.0.swap(0, 1);
        compared.jobs[0].pattern.mix = DirectionMix::Write;
        assert!(compared.found().contains(&"below-any-device".to_owned()));
        let verify = VerifySpec { reads: VerifiedWrites::OfEarlierRun, ..VerifySpec::of(VerifyMethod::Crc32c) };
        compared.jobs[0].verify = Some(verify);
        assert!(!compared.found().contains(&"below-any-device".to_owned()));
        // Whole microseconds are rounded down.
        let mut rounded = scene([0, 90_000]);
        rounded.record.evidence.reported.as_mut().expect("facts").has_whole_us = true;
        assert_eq!(rounded.found(), quiet);
        let mut coarse = scene([0, 90_000]);
        coarse.jobs[0].given_options.push(("clocksource".to_owned(), "gettimeofday".to_owned()));
        assert_eq!(coarse.found(), quiet);
    }
}
