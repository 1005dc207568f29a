//! Jobs that began together, of which one ended long before another.

use crate::audit_input::AuditedJob;
use crate::measures::asked::is_paced;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "ran-alone-in-part",
    title: "A job had the device to itself for a part of its time",
    severity: Severity::Note,
    what: "The times of jobs of one group, as fast as they can on the same device, which begin together. It is reported where the last one ran for a quarter of its time or more, and \
           for half a second, after the others had ended.",
    why: "Its figures are a mean of two loads: beside the others, and alone. Neither of them is what it shows, and the sum of the jobs is the rate of no moment.",
    example: "--name=a --filename=/data/a --size=1g --rw=read --name=b --filename=/data/b --size=8g --rw=read",
    cure: "Give all jobs the same --runtime with --time_based, or end them together with --exitall; or add --stonewall, if each is a test of its own.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["jobs-share-blocks", "job-failed", "target-in-memory", "memory-as-expected"],
    find: |case| case.groups().values().filter_map(|jobs| of_group(jobs)).collect(),
};

/// A shorter time alone says nothing, seconds and share of the time.
const LEAST_SECS: f64 = 0.5;
const LEAST_SHARE: f64 = 0.25;

fn of_group(jobs: &[&AuditedJob<'_>]) -> Option<Observation> {
    let tests: Vec<&AuditedJob<'_>> = jobs.iter().copied().filter(|job| is_load(job)).collect();
    // A job that is not such a load may be there all the time.
    if tests.len() < 2 || tests.len() < jobs.len() {
        return None;
    }
    let (last, last_secs) =
        tests.iter().map(|job| (*job, whole_secs(job))).max_by(|one, two| one.1.total_cmp(&two.1))?;
    let device = device(last)?;
    let others: Vec<&AuditedJob<'_>> = tests.iter().copied().filter(|job| job.index != last.index).collect();
    if others.iter().any(|job| self::device(job) != Some(device)) {
        return None;
    }
    let until = others.iter().map(|job| whole_secs(job)).fold(0.0, f64::max);
    let alone = last_secs - until;
    if alone < LEAST_SECS || alone < last_secs * LEAST_SHARE {
        return None;
    }
    let explanation = format!(
        "The job {} ran for {} s, and the others had ended after {} s: for {} of its time it had {device} to itself.",
        last.name,
        text::short(last_secs),
        text::short(until),
        text::percent(alone, last_secs),
    );
    let evidence = vec![Measured::seconds("time alone", alone), Measured::seconds("time of the job", last_secs)];
    Some(Observation::of(last, evidence, explanation))
}

/// The job loads its device as it can from the start of its group on.
fn is_load(job: &AuditedJob<'_>) -> bool {
    let is_late = job.spec.limits.startdelay_us != (0, 0) || job.spec.pace.flow.weight > 0;
    job.total.is_some() && job.failed.is_empty() && job.has_files() && job.moves_data() && !is_paced(job) && !is_late
}

/// The longest time of a clone, seconds.
fn whole_secs(job: &AuditedJob<'_>) -> f64 {
    job.workers.iter().map(|worker| worker.stats.total_runtime_ns as f64 / 1e9).fold(0.0, f64::max)
}

/// The device of all files of a job; `None`: there are several, or it is not known.
fn device<'a>(job: &AuditedJob<'a>) -> Option<&'a str> {
    let first = job.places.first()?.device.as_deref()?;
    job.places.iter().all(|place| place.device.as_deref() == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{TestRun, job, place};
    use ferrio_spec::{DirectionMix, JobSpec};

    fn is_told(times_ms: [u64; 2], change: fn(&mut JobSpec)) -> bool {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let mut other = job("b", DirectionMix::Read);
        change(&mut other);
        scene.add(other, place("/data/b"));
        for (worker, time_ms) in scene.record.workers.iter_mut().zip(times_ms) {
            worker.stats.total_runtime_ns = time_ms * 1_000_000;
        }
        scene.found().contains(&RULE.id.to_owned())
    }

    #[test]
    fn a_quarter_of_the_time_alone_is_told() {
        assert!(is_told([7_500, 10_000], |_| ()));
        assert!(is_told([10_000, 7_500], |_| ()));
        assert!(!is_told([7_501, 10_000], |_| ()));
        assert!(!is_told([100, 599], |_| ()), "too short");
        assert!(!is_told([1_000, 10_000], |job| job.grouping.stonewall = true));
        assert!(!is_told([1_000, 10_000], |job| job.limits.startdelay_us = (1, 1)));
        assert!(!is_told([1_000, 10_000], |job| job.pace.pauses.pause_us = 10), "a load in the background");
    }
}
