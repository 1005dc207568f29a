//! A rate that fell once in the course of a run and stayed low: burst credit that was used up, a cache that was full.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::course::JobCourse;
use crate::measures::asked::waits_at_end;
use crate::measures::kept::FreeCourse;
use crate::measures::rates::{PacedCourse, free_courses, paced_courses};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_inference::Change;
use ferrio_stats::{Finding, Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "rate-fell",
    title: "The rate fell once and stayed lower",
    severity: Severity::Misleading,
    what: "The I/Os of a job in each interval of its run. It is reported where the rate fell at one place by more than a fifth, which chance \
           does not explain, and was steady before and after it, or where it began at more than twice its steady rate for less than a \
           second with a tenth of all I/Os and more; not of jobs that something holds back on purpose (pauses, \
           latency targets, syncs). Of a job with a rate it is reported where the job kept the rate up to one place, and did less than 95 % of it from there to its end.",
    why: "Burst credit was used up, or a cache was full: the mean describes neither the time before nor the time after it, and depends on \
          the length of the run.",
    example: "--name=a --ioengine=sim --sim_burst=iops:500/2000/2000 --rw=randread --size=1g --time_based --runtime=4",
    cure: "Take the rate of the time that you mean: a ramp_time longer than the first part leaves it out.",
    needs: &[EvidenceKind::Course],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Transient,
    yields_to: &["rate-changed-with-another-job", "stopped-by-signal", "closing-syncs-counted", "io-limit-changed"],
    find,
};

pub(crate) const WITH_OTHERS: FindingRule = FindingRule {
    id: "rate-changed-with-another-job",
    title: "The rate changed when another job began or ended",
    severity: Severity::Note,
    what: "The I/Os of a job in each interval of its run, and the times at which the other jobs of the run began and ended. It is reported where the \
           rate fell or rose at one place by more than a fifth, was steady before and after it, and another job began or ended within three \
           intervals of that.",
    why: "Jobs that run at the same time share devices, memory and CPUs. The mean of the run is that of a time alone and a time together.",
    example: "--name=a --filename=/dev/sdx --rw=randread --direct=1 --time_based --runtime=10 --name=b --filename=/dev/sdx --rw=randread \
              --direct=1 --startdelay=5 --time_based --runtime=5",
    cure: "Let the jobs begin and end together, or one after another with --stonewall.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: find_with_others,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let free = free_courses(case).iter().filter_map(|course| of_course(case, course));
    free.chain(paced_courses(case).iter().filter_map(|course| of_paced(case, course))).collect()
}

/// A job that kept its rate, and then did not.
fn of_paced(case: &AuditInput<'_>, course: &PacedCourse) -> Option<Observation> {
    let Change { index, before, after, .. } = course.fall()?;
    let (job, seconds) = (&case.jobs[course.job_index], course.interval_secs);
    let n_missing: f64 = course.ios[index..].iter().map(|n_ios| course.wanted - n_ios).sum();
    let (before_secs, after_secs) = (index as f64 * seconds, (course.ios.len() - index) as f64 * seconds);
    let explanation = format!(
        "For {} s the job kept its rate of {} a second, and then it did {} for {} s, while {} more came than were done: burst credit was used up, or a cache was full. The \
         device does not carry the rate for longer.",
        text::short(before_secs),
        text::ios(course.wanted / seconds),
        text::short(after / seconds),
        text::short(after_secs),
        text::ios(n_missing.max(0.0))
    );
    let evidence = vec![
        Measured::count(RATE, course.wanted / seconds),
        Measured::count("I/Os a second before", before / seconds),
        Measured::count(AFTER, after / seconds),
        Measured::seconds("time before", before_secs),
        Measured::seconds("time after", after_secs),
    ];
    Some(Observation::of(job, evidence, explanation))
}

/// Names of the measured values from which [`share_that_lasts`] is.
const RATE: &str = "rate, I/Os a second";
const AFTER: &str = "after";

