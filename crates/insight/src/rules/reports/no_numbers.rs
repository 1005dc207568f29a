//! Figures of a report that are no numbers.

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "figures-no-numbers",
    title: "Figures are no numbers",
    severity: Severity::Misleading,
    what: "In a report that was not measured here: figures that are nan or inf. One is enough.",
    why: "Such a figure was divided by zero: by a runtime, a number of I/Os or a deviation that was never measured. ferrio shows it as 0, \
          and what rests on it is not known.",
    example: "ferrio check --result=report.json   (with \"iops_stddev\" : -nan)",
    cure: "Run longer, so that there is something to divide by, or run again with a newer fio.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let n_figures = case.reported().map_or(0, |facts| facts.n_no_numbers);
    if n_figures == 0 {
        return Vec::new();
    }
    let are =
        if n_figures == 1 { "1 figure of the report is" } else { &format!("{n_figures} figures of the report are") };
    let explanation = format!("{are} nan or inf, divided by zero: here 0 stands in the place of each.");
    vec![Observation::of_run(vec![Measured::count("figures that are no numbers", f64::from(n_figures))], explanation)]
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{RecordOrigin, ReportedFacts};

    #[test]
    fn one_figure_is_enough() {
        let found = |n_no_numbers: u32| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
            scene.record.evidence.reported = Some(Box::new(ReportedFacts { n_no_numbers, ..ReportedFacts::default() }));
            scene.found()
        };
        assert_eq!(found(1), ["figures-no-numbers"]);
        assert_eq!(found(0), Vec::<String>::new());
    }
}
