//! Percentiles that were given as fractions.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "percentiles-below-one",
    title: "The percentiles are those of the shortest latencies",
    severity: Severity::Misleading,
    what: "The values of percentile_list. It is reported where all of them are below 1.",
    why: "Percentiles are in percent: 0.99 is the latency that 0.99 % of the I/Os do not exceed, one of the shortest, and not the 99th percentile.",
    example: "--name=a --rw=randread --size=1g --percentile_list=0.5:0.99",
    cure: "Write percents: percentile_list=50:99.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &["percentile_list"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let given = &job.spec.reporting.percentiles;
    // 0 is the shortest of all, and asked for as such.
    if given.is_empty() || !given.iter().all(|percentile| (0.0..1.0).contains(percentile) && *percentile > 0.0) {
        return None;
    }
    let list =
        |values: &mut dyn Iterator<Item = f64>| values.map(|value| value.to_string()).collect::<Vec<_>>().join(":");
    let written = list(&mut given.iter().copied());
    // Rounded to what can be written: 0.29 * 100 is 28.999....
    let meant = list(&mut given.iter().map(|value| (value * 1e8).round() / 1e6));
    let explanation = format!(
        "percentile_list={written} asks for the latencies that less than 1 % of the I/Os do not exceed: they are among the shortest."
    );
    Some(Observation {
        cure: Some(format!("Write percents: percentile_list={meant}.")),
        ..Observation::of(job, Vec::new(), explanation)
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn scene(percentiles: &[f64]) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
        scene.jobs[0].reporting.percentiles = percentiles.to_vec();
        scene
    }

    #[test]
    fn fractions_are_told_where_all_of_them_are_such() {
        let finding = scene(&[0.29, 0.99]).finding(RULE.id);
        assert_eq!(finding.cure, "Write percents: percentile_list=29:99.");
        for others in [&[][..], &[0.1, 50.0], &[99.0, 99.9], &[1.0], &[0.0]] {
            assert!(scene(others).found().is_empty(), "{others:?}");
        }
    }
}
