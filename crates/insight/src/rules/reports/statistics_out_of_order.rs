//! Statistics of a report that no distribution can have.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, ReportedRow, Severity};
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "statistics-out-of-order",
    title: "Statistics of a latency are out of order",
    severity: Severity::Wrong,
    what: "In a report that was not measured here: the percentiles of each latency, its minimum, mean and maximum. It is reported where a higher \
           percentile is below a lower one, the maximum below a percentile or the mean, or the mean below the minimum, by more than reports round.",
    why: "No distribution has such statistics. One of them is that of another run, was changed, or has another unit.",
    example: "ferrio check --result=post.txt   (a post with a 99th percentile below the 50th)",
    cure: "Ask for the whole report, as JSON (--output-format=json), or run the job again.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.reported_rows().filter_map(|(job, row, _)| of_row(job, row)).collect()
}

fn of_row(job: &AuditedJob<'_>, row: &ReportedRow) -> Option<Observation> {
    let misfit = row.misfit.as_deref()?;
    let (below, above) = (&misfit.below, &misfit.above);
    let explanation = format!(
        "The {} of {} of the {}s is {}, and the {} is {}: no distribution has that.",
        below.name,
        misfit.latency,
        misfit.of,
        duration_text(below.ns),
        above.name,
        duration_text(above.ns)
    );
    let evidence = [below, above].map(|one| Measured::seconds(&one.name, one.ns / 1e9));
    Some(Observation::of(job, evidence.to_vec(), explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{RecordOrigin, ReportedFacts, ReportedMisfit, ReportedRow, ReportedStatistic};

    #[test]
    fn both_statistics_are_named() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
        let statistic = |name: &str, ns| ReportedStatistic { name: name.to_owned(), ns };
        let misfit = Some(Box::new(ReportedMisfit {
            of: "read".to_owned(),
            latency: "clat".to_owned(),
            below: statistic("p99", 12_000.0),
            above: statistic("p50", 80_000.0),
        }));
        let rows = vec![ReportedRow { worker_number: 1, misfit, ..ReportedRow::default() }];
        scene.record.evidence.reported = Some(Box::new(ReportedFacts { rows, ..ReportedFacts::default() }));
        let finding = scene.finding("statistics-out-of-order");
        let expected = "The p99 of clat of the reads is 12.0 us, and the p50 is 80.0 us: no distribution has that.";
        assert_eq!(finding.explanation, expected);
    }
}
