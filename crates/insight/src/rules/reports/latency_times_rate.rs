//! Latency and rate of a report against its depth: Little's law.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, ReportedRow, Severity, ThreadStats};
use ferrio_units::DataDirection;
use ferrio_units::humanize::{duration_text, thousands};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "latency-times-rate",
    title: "Latency and rate do not fit the depth",
    severity: Severity::Wrong,
    what: "In a report that was not measured here: the mean latency times the number of I/Os, divided by the runtime, which is the mean \
           number of I/Os in flight (Little's law), and the number that the jobs can have in flight. It is reported from a quarter more \
           on.",
    why: "No more I/Os wait at a time than the jobs have in flight. So the rate, the latency or the time is that of another run, or of \
          another unit.",
    example: "ferrio check --result=post.txt   (a post with a mean latency of 10 ms, 100,000 IOPS and a depth of 32)",
    cure: "Ask for the whole report, as JSON (--output-format=json), or run the job again.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.reported_rows().flat_map(|(job, row, stats)| of_row(case, job, row, stats)).collect(),
};

/// So much more than can be in flight is no rounding.
const MARGIN: f64 = 1.25;

fn of_row(case: &AuditInput<'_>, job: &AuditedJob<'_>, row: &ReportedRow, stats: &ThreadStats) -> Vec<Observation> {
    let Some(depth) = most_in_flight(case, job, row) else { return Vec::new() };
    // fio 3.33 has only a part of the time of reads that verify.
    let is_of_pattern = |direction: &DataDirection| {
        job.spec.verify.is_none() && (job.does(*direction) || job.spec.given_options.is_empty())
    };
    DataDirection::ALL
        .into_iter()
        .filter(is_of_pattern)
        .filter_map(|direction| of_direction(job, depth, stats, direction))
        .collect()
}

/// The most I/Os that all jobs of the row can have in flight; `None`: that is not known.
fn most_in_flight(case: &AuditInput<'_>, job: &AuditedJob<'_>, row: &ReportedRow) -> Option<f64> {
    let has_depth = || !case.lacks_options() || job.spec.given_options.iter().any(|(name, _)| name == "iodepth");
    // A group has the options of its first job alone, and others may be deeper.
    let is_of_one = row.n_members == Some(1) || !job.spec.grouping.group_reporting || case.lacks_options();
    let asked = || (has_depth() && is_of_one).then_some(job.spec.queue.iodepth);
    let depth = row.most_in_flight.or_else(asked)?;
    Some(f64::from(depth) * f64::from(row.n_members?))
}

fn of_direction(
    job: &AuditedJob<'_>,
    depth: f64,
    stats: &ThreadStats,
    direction: DataDirection,
) -> Option<Observation> {
    let figures = &stats.directions[direction];
    let latency = if figures.lat.n_samples > 0 { &figures.lat } else { &figures.clat };
    let seconds = figures.runtime_ns as f64 / 1e9;
    if latency.n_samples == 0 || seconds <= 0.0 {
        return None;
    }
    let in_flight_seconds = latency.sum_ns as f64 / 1e9;
    let mean = in_flight_seconds / seconds;
    // I/Os that were in flight when a ramp ended count with all of their time.
    let over_ends = depth * latency.max_ns as f64 / 1e9;
    if in_flight_seconds <= MARGIN * depth * seconds + over_ends {
        return None;
    }
    let name = direction.name();
    let explanation = format!(
        "{} {name}s with a mean latency of {} in {} s are {} in flight on average, and no more than {} can be.",
        thousands(latency.n_samples),
        duration_text(latency.mean_ns()),
        text::short(seconds),
        text::short(mean),
        text::short(depth),
    );
    let evidence =
        vec![Measured::count("mean depth by latency and rate", mean), Measured::count("most in flight", depth)];
    Some(Observation::of(job, evidence, explanation).about(direction))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LatencyStat, RecordOrigin, ReportedFacts, ReportedRow};

    /// 25,600 reads in 10 s.
    fn found(latency_ns: u64, members: Option<u32>, most_in_flight: Option<u32>) -> Vec<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let lat = &mut scene.stats().directions.0[0].lat;
        *lat = LatencyStat::new(true);
        (0..25_600).for_each(|_| lat.record(latency_ns));
        let rows = vec![ReportedRow { worker_number: 1, n_members: members, most_in_flight, ..ReportedRow::default() }];
        scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
        scene.record.evidence.reported = Some(Box::new(ReportedFacts { rows, ..ReportedFacts::default() }));
        scene.found()
    }

    /// 25,600 times 0.48828125 ms are 12.5 s, a quarter more than 10.
    #[test]
    fn a_quarter_more_than_can_be_in_flight_is_told() {
        let quiet: [&str; 0] = [];
        assert_eq!(found(488_000, Some(1), Some(1)), quiet);
        assert_eq!(found(488_700, Some(1), Some(1)), ["latency-times-rate"]);
        assert_eq!(found(488_700, Some(2), Some(1)), quiet);
        assert_eq!(found(488_700, Some(1), Some(3)), quiet);
        // The depth of the job is 1.
        assert_eq!(found(488_700, Some(1), None), ["latency-times-rate"]);
        assert_eq!(found(488_700, None, Some(1)), quiet);
    }
}
