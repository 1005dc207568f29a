//! Times in which nothing completed, by the time that they cost.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::course::JobCourse;
use crate::measures::asked::waits_at_end;
use crate::measures::cpu_time::{WaitingTail, waiting_share};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::histogram::{N_FULL_BUCKETS, bucket_bounds_ns, bucket_latency_ns};
use ferrio_stats::{JobSeries, LatencyStat, Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "stalls",
    title: "Nothing completed for a while",
    severity: Severity::Misleading,
    what: "The I/Os of a job by interval (100 ms, longer in long runs): intervals with almost none, where twenty and more would be usual, and \
           the ends of such times in the intervals beside them. And its latencies: I/Os that took ten times as long as nine tenths of all, \
           and 5 ms or more. It is reported where either cost more than a twentieth of the job's time (a tenth, if each was shorter than 0.1 s; a hundredth, if the job has a rate and one lasted 0.05 s), or \
           where a time without I/O lasted 0.3 s; not where the job waited as long for a CPU, or was as long busy with syncs and files between its passes. It does not speak of jobs with pauses, syncs between writes or \
           verification.",
    why: "A mean hides a stall, and so do percentiles: all the I/Os that would have been slow were not issued, and one slow I/O in flight \
          stands for them.",
    example: "--name=a --ioengine=sim --sim_stall=1s/600ms --rw=randread --size=1g --time_based --runtime=4",
    cure: "Look at the longest latency and at the course of the run (--output-format=jsonl); a rate with rate_latency=response counts the \
           I/Os that had to wait.",
    needs: &[EvidenceKind::Course],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["stopped-by-signal", "closing-syncs-counted"],
    find,
};

/// I/Os that are usual in the time of a stall: with fewer, chance may be why there was none.
const LEAST_MISSING: f64 = 20.0;
/// An interval with less than this share of the usual I/Os is a part of a stall.
const ALMOST_NONE: f64 = 0.05;
/// A time without I/O of this many seconds is told whatever it cost.
const LONG_SECS: f64 = 0.3;
/// Stalls of this many seconds and more are told from a smaller cost on; a busy machine may stop a job for a shorter time.
const SHORT_SECS: f64 = 0.1;
const COST: f64 = 0.05;
const COST_OF_SHORT: f64 = 0.1;
/// The same of a job with a rate.
const SHORT_OF_RATE_SECS: f64 = 0.05;
const COST_OF_RATE: f64 = 0.01;
const MOST_TIMES: usize = 5;
/// Stalls come in step from this number on, where the time from one to the next differs by at most this share.
const LEAST_IN_STEP: usize = 4;
const OUT_OF_STEP: f64 = 0.1;
/// A slow I/O takes so many times as long as nine tenths of all I/Os, and at least so many nanoseconds.
const TIMES: u64 = 10;
const LEAST_SLOW_NS: u64 = 5_000_000;
/// A shorter job says nothing of stalls, seconds.
const LEAST_SECS: f64 = 0.5;
/// A wait for a CPU that the job notices, mean nanoseconds of each.
const LONG_WAIT_NS: u64 = 1_000_000;
/// With fewer I/Os the slowest tenth is a few.
const LEAST_IOS: u64 = 20;

/// Stalls of a job.
#[derive(Debug, Clone, Default, PartialEq)]
struct Found {
    n: usize,
    longest_secs: f64,
    /// The longest time that is certainly without I/O.
    empty_secs: f64,
    all_secs: f64,
    /// Share of the job's time, 0 to 1.
    cost: f64,
    /// When they began, seconds since the start of the run; of slow I/Os, when they were done.
    at_secs: Vec<f64>,
    /// From this latency on an I/O is slow, nanoseconds.
    least_ns: u64,
    /// Time without I/O at the end, in which the job syncs and which is none of the stalls.
    trailing_secs: f64,
}

impl Found {
    /// Of a job with a rate, all I/Os that come meanwhile wait, so that less matters.
    fn is_worth_telling(&self, has_rate: bool) -> bool {
        let least = match () {
            () if has_rate && self.longest_secs >= SHORT_OF_RATE_SECS => COST_OF_RATE,
            () if self.longest_secs >= SHORT_SECS => COST,
            () => COST_OF_SHORT,
        };
        self.n > 0 && self.cost > least
    }

