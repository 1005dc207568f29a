//! Jobs that ended without any I/O, and why.

use crate::audit_input::{AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_spec::SizeSpec;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "no-io",
    title: "The job has done no I/O",
    severity: Severity::Wrong,
    what: "The I/Os of a job that began and ended without an error, and its options: runtime, size, block size, rwmixread, offset, create_only, \
           a verification without data. It is reported where no I/O completed.",
    why: "A job without I/O has no figures. That it ended without an error does not mean that it has tested anything.",
    example: "--name=a --ioengine=psync --rw=read --size=4m --time_based --runtime=1us",
    cure: "See the reason in the finding.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["ramp-outlasts-job", "files-below-block"],
    find: |case| case.jobs.iter().filter_map(of_job).collect(),
};

/// A runtime of less than this may end before the first I/O, microseconds.
const SHORT_US: u64 = 10_000;

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let total = job.total.as_ref()?;
    let has_none = total.directions.0.iter().all(|direction| direction.n_completed == 0 && direction.bytes == 0);
    let is_of_io = !job.engine.moves_nothing() && !job.spec.layout.create_only;
    if !has_none || !is_of_io || total.errno != 0 || total.n_syncs_issued > 0 {
        return None;
    }
    let (reason, cure) = reason(job);
    let evidence = vec![Measured::seconds("runtime of the job", total.total_runtime_ns as f64 / 1e9)];
    let explanation = format!("The job began and ended without an I/O. {reason}");
    Some(Observation { cure: Some(cure.to_owned()), ..Observation::of(job, evidence, explanation) })
}

/// The reason, as far as the options show one, and its cure.
fn reason(job: &AuditedJob<'_>) -> (String, &'static str) {
    let limits = &job.spec.limits;
    let given = |name: &str| {
        job.spec.given_options.iter().rev().find(|(option, _)| option == name).map(|(_, value)| value.as_str())
    };
    let used = DataDirection::ALL.into_iter().filter(|direction| job.does(*direction));
    let smallest = used.map(|direction| job.spec.pattern.block_size[direction].min_bytes).min().unwrap_or(0);
    let there = sum(job.places.iter().map(|place| place.now.size_bytes));
    if limits.runtime_us > 0 && limits.runtime_us < SHORT_US {
        let as_given = given("runtime").map_or(String::new(), |value| format!("runtime={value} is "));
        let reason = format!(
            "{as_given}a runtime of {}: it was over before the first I/O.",
            duration_text(limits.runtime_us as f64 * 1e3)
        );
        return (reason, "Give --runtime in seconds, as 10 or 10s; us, ms, m and h are other units.");
    }
    if let Some(SizeSpec::Bytes(bytes)) = job.spec.extent.io_size.or(job.spec.extent.size)
        && bytes < smallest
    {
        let reason = format!("The size of {} is less than one block of {}.", text::bytes(bytes), text::bytes(smallest));
        return (reason, "Use a larger --size, or a smaller --bs.");
    }
    if job.spec.is_verify_only() {
        return (
            "It only verifies, and found nothing that was written.".to_owned(),
            "Write the data with the same options first.",
        );
    }
    if let SizeSpec::Bytes(offset) = job.spec.extent.offset
        && offset > 0
        && there > 0
        && offset.saturating_add(smallest) > there
    {
        let reason = format!(
            "The offset of {} is behind the end of the target, which has {}.",
            text::bytes(offset),
            text::bytes(there)
        );
        return (reason, "Use a smaller --offset, or a larger target.");
    }
    if job.has_files() && !job.has_more_files && !job.places.is_empty() && there < smallest.max(1) {
        let reason =
            format!("The targets hold {}, less than one block of {}.", text::bytes(there), text::bytes(smallest));
        return (reason, "Give a --size, so that the files are made, or write them first.");
    }
    if limits.runtime_us > 0 {
        let reason = format!("None completed within the runtime of {}.", duration_text(limits.runtime_us as f64 * 1e3));
        return (reason, "Use a longer --runtime, and look whether the target answers at all.");
    }
    (
        "Its options show no reason; another job may have ended it (exitall, wait_for), or a signal.".to_owned(),
        "Look at the messages of the run.",
    )
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{DirectionMix, JobSpec, SizeSpec};
    use ferrio_stats::ThreadStats;

    fn scene(change: fn(&mut JobSpec)) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        change(&mut job);
        let mut scene = TestRun::new(job);
        *scene.stats() = ThreadStats::default();
        scene
    }

    #[test]
    fn the_reason_is_told() {
        type AuditInput = (fn(&mut JobSpec), &'static str);
        let cases: [AuditInput; 4] = [
            (
                |job| {
                    job.limits.runtime_us = 1;
                    job.given_options.push(("runtime".to_owned(), "1sec".to_owned()));
                },
                "runtime=1sec is a runtime of 1.00 us",
            ),
            (|job| job.extent.size = Some(SizeSpec::Bytes(512)), "less than one block of 4 KiB"),
            (|job| job.extent.offset = SizeSpec::Bytes(1 << 40), "behind the end of the target"),
            (|job| job.limits.runtime_us = 5_000_000, "None completed within the runtime of 5.00 s"),
        ];
        for (change, words) in cases {
            let finding = scene(change).finding("no-io");
            assert!(finding.explanation.contains(words), "{words}: {finding:?}");
        }
    }

    #[test]
    fn jobs_with_io_errors_or_nothing_to_move_are_left_alone() {
        assert!(!TestRun::new(job("a", DirectionMix::Read)).found().contains(&"no-io".to_owned()));
        let mut failed = scene(|_| ());
        failed.stats().errno = 5;
        assert!(!failed.found().contains(&"no-io".to_owned()));
        let made = scene(|job| job.layout.create_only = true);
        assert!(!made.found().contains(&"no-io".to_owned()));
    }
}