/// The share of its rate that a job still did after it had fallen, from the finding about it; `None`: it is about something else, or about a job without a rate.
pub fn share_that_lasts(finding: &Finding) -> Option<f64> {
    let of = |what: &str| finding.evidence.iter().find(|measured| measured.what == what).map(|measured| measured.value);
    let (rate, after) = (of(RATE).filter(|rate| *rate > 0.0)?, of(AFTER)?);
    (finding.id == RULE.id).then(|| (after / rate).clamp(0.0, 1.0))
}

fn find_with_others(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_course = |course: &FreeCourse| {
        let (job, seconds, change) = (&case.jobs[course.job_index], course.interval_secs, course.change?);
        let (other, what) = changed_with(case, job, change.index)?;
        let (before, after) = (change.before / seconds, change.after / seconds);
        let explanation = format!(
            "The job did {} a second until the job {other} {what}, and {} from then on.",
            text::ios(before),
            text::short(after)
        );
        let evidence = vec![Measured::count("I/Os a second before", before), Measured::count("after", after)];
        Some(Observation::of(job, evidence, explanation))
    };
    free_courses(case).iter().filter_map(of_course).collect()
}

/// Another job that began or ended near an interval of a job's course, and which of both it did.
fn changed_with<'a>(case: &AuditInput<'a>, job: &AuditedJob<'a>, index: usize) -> Option<(&'a str, &'static str)> {
    let own_index = job.index as usize;
    let series = case.record.series.iter().find(|series| series.job_index as usize == own_index)?;
    let begin = series.first.saturating_add(JobCourse::of(series).ok()?.start() as u64).saturating_add(index as u64);
    let changed_ns = begin.saturating_mul(series.interval_ns);
    let of_other = |other: &ferrio_stats::JobSeries| {
        let other_job = case.jobs.get(other.job_index as usize).filter(|_| other.job_index as usize != own_index)?;
        let near_ns = NEAR_INTERVALS.saturating_mul(series.interval_ns.max(other.interval_ns));
        let is_used = |clone_ns: &u64| *clone_ns > 0;
        let at_ns = |place: usize| other.first.saturating_add(place as u64).saturating_mul(other.interval_ns);
        // Figures begin behind the ramp, in which the job has I/O too.
        let ramp_ns = other_job.spec.limits.ramp_time_us.saturating_mul(1_000);
        let began_ns = at_ns(other.clone_ns.iter().position(is_used)?).saturating_sub(ramp_ns);
        let ended_ns = at_ns(other.clone_ns.iter().rposition(is_used)? + 1);
        let is_near = |edge_ns: u64| edge_ns.abs_diff(changed_ns) <= near_ns;
        match () {
            () if is_near(began_ns) => Some((other_job.name, "began")),
            () if is_near(ended_ns) => Some((other_job.name, "ended")),
            () => None,
        }
    };
    case.record.series.iter().find_map(of_other)
}

/// A change this many intervals from the begin or end of a job may be its effect.
const NEAR_INTERVALS: u64 = 3;

fn of_course(case: &AuditInput<'_>, course: &FreeCourse) -> Option<Observation> {
    let Change { index, before, after, .. } = course.fall()?;
    let (job, seconds, ios) = (&case.jobs[course.job_index], course.interval_secs, &course.ios);
    let (before_secs, after_secs) = (index as f64 * seconds, (ios.len() - index) as f64 * seconds);
    if lacked_cpu(job, (before - after) / before * after_secs) {
        return None;
    }
    let explanation = format!(
        "For {} s the job did {} a second, and then {} for {} s. The mean of the run describes neither: burst credit was used up, or a \
         cache was full.",
        text::short(before_secs),
        text::ios(before / seconds),
        text::short(after / seconds),
        text::short(after_secs)
    );
    let evidence = vec![
        Measured::count("I/Os a second before", before / seconds),
        Measured::count("after", after / seconds),
        Measured::seconds("time before", before_secs),
        Measured::seconds("time after", after_secs),
    ];
    // What a ramp has written to memory is written back by the sync at the end, whose time counts.
    let cure = (waits_at_end(job) && job.is_buffered()).then(|| CURE_BESIDE_SYNCS.to_owned());
    Some(Observation { cure, ..Observation::of(job, evidence, explanation) })
}