    /// When it was: `at 0.4, 1.4 and 2.4 s of the run`; empty: that is not known.
    fn when(&self) -> String {
        let times: Vec<String> = self.at_secs.iter().take(MOST_TIMES).map(|secs| text::short(*secs)).collect();
        let Some((last, first)) = times.split_last() else { return String::new() };
        let listed = if first.is_empty() { last.clone() } else { format!("{} and {last}", first.join(", ")) };
        let when = match self.at_secs.len().saturating_sub(MOST_TIMES) {
            0 => format!(" at {listed} s of the run"),
            more => format!(
                " at {} s of the run and {more} times later, the last at {} s",
                times.join(", "),
                text::short(self.at_secs[self.at_secs.len() - 1])
            ),
        };
        match self.period_secs() {
            Some(secs) => format!("{when}, one every {} s", text::short(secs)),
            None => when,
        }
    }

    /// The time from one stall to the next, if it is always nearly the same: something that works by the clock makes them. `None`: it is not.
    fn period_secs(&self) -> Option<f64> {
        let gaps = || self.at_secs.windows(2).map(|pair| pair[1] - pair[0]);
        let mean = gaps().sum::<f64>() / gaps().count().max(1) as f64;
        let is_in_step = gaps().all(|gap| (gap - mean).abs() <= OUT_OF_STEP * mean);
        (self.at_secs.len() >= LEAST_IN_STEP && is_in_step).then_some(mean)
    }
}

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let with_io =
        case.jobs.iter().zip(0_u32..).filter(|(job, _)| !job.engine.moves_nothing() && !is_idle_on_purpose(job));
    with_io
        .filter_map(|(job, index)| {
            let series = case.record.series.iter().find(|series| series.job_index == index);
            of_job(case, job, series)
        })
        .collect()
}

/// Something else than the device makes the job wait. A rate does not: I/Os that are due come in time.
fn is_idle_on_purpose(job: &AuditedJob<'_>) -> bool {
    let durability = &job.spec.durability;
    let syncs = durability.fsync_blocks > 0 || durability.fdatasync_blocks > 0 || durability.sync_file_range.is_some();
    syncs
        || job.spec.pace.pauses.is_set()
        || job.spec.pace.flow.weight > 0
        || job.spec.latency.target_us > 0
        || job.spec.replay.is_set()
        || job.spec.verify.is_some()
        || job.spec.submission.serialize_overlap
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>, series: Option<&JobSeries>) -> Option<Observation> {
    let course = series.and_then(|series| Some((JobCourse::of(series).ok()?, series)));
    let of_course = course.map(|(course, series)| {
        in_course(&course.all_ios(series), course.seconds(), waits_at_end(job), start_secs(&course, series))
    });
    let has_rate = job.spec.pace.limits_rates();
    let gaps = of_course.unwrap_or_default();
    let is_between_passes = gaps.all_secs * MOST_OF <= between_passes_secs(job) - gaps.trailing_secs;
    let (mut slow, direction) = in_latencies(job, has_rate).unwrap_or_default();
    slow.at_secs = series.map(|series| times_of_slow(series, slow.least_ns)).unwrap_or_default();
    let lacks_cpu = |found: &Found| waited_secs(job) >= found.all_secs;
    let is_long = gaps.empty_secs >= LONG_SECS - 1e-9;
    if (gaps.is_worth_telling(has_rate) || is_long) && !lacks_cpu(&gaps) && !is_between_passes {
        let (n, up_to) = if gaps.n == 1 { ("Once".to_owned(), "") } else { (format!("{} times", gaps.n), "up to ") };
        let what = format!("{n} no I/O of the job completed for {up_to}{} s", text::short(gaps.longest_secs));
        return Some(observation(job, &gaps, &what));
    }
    // A job that waits for a CPU again and again has short stalls of that, which are told as such.
    let is_machine = slow.longest_secs < SHORT_SECS && waiting_share(case, job).is_some();
    let is_of_cpu = lacks_cpu(&slow) || is_machine || WaitingTail::of(case, job).is_some();
    (slow.is_worth_telling(has_rate) && !is_of_cpu).then(|| {
        let n = if slow.n == 1 { "1 I/O".to_owned() } else { format!("{} I/Os", thousands(slow.n as u64)) };
        let what = format!("{n} took more than ten times as long as most, up to {} s", text::short(slow.longest_secs));
        observation(job, &slow, &what).about(direction)
    })
}

fn observation(job: &AuditedJob<'_>, found: &Found, what: &str) -> Observation {
    let explanation = format!(
        "{what}{}, which cost {} of its time. The mean and the percentiles hide it.",
        found.when(),
        text::percent(found.cost.clamp(0.0, 1.0), 1.0)
    );
    let evidence = vec![
        Measured::count("stalls", found.n as f64),
        Measured::seconds("longest", found.longest_secs),
        Measured::seconds("all together", found.all_secs),
    ];
    Observation::of(job, evidence, explanation)
}

