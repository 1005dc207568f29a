//! Rates of a report against its counts and its time.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, ReportedRow, Severity, ThreadStats};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "rate-times-time",
    title: "Rate and time do not make the total",
    severity: Severity::Wrong,
    what: "In a report that was not measured here: the bytes and I/Os of a direction, and its rates times its runtime. It is reported where \
           they differ by more than 3 %, which is more than the rounding of fio's text.",
    why: "The rates of fio are totals divided by the runtime. Where that does not come out, one of the three is that of another run, or was changed.",
    example: "ferrio check --result=post.txt   (a post with BW=500MiB/s, and 10 GiB in 60 s)",
    cure: "Ask for the whole report, as JSON (--output-format=json), or run the job again.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// fio's text rounds to four digits, of which the last of an amount such as 1.01 GiB is 1 %.
const MARGIN: f64 = 0.03;
/// Rates are whole KiB a second in terse output, and whole I/Os a second.
const BYTES_UNIT: f64 = 1024.0;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let rows = case.reported_rows();
    rows.flat_map(|(job, row, stats)| {
        DataDirection::ALL.into_iter().filter_map(move |of| of_direction(job, row, stats, of))
    })
    .collect()
}

fn of_direction(
    job: &AuditedJob<'_>,
    row: &ReportedRow,
    stats: &ThreadStats,
    direction: DataDirection,
) -> Option<Observation> {
    let (figures, rate) = (&stats.directions[direction], row.rates[direction]?);
    let seconds = figures.runtime_ns as f64 / 1e9;
    if seconds <= 0.0 {
        return None;
    }
    let (bytes, ios) = (rate.bytes_per_sec * seconds, rate.ios_per_sec * seconds);
    let name = direction.name();
    if differs(bytes, figures.bytes as f64, BYTES_UNIT * (seconds + 1.0)) {
        let explanation = format!(
            "{}/s for {} s are {}, and the report has {} of {name}s.",
            text::bytes(rate.bytes_per_sec as u64),
            text::short(seconds),
            text::bytes(bytes as u64),
            text::bytes(figures.bytes),
        );
        let evidence = vec![Measured::bytes("rate times time", bytes as u64), Measured::bytes("total", figures.bytes)];
        return Some(Observation::of(job, evidence, explanation).about(direction));
    }
    if differs(ios, figures.n_completed as f64, seconds + 1.0) {
        let explanation = format!(
            "{} IOPS for {} s are {} I/Os, and the report has {} {name}s.",
            thousands(rate.ios_per_sec as u64),
            text::short(seconds),
            thousands(ios as u64),
            thousands(figures.n_completed),
        );
        let evidence =
            vec![Measured::count("rate times time", ios), Measured::count("total", figures.n_completed as f64)];
        return Some(Observation::of(job, evidence, explanation).about(direction));
    }
    None
}

/// The two differ by more than rounding does.
fn differs(made: f64, told: f64, least: f64) -> bool {
    (made - told).abs() > (MARGIN * made.max(told)).max(least)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{RecordOrigin, ReportedFacts, ReportedRate, ReportedRow};
    use ferrio_units::PerDirection;

    /// 25,600 reads and 100 MiB in 10 s.
    fn found(ios_per_sec: f64, bytes_per_sec: f64) -> Vec<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let rates = PerDirection([Some(ReportedRate { ios_per_sec, bytes_per_sec }), None, None]);
        let rows = vec![ReportedRow { worker_number: 1, rates, ..ReportedRow::default() }];
        scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
        scene.record.evidence.reported = Some(Box::new(ReportedFacts { rows, ..ReportedFacts::default() }));
        scene.found()
    }

    #[test]
    fn a_difference_of_more_than_rounding_is_told() {
        let (quiet, ten): ([&str; 0], f64) = ([], (10 * MIB) as f64);
        assert_eq!(found(2_560.0, ten), quiet);
        assert_eq!(found(2_500.0, ten * 0.975), quiet);
        assert_eq!(found(2_480.0, ten), ["rate-times-time"]);
        assert_eq!(found(2_560.0, ten * 1.04), ["rate-times-time"]);
    }
}