const CURE_BESIDE_SYNCS: &str = "Take the bandwidth of the whole run, in which the syncs at its end count, or write past the page cache with --direct=1. A ramp_time \
                                 would leave out writes whose write-back the sync at the end still waits for.";

/// The job waited for a CPU for half of the time that the fall has cost, or for longer: the machine is why.
fn lacked_cpu(job: &AuditedJob<'_>, lost_secs: f64) -> bool {
    let turns = job.total.as_ref().and_then(|total| total.usage.cpu_turns);
    let n_clones = job.workers.len().max(1) as f64;
    turns.is_some_and(|turns| turns.waited_ns as f64 / 1e9 / n_clones > 0.5 * lost_secs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::JobSeries;
    use ferrio_units::DataDirection;

    /// A job whose rate falls to so many percent after 3 of 10 s.
    fn scene(percent: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let mut series = JobSeries { clone_ns: vec![100_000_000; 100], ..JobSeries::new(0, 100_000_000) };
        let noise = (0..100_u64).map(|index| (index * index * 31 + index * 7) % 13);
        let level = |index: usize| if index < 30 { 400 } else { 4 * percent };
        series.directions[DataDirection::Read].ios =
            noise.enumerate().map(|(index, noise)| level(index) + noise).collect();
        scene.record.series.push(series);
        scene
    }

    #[test]
    fn a_fall_by_a_fifth_is_told() {
        assert_eq!(scene(85).found(), Vec::<String>::new());
        assert_eq!(scene(75).found(), ["rate-fell"]);
        let explanation = scene(25).finding("rate-fell").explanation;
        assert!(
            explanation.starts_with("For 3 s the job did 4,05") && explanation.contains("for 7 s"),
            "{explanation}"
        );
        // A warm-up is no fall.
        let rises = scene(150).found();
        assert!(!rises.contains(&"rate-fell".to_owned()), "{rises:?}");
    }

    /// Another job whose figures begin in one interval and end before another.
    fn beside(begin: u64, end: u64, ramp_s: u64) -> Vec<String> {
        let mut scene = scene(50);
        let mut other = job("b", DirectionMix::Read);
        other.limits.ramp_time_us = ramp_s * 1_000_000;
        scene.add(other, crate::rules::testing::place("/data/b"));
        let mut series = JobSeries::new(1, 100_000_000);
        (series.first, series.clone_ns) = (begin, vec![100_000_000; (end - begin) as usize]);
        series.directions[DataDirection::Read].ios = vec![100; (end - begin) as usize];
        scene.record.series.push(series);
        let mut found = scene.found();
        found.retain(|id| id.starts_with("rate-"));
        found
    }

    /// The rate falls after 3 s.
    #[test]
    fn a_fall_when_another_job_begins_or_ends_is_its_effect() {
        for (begin, end, ramp_s) in [(30, 100, 0), (33, 60, 0), (0, 30, 0), (50, 100, 2)] {
            assert_eq!(beside(begin, end, ramp_s), ["rate-changed-with-another-job"], "{begin} {end}");
        }
        assert_eq!(beside(0, 100, 0), ["rate-fell"]);
        assert_eq!(beside(50, 100, 0), ["rate-fell"]);
    }

    /// A cache that is full after so many intervals at ten times the rate: with one of 100, its share is 9 %.
    #[test]
    fn a_short_beginning_counts_by_its_share() {
        for (n_intervals, is_told) in [(0, false), (1, false), (2, true), (6, true)] {
            let mut scene = scene(100);
            scene.record.series[0].directions[DataDirection::Read].ios[..n_intervals].fill(4_000);
            assert_eq!(scene.found().contains(&"rate-fell".to_owned()), is_told, "{n_intervals}");
        }
    }

    /// The rate falls from 4,000 to 2,000 a second after 3 of 10 s, which costs 3.5 s of work.
    #[test]
    fn a_fall_for_want_of_a_cpu_is_none_of_the_device() {
        for (waited_ms, is_told) in [(0, true), (1_700, true), (1_800, false)] {
            let mut scene = scene(50);
            scene.stats().usage.cpu_turns =
                Some(ferrio_stats::CpuTurns { waited_ns: waited_ms * 1_000_000, ..ferrio_stats::CpuTurns::default() });
            assert_eq!(scene.found().contains(&"rate-fell".to_owned()), is_told, "{waited_ms}");
        }
    }

    /// 1.2 s of a sync at the end, of 10 s.
    #[test]
    fn the_syncs_at_the_end_are_no_fall_and_no_ramp_leaves_them_out() {
        let with_end = |percent: u64, change: fn(&mut ferrio_spec::JobSpec)| {
            let mut scene = scene(percent);
            change(&mut scene.jobs[0]);
            let ios = &mut scene.record.series[0].directions[DataDirection::Read].ios;
            ios[88..].fill(0);
            ios[87] = 100;
            scene
        };
        let end_fsync =
            |job: &mut ferrio_spec::JobSpec| (job.durability.end_fsync, job.durability.direct) = (true, false);
        let told = |scene: &TestRun| scene.found().contains(&"rate-fell".to_owned());
        assert!(told(&with_end(100, |_| ())), "without a sync it has fallen");
        assert!(!told(&with_end(100, end_fsync)));
        let cure = with_end(50, end_fsync).finding("rate-fell").cure;
        assert!(!cure.starts_with("Take the rate of the time that you mean") && cure.contains("--direct=1"), "{cure}");
    }

    #[test]
    fn a_job_that_is_held_back_on_purpose_is_left_alone() {
        let mut scene = scene(25);
        scene.jobs[0].pace.pauses.pause_us = 1_000;
        assert!(!scene.found().contains(&"rate-fell".to_owned()));
    }

    /// A job with a rate of 400 in 0.1 s that does so many from 3 s on, of 10.
    fn paced(after: u64) -> TestRun {
        let mut scene = scene(100);
        scene.jobs[0].pace.ios_per_sec.0[0] = 4_000;
        let ios = &mut scene.record.series[0].directions[DataDirection::Read].ios;
        ios.fill(400);
        ios[30..].fill(after);
        scene
    }

    #[test]
    fn a_job_that_does_not_keep_its_rate_to_the_end_is_told() {
        assert!(!paced(400).found().contains(&"rate-fell".to_owned()));
        assert!(!paced(385).found().contains(&"rate-fell".to_owned()), "96 %");
        for after in [375, 133] {
            let finding = paced(after).finding("rate-fell");
            assert_eq!(share_that_lasts(&finding), Some(after as f64 / 400.0));
        }
        // 267 of 400 are missing in each of 70 intervals.
        let explanation = paced(133).finding("rate-fell").explanation;
        assert!(
            explanation.starts_with("For 3 s the job kept its rate of 4,000 I/Os a second, and then it did 1,330"),
            "{explanation}"
        );
        assert!(explanation.contains("while 18,690 I/Os more came"), "{explanation}");
        // One bad moment, after which the job catches up.
        let mut late = paced(400);
        late.record.series[0].directions[DataDirection::Read].ios[40..45].fill(0);
        late.record.series[0].directions[DataDirection::Read].ios[45..50].fill(800);
        assert!(!late.found().contains(&"rate-fell".to_owned()));
    }
}