/// The time of the first interval of a course, seconds since the start of the run.
fn start_secs(course: &JobCourse, series: &JobSeries) -> f64 {
    series.first.saturating_add(course.start() as u64) as f64 * series.interval_ns as f64 / 1e9
}

/// The intervals in which I/Os of at least such a latency were done, those next to each other once: their beginnings, seconds since the start of the run.
fn times_of_slow(series: &JobSeries, least_ns: u64) -> Vec<f64> {
    let is_slow = |index: usize| {
        let mut cells = series.directions.0.iter().filter_map(|direction| direction.latencies.get(index)).flatten();
        cells.any(|(bucket, count)| {
            *count > 0 && bucket_bounds_ns(usize::from(*bucket).min(N_FULL_BUCKETS - 1)).1 > least_ns
        })
    };
    let starts = (0..series.clone_ns.len()).filter(|index| is_slow(*index) && (*index == 0 || !is_slow(index - 1)));
    let at_secs = |index: usize| (series.first + index as u64) as f64 * series.interval_ns as f64 / 1e9;
    if least_ns == 0 { Vec::new() } else { starts.map(at_secs).collect() }
}

/// Steps between passes that take this share of the time without I/O explain it: intervals are no finer.
const MOST_OF: f64 = 0.7;

/// Seconds that each clone was busy with steps between its passes and after the last: syncs, removing and making of files.
fn between_passes_secs(job: &AuditedJob<'_>) -> f64 {
    let times = job.total.as_ref().and_then(|total| total.features.times.as_deref());
    let steps_ns = times.map_or(0, |times| times.closing_syncs_ns.saturating_add(times.set_up_ns));
    steps_ns as f64 / 1e9 / job.workers.len().max(1) as f64
}

/// Seconds in which the job was ready and had no CPU, where these waits were long. Many short ones are no stall.
fn waited_secs(job: &AuditedJob<'_>) -> f64 {
    let turns = job.total.as_ref().and_then(|total| total.usage.cpu_turns);
    let is_long = |turns: &ferrio_stats::CpuTurns| turns.waited_ns / turns.n_turns.max(1) >= LONG_WAIT_NS;
    turns.filter(is_long).map_or(0.0, |turns| turns.waited_ns as f64 / 1e9)
}

/// Rows of intervals with almost no I/O, with the missing parts of the intervals beside them.
fn in_course(ios: &[f64], interval_secs: f64, waits_at_end: bool, start_secs: f64) -> Found {
    let Some(usual) = usual(ios).filter(|_| ios.len() as f64 * interval_secs >= LEAST_SECS - 1e-9) else {
        return Found::default();
    };
    let is_empty = |n_ios: &f64| *n_ios < usual * ALMOST_NONE;
    let n_trailing = if waits_at_end { ios.iter().rev().take_while(|n_ios| is_empty(n_ios)).count() } else { 0 };
    let ios = &ios[..ios.len() - n_trailing];
    let missing = |index: Option<usize>| {
        index.and_then(|index| ios.get(index)).map_or(0.0, |n_ios| (1.0 - n_ios / usual).clamp(0.0, 1.0))
    };
    let (mut found, mut start) = (Found::default(), 0);
    for row in ios.chunk_by(|first, second| is_empty(first) == is_empty(second)) {
        let end = start + row.len();
        if is_empty(&row[0]) {
            let n_intervals = row.len() as f64 + missing(start.checked_sub(1)) + missing(Some(end));
            if n_intervals * usual >= LEAST_MISSING {
                let seconds = n_intervals * interval_secs;
                found.n += 1;
                found.longest_secs = found.longest_secs.max(seconds);
                found.empty_secs = found.empty_secs.max(row.len() as f64 * interval_secs);
                found.all_secs += seconds;
                found
                    .at_secs
                    .push(start_secs + (start as f64 - missing(start.checked_sub(1))).max(0.0) * interval_secs);
            }
        }
        start = end;
    }
    found.trailing_secs = n_trailing as f64 * interval_secs;
    found.cost = found.all_secs / (ios.len() as f64 * interval_secs).max(1e-9);
    found
}

