//! Jobs that end before they have enough I/Os for the percentiles that they report.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::most_ios;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_spec::DEFAULT_PERCENTILES;
use ferrio_stats::{Measured, Severity, has_few_beyond};
use ferrio_units::humanize::counted;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "few-ios-planned",
    title: "The job has too few I/Os for its percentiles",
    severity: Severity::Note,
    what: "Before a run: the most I/Os that a job can do, of all clones (number_ios; size or io_size by the smallest block, times loops), and the highest percentile \
           of percentile_list, or the 99th where that is not given. It is reported where fewer than ten I/Os can take longer than it. A job with time_based has \
           no such number.",
    why: "A percentile is the value of the slowest few I/Os, and with fewer than ten of them chance decides.",
    example: "--name=a --rw=randread --bs=4k --size=16m --percentile_list=50:99.99",
    cure: "Add --time_based and --runtime, or use a larger --size, or ask for a lower percentile.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// The percentile by which a job is judged that asks for none.
const USUAL: f64 = 99.0;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    if !case.is_before() {
        return Vec::new();
    }
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let reporting = &job.spec.reporting;
    let is_given = reporting.percentiles != DEFAULT_PERCENTILES;
    let highest = if is_given { reporting.percentiles.iter().copied().fold(0.0, f64::max) } else { USUAL };
    let n_ios = most_ios(job).filter(|_| reporting.clat_percentiles && !job.engine.moves_nothing())?;
    if !(0.0..100.0).contains(&highest) || !has_few_beyond(highest, n_ios) {
        return None;
    }
    let explanation = format!(
        "The job can do {}, and fewer than ten I/Os can take longer than percentile {highest}: chance will decide what it says.",
        counted(n_ios, "I/O", "I/Os")
    );
    Some(Observation::of(job, vec![Measured::count("most I/Os", n_ios as f64)], explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{DirectionMix, JobSpec, SizeSpec};

    fn is_told(change: fn(&mut JobSpec)) -> bool {
        let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
        // 512 I/Os.
        scene.jobs[0].extent.size = Some(SizeSpec::Bytes(2 * MIB));
        change(&mut scene.jobs[0]);
        scene.found().contains(&"few-ios-planned".to_owned())
    }

    #[test]
    fn one_io_is_no_several() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
        scene.jobs[0].extent.number_ios = 1;
        let explanation = scene.finding("few-ios-planned").explanation;
        assert!(explanation.starts_with("The job can do 1 I/O, and fewer than ten I/Os can "), "{explanation}");
    }

    #[test]
    fn ten_ios_beyond_the_highest_percentile_are_enough() {
        assert!(is_told(|_| {}));
        assert!(!is_told(|job| job.extent.size = Some(SizeSpec::Bytes(4 * MIB))));
        assert!(!is_told(|job| job.numjobs = 2) && !is_told(|job| job.limits.loops = 2));
        assert!(!is_told(|job| job.reporting.percentiles = vec![50.0, 90.0]));
        assert!(is_told(|job| {
            (job.extent.size, job.reporting.percentiles) = (Some(SizeSpec::Bytes(100 * MIB)), vec![99.99]);
        }));
        assert!(!is_told(|job| (job.limits.time_based, job.limits.runtime_us) = (true, 1)));
        assert!(is_told(|job| {
            (job.extent.size, job.extent.number_ios) = (Some(SizeSpec::Bytes(100 * MIB)), 900);
        }));
        assert!(!is_told(|job| job.extent.size = None));
    }
}
