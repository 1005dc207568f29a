//! A rate that rose or fell all the time.

use crate::audit_input::AuditInput;
use crate::measures::kept::FreeCourse;
use crate::measures::rates::free_courses;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_inference::{mean, trend};
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "rate-drifts",
    title: "The rate changed all through the run",
    severity: Severity::Misleading,
    what: "The line through the I/Os of a job by interval, with an error that respects that neighbouring intervals are alike. It is reported \
           where chance does not explain the slope (one run in a thousand), the rate changed by more than 15 %, and it changed in the \
           same direction from each third of the run to the next; in runs of about ten seconds and more, of jobs that did not wait for a CPU.",
    why: "The job had not reached a steady state: a longer run gives another mean.",
    example: "--name=a --rw=randwrite --bs=4k --direct=1 --size=10g --runtime=30 --time_based",
    cure: "Run until the rate is steady (ss=iops_slope:1% ends the run then), and leave the time before out with ramp_time.",
    needs: &[EvidenceKind::Course],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Transient,
    yields_to: &["waits-for-cpu"],
    find,
};

/// A change of the rate by less over the run is within what devices do.
const LEAST_CHANGE: f64 = 0.15;
/// Each third of the run differs from the one before by at least this share of the change.
const LEAST_STEP: f64 = 0.2;
/// With fewer I/Os in an interval, their number says little.
const LEAST_IOS: f64 = 10.0;
/// Fewest intervals, about ten seconds: a shorter run shows a mood of the machine rather than a drift.
const LEAST_INTERVALS: usize = 90;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    free_courses(case).iter().filter_map(|course| of_course(case, course)).collect()
}

fn of_course(case: &AuditInput<'_>, course: &FreeCourse) -> Option<Observation> {
    let (job, interval_secs, ios) = (&case.jobs[course.job_index], course.interval_secs, &course.ios);
    let center = mean(ios);
    // A rate that fell once is no drift.
    if ios.len() < LEAST_INTERVALS || center < LEAST_IOS || course.fall().is_some() {
        return None;
    }
    let trend = trend(ios)?;
    if !trend.is_certain || trend.change.abs() < LEAST_CHANGE * center || !goes_on(ios, trend.change) {
        return None;
    }
    let (start, end) = (center - trend.change / 2.0, center + trend.change / 2.0);
    let rate = |n_ios: f64| n_ios.max(0.0) / interval_secs;
    let percent = |change: f64| 100.0 * change / center;
    let explanation = format!(
        "The rate {} from about {} to about {} a second in {} s, so it was no steady state: a longer run gives another mean.",
        if trend.change > 0.0 { "rose" } else { "fell" },
        text::short(rate(start)),
        text::ios(rate(end)),
        text::short(ios.len() as f64 * interval_secs)
    );
    let evidence = vec![
        Measured::percent("change of the rate", percent(trend.change)),
        Measured::percent("at least (95 %)", percent(trend.low)),
        Measured::percent("at most", percent(trend.high)),
    ];
    Some(Observation::of(job, evidence, explanation))
}

/// The rate changes in one direction from third to third.
fn goes_on(ios: &[f64], change: f64) -> bool {
    let third = ios.len() / 3;
    let means = [mean(&ios[..third]), mean(&ios[third..2 * third]), mean(&ios[2 * third..])];
    means.windows(2).all(|pair| (pair[1] - pair[0]) / change >= LEAST_STEP)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::JobSeries;
    use ferrio_units::DataDirection;

    /// A job whose rate changes by so many percent of 400 I/Os per interval in 10 s.
    fn scene(percent: i64) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let mut series = JobSeries { clone_ns: vec![100_000_000; 100], ..JobSeries::new(0, 100_000_000) };
        let ios =
            (0..100_i64).map(|index| 400 + (index - 50) * 4 * percent / 100 + (index * index * 31 + index * 7) % 13);
        series.directions[DataDirection::Read].ios = ios.map(|n_ios| n_ios as u64).collect();
        scene.record.series.push(series);
        scene
    }

    #[test]
    fn a_drift_by_a_sixth_is_told() {
        for percent in [0, 10, -10] {
            assert_eq!(scene(percent).found(), Vec::<String>::new(), "{percent}");
        }
        for percent in [20, -20, -60] {
            assert_eq!(scene(percent).found(), ["rate-drifts"], "{percent}");
        }
        let finding = scene(-20).finding("rate-drifts");
        assert!(finding.explanation.starts_with("The rate fell from about 4,4"), "{}", finding.explanation);
        assert!((finding.evidence[0].value + 20.0).abs() < 1.0, "{:?}", finding.evidence);
    }

    /// A warm-up of one interval, and a peak in the middle.
    #[test]
    fn other_shapes_are_no_drift() {
        let mut scene = scene(0);
        scene.record.series[0].directions[DataDirection::Read].ios[0] = 3;
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.record.series[0].directions[DataDirection::Read].ios[40..60].fill(800);
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