/// The median of the intervals in which something completed.
fn usual(ios: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = ios.iter().copied().filter(|n_ios| *n_ios > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The direction whose slow I/Os cost the most, by the sum of their latencies.
fn in_latencies(job: &AuditedJob<'_>, has_rate: bool) -> Option<(Found, Option<DataDirection>)> {
    let depth = if job.engine.is_inline() { 1 } else { job.spec.queue.iodepth };
    let in_flight = f64::from(depth.max(1)) * job.workers.len().max(1) as f64;
    let of_direction = |direction| {
        let figures = job.figures(direction)?;
        Some((slow_ios(&figures.clat, figures.runtime_ns as f64 / 1e9, in_flight)?, direction))
    };
    let found: Vec<(Found, DataDirection)> = DataDirection::ALL.into_iter().filter_map(of_direction).collect();
    let (worst, direction) = found.iter().max_by(|one, other| one.0.cost.total_cmp(&other.0.cost))?.clone();
    let is_only = found.iter().filter(|(found, _)| found.is_worth_telling(has_rate)).count() == 1;
    Some((worst, is_only.then_some(direction)))
}

fn slow_ios(latency: &LatencyStat, seconds: f64, in_flight: f64) -> Option<Found> {
    let histogram = latency.histogram.as_ref().filter(|_| latency.n_samples >= LEAST_IOS && seconds >= LEAST_SECS)?;
    let usual_ns = ferrio_stats::percentiles(histogram, &[90.0]).first()?.1;
    let least_ns = usual_ns.saturating_mul(TIMES).max(LEAST_SLOW_NS);
    let slow = histogram.filled().map(|(bucket, n_ios)| (bucket_latency_ns(bucket), n_ios));
    let slow = slow.filter(|(latency_ns, _)| *latency_ns >= least_ns);
    let (mut n, mut sum_secs) = (0_u64, 0.0);
    for (latency_ns, n_ios) in slow {
        n += n_ios;
        sum_secs += n_ios as f64 * latency_ns as f64 / 1e9;
    }
    let all_secs = sum_secs / in_flight;
    let longest_secs = latency.max_ns as f64 / 1e9;
    let cost = all_secs / seconds;
    (n > 0).then(|| Found { n: n as usize, longest_secs, all_secs, cost, least_ns, ..Found::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{DirectionMix, JobSpec};

    /// A job of 50 intervals with so many I/Os in each, but for some.
    fn scene(n_ios: u64, others: &[(usize, u64)], change: fn(&mut JobSpec)) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        change(&mut job);
        let mut scene = TestRun::new(job);
        let mut series = JobSeries { clone_ns: vec![100_000_000; 50], ..JobSeries::new(0, 100_000_000) };
        let mut ios = vec![n_ios; 50];
        for (index, n_ios) in others {
            ios[*index] = *n_ios;
        }
        series.directions[DataDirection::Read].ios = ios;
        scene.record.series.push(series);
        scene
    }

    fn is_told(n_ios: u64, others: &[(usize, u64)]) -> bool {
        scene(n_ios, others, |_| ()).found().contains(&"stalls".to_owned())
    }

    /// 5 s of the run: a twentieth is 0.25 s.
    #[test]
    fn stalls_are_told_by_the_time_that_they_cost() {
        assert!(!is_told(100, &[(20, 0), (21, 0)]), "0.2 s");
        assert!(is_told(100, &[(20, 0), (21, 0), (22, 0)]), "0.3 s at once");
        assert!(is_told(100, &[(20, 0), (21, 0), (22, 20), (40, 0), (41, 0), (39, 20)]), "0.28 s twice");
        let each_second: Vec<(usize, u64)> =
            (0..5).flat_map(|second| [(10 * second + 3, 50), (10 * second + 4, 0), (10 * second + 5, 0)]).collect();
        assert!(is_told(100, &each_second), "0.25 s each second");
        assert!(!is_told(100, &[(20, 50), (30, 50), (40, 60)]), "no interval without I/O");
        let finding = scene(100, &[(20, 0), (21, 0), (22, 0), (23, 0), (24, 0)], |_| ()).finding("stalls");
        assert!(
            finding.explanation.starts_with(
                "Once no I/O of the job completed for 0.5 s at 2 s of the run, which cost 10 % of its time"
            ),
            "{}",
            finding.explanation
        );
    }

    /// Stalls of 0.1 s in each second of 5 s, and of 0.3 s twice; the job begins 2 s after the run.
    #[test]
    fn a_stall_tells_when_it_was() {
        let of = |others: &[(usize, u64)]| {
            let mut scene = scene(100, others, |job| job.pace.ios_per_sec.0[0] = 1_000);
            scene.record.series[0].first = 20;
            scene.finding("stalls").explanation
        };
        let twice = of(&[(9, 50), (10, 0), (11, 0), (12, 0), (30, 0), (31, 0), (32, 0)]);
        assert!(
            twice.starts_with("2 times no I/O of the job completed for up to 0.35 s at 2.95 and 5 s of the run,"),
            "{twice}"
        );
        let each_second: Vec<(usize, u64)> = (0..7).map(|second| (7 * second + 3, 0)).collect();
        let often = of(&each_second);
        assert!(
            often.contains(
                " at 2.3, 3, 3.7, 4.4, 5.1 s of the run and 2 times later, the last at 6.5 s, one every 0.7 s,"
            ),
            "{often}"
        );
        let unsteady: Vec<(usize, u64)> = [3, 10, 17, 26, 33, 40].map(|at| (at, 0)).to_vec();
        assert!(!of(&unsteady).contains("one every"), "a gap of 0.9 s beside 0.7 s");
    }

    /// With a rate, a hundredth of the time is enough: an I/O of 100 ms in each of two of 5 s, beside 300 us.
    #[test]
    fn short_stalls_of_a_job_with_a_rate_are_told() {
        for (rate, is_told) in [(0, false), (300, true)] {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.jobs[0].pace.ios_per_sec.0[0] = rate;
            let clat = &mut scene.stats().directions.0[0].clat;
            (0..2).for_each(|_| clat.record(100_000_000));
            assert_eq!(scene.found().contains(&"stalls".to_owned()), is_told, "{rate}: 0.2 s of 10 s");
        }
    }

    /// A slow device has empty intervals without a stall.
    #[test]
    fn a_slow_device_is_no_stall() {
        assert!(!is_told(4, &[(20, 0), (21, 0), (22, 0), (23, 0)]));
        assert!(is_told(5, &[(20, 0), (21, 0), (22, 0), (23, 0)]));
    }

    #[test]
    fn the_time_of_the_last_sync_and_pauses_are_no_stalls() {
        let at_the_end = [(45, 0), (46, 0), (47, 0), (48, 0), (49, 0)];
        assert!(is_told(100, &at_the_end));
        let changes: [fn(&mut JobSpec); 3] = [
            |job| job.durability.end_fsync = true,
            |job| job.pace.pauses.pause_us = 1,
            |job| job.durability.fsync_blocks = 1000,
        ];
        for change in changes {
            assert!(!scene(100, &at_the_end, change).found().contains(&"stalls".to_owned()));
        }
        let rated = scene(100, &[(20, 0), (21, 0), (22, 0)], |job| job.pace.ios_per_sec.0[0] = 1_000);
        assert!(rated.found().contains(&"stalls".to_owned()), "a stall under a rate is one");
    }

    /// 0.5 s without I/O in the middle, and syncs at the ends of passes that took so long.
    #[test]
    fn syncs_between_passes_are_no_stalls() {
        let middle: Vec<(usize, u64)> = (20..25).map(|index| (index, 0)).collect();
        let told = |closing_ms: u64| {
            let mut scene = scene(100, &middle, |job| (job.durability.end_fsync, job.limits.loops) = (true, 2));
            let counts = ferrio_stats::TimeCounts { closing_syncs_ns: closing_ms * 1_000_000, ..Default::default() };
            scene.stats().features.times = Some(Box::new(counts));
            scene.stats().total_runtime_ns = 10_000_000_000;
            scene.found().contains(&"stalls".to_owned())
        };
        assert!(told(0) && told(200) && !told(450));
    }

    /// 25,600 I/Os of 300 us in 10 s, and some slow ones.
    fn with_slow(n_slow: u64, milliseconds: u64, waited_ms: u64, n_turns: u64) -> bool {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let clat = &mut scene.stats().directions.0[0].clat;
        (0..n_slow).for_each(|_| clat.record(milliseconds * 1_000_000));
        scene.stats().total_runtime_ns = 10_000_000_000;
        scene.stats().usage.cpu_turns = Some(ferrio_stats::CpuTurns {
            waited_ns: waited_ms * 1_000_000,
            n_turns,
            ..ferrio_stats::CpuTurns::default()
        });
        scene.found().contains(&"stalls".to_owned())
    }

    #[test]
    fn slow_ios_are_told_by_their_sum() {
        assert!(with_slow(100, 40, 0, 0), "4 s of 10 s in stalls of 40 ms");
        assert!(with_slow(3, 250, 0, 0), "0.75 s in stalls of 250 ms");
        assert!(!with_slow(20, 40, 0, 0) && !with_slow(1, 250, 0, 0));
        assert!(!with_slow(100, 40, 4_100, 100), "the job had no CPU meanwhile");
        assert!(with_slow(30, 150, 4_600, 25_000), "many short waits are no long ones");
        assert!(!with_slow(100, 40, 4_100, 25_000), "short ones of a job that lacks a CPU in two fifths of its time");
        assert!(with_slow(100, 40, 900, 25_000), "it lacks one in less than a tenth");
        assert!(!with_slow(3_000, 4, 0, 0), "ten times as long, and short");
    }
}
