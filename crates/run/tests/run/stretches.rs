//! Intervals of a run: exact on virtual time, and with the final figures as their sum in real runs.
//!
//! Start reading at [`Story`].

use crate::builder::{BLOCK, MS, US, job, reader, run_with_intervals, set_depth, sim_reader, simulate_with_intervals};
use ferrio_run::{RunEvent, RunObserver, RunOutcome};
use ferrio_spec::{DirectionMix, JobSpec};
use ferrio_stats::{IntervalStats, JobEnd, JobSeries, ThreadStats};
use ferrio_units::DataDirection;
use std::time::Duration;

/// All events of a run about intervals.
#[derive(Default)]
struct Story {
    has_begun: bool,
    intervals: Vec<IntervalStats>,
    ends: Vec<JobEnd>,
}

impl RunObserver for Story {
    fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Recording { .. } => {
                assert!(!self.has_begun && self.intervals.is_empty());
                self.has_begun = true;
            }
            RunEvent::Interval(stretch) => {
                assert!(self.ends.iter().all(|end| end.stretch.job_number != stretch.job_number), "after its end");
                self.intervals.push(*stretch);
            }
            RunEvent::JobEnded(end) => self.ends.push(*end),
            _ => {}
        }
    }
}

impl Story {
    fn of(&self, job_number: u32) -> Vec<&IntervalStats> {
        self.intervals.iter().filter(|stretch| stretch.job_number == job_number).collect()
    }

    /// Intervals that took time: the end of a job may use CPU after virtual time has stopped.
    fn long(&self, job_number: u32) -> Vec<&IntervalStats> {
        self.of(job_number).into_iter().filter(|stretch| stretch.start_ns < stretch.end_ns).collect()
    }

    /// Checks that intervals follow each other without gaps, and that their sum is what the job did.
    fn check(&self) {
        assert!(self.has_begun);
        for end in &self.ends {
            let mut sum = ThreadStats::default();
            let mut until_ns = end.stretch.start_ns;
            for stretch in self.of(end.stretch.job_number) {
                assert_eq!(stretch.start_ns, until_ns);
                until_ns = stretch.end_ns;
                for direction in DataDirection::ALL {
                    let runtime_ns =
                        sum.directions[direction].runtime_ns + stretch.stats.directions[direction].runtime_ns;
                    sum.directions[direction].merge(&stretch.stats.directions[direction]);
                    sum.directions[direction].runtime_ns = runtime_ns;
                }
                sum.sync.merge(&stretch.stats.sync);
                sum.usage.merge(&stretch.stats.usage);
                sum.total_runtime_ns += stretch.stats.total_runtime_ns;
            }
            assert_eq!(until_ns, end.stretch.end_ns);
            let whole = &end.stretch.stats;
            for direction in DataDirection::ALL {
                let (sum, whole) = (&sum.directions[direction], &whole.directions[direction]);
                assert_eq!(
                    (sum.n_issued, sum.n_completed, sum.bytes),
                    (whole.n_issued, whole.n_completed, whole.bytes)
                );
                assert_eq!(sum.runtime_ns, whole.runtime_ns);
                assert_eq!((&sum.clat, &sum.lat, &sum.slat), (&whole.clat, &whole.lat, &whole.slat));
            }
            assert_eq!(
                (&sum.sync, sum.usage, sum.total_runtime_ns),
                (&whole.sync, whole.usage, whole.total_runtime_ns)
            );
        }
    }
}

fn simulated(jobs: Vec<JobSpec>, interval: Duration) -> (RunOutcome, Story) {
    let mut story = Story::default();
    let outcome = simulate_with_intervals(jobs, interval, &mut story);
    story.check();
    (outcome, story)
}

fn times_ms(stretches: &[&IntervalStats]) -> Vec<(u64, u64)> {
    stretches.iter().map(|stretch| (stretch.start_ns / MS, stretch.end_ns / MS)).collect()
}

fn n_reads(stretches: &[&IntervalStats]) -> Vec<u64> {
    stretches.iter().map(|stretch| stretch.stats.directions[DataDirection::Read].n_completed).collect()
}

#[test]
fn intervals_are_exact_on_virtual_time() {
    // 2500 reads of 100 us: 250 ms.
    let (outcome, story) = simulated(vec![sim_reader("j", "fixed:100us", 2_500)], Duration::from_millis(100));
    let told = story.long(1);
    assert_eq!(times_ms(&told), [(0, 100), (100, 200), (200, 250)]);
    assert_eq!(n_reads(&told), [1_000, 1_000, 500]);
    for stretch in &told {
        let read = &stretch.stats.directions[DataDirection::Read];
        assert_eq!(
            (read.clat.n_samples, read.clat.sum_ns),
            (read.n_completed, u128::from(read.n_completed * 100 * US))
        );
        assert_eq!(read.bytes, read.n_completed * BLOCK);
    }
    let [end] = &story.ends[..] else { panic!("one end") };
    assert_eq!(end.stretch.stats, *outcome.record.workers[0].stats);
    assert!(end.has_started);
}

#[test]
fn a_ramp_is_in_no_interval() {
    let mut job = sim_reader("j", "fixed:100us", 100_000);
    job.limits.ramp_time_us = 150_000;
    job.limits.runtime_us = 200_000;
    let (_, story) = simulated(vec![job], Duration::from_millis(100));
    let told = story.long(1);
    assert_eq!(times_ms(&told), [(150, 200), (200, 300), (300, 350)]);
    assert_eq!(n_reads(&told), [500, 1_000, 500]);
}

/// If no I/O ends near the end of an interval, the interval lasts until the next I/O, and its figures show that.
#[test]
fn slow_ios_lengthen_their_interval() {
    let (_, story) = simulated(vec![sim_reader("j", "fixed:250ms", 4)], Duration::from_millis(100));
    let told = story.long(1);
    assert_eq!(times_ms(&told), [(0, 250), (250, 500), (500, 750), (750, 1_000)]);
    assert_eq!(n_reads(&told), [1, 1, 1, 1]);
}

/// The series of the record have the same figures by interval, of all clones together, and without the ramp.
#[test]
fn series_are_exact_on_virtual_time() {
    let mut job = sim_reader("j", "fixed:100us", 100_000);
    (job.limits.ramp_time_us, job.limits.runtime_us, job.numjobs) = (150_000, 400_000, 2);
    let (outcome, _) = simulated(vec![job, sim_reader("k", "fixed:250ms", 4)], Duration::from_millis(100));
    let [first, second] = &outcome.record.series[..] else { panic!("{:?}", outcome.record.series) };
    assert_eq!((first.interval_ns, first.first, second.first), (100 * MS, 1, 0));
    let times_ms = |series: &JobSeries| series.clone_ns.iter().map(|time_ns| time_ns / MS).collect::<Vec<_>>();
    let read = |series: &JobSeries| series.directions[DataDirection::Read].ios.clone();
    assert_eq!(
        (times_ms(first), read(first)),
        (vec![100, 200, 200, 200, 100], vec![1_000, 2_000, 2_000, 2_000, 1_000])
    );
    let samples = &first.directions[DataDirection::Read].latencies;
    assert!(samples.iter().zip(read(first)).all(|(buckets, n_ios)| buckets.len() == 1 && buckets[0].1 == n_ios));
    // An I/O that ends at 250 ms counts in the interval in which it was waited for; nothing completes in the others.
    assert_eq!(times_ms(second), [100; 10]);
    assert_eq!(read(second).iter().sum::<u64>(), 4);
}

#[test]
fn jobs_without_statistics_and_jobs_of_a_group() {
    let mut silent = sim_reader("silent", "fixed:1ms", 10);
    silent.reporting.stats = false;
    let grouped = || {
        let mut job = sim_reader("grouped", "fixed:1ms", 10);
        (job.numjobs, job.grouping.group_reporting) = (2, true);
        job
    };
    let (_, story) = simulated(vec![silent, grouped()], Duration::from_millis(4));
    assert!(story.of(1).is_empty());
    assert_eq!((n_reads(&story.long(2)), n_reads(&story.long(3))), (vec![4, 4, 2], vec![4, 4, 2]));
    assert_eq!(story.ends.iter().map(|end| end.stretch.job_number).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn nobody_is_told_who_does_not_ask() {
    let mut story = Story::default();
    crate::builder::run_with(vec![reader("j", "null", 100)], &mut story);
    assert!(!story.has_begun && story.intervals.is_empty() && story.ends.is_empty());
}

#[test]
fn real_runs_sum_up() {
    for thread in [false, true] {
        for depth in [1, 8] {
            let mut first = reader("first", "null", 1 << 40);
            first.pattern.mix = DirectionMix::ReadWrite;
            (first.limits.runtime_us, first.limits.ramp_time_us) = (150_000, 40_000);
            set_depth(&mut first, depth);
            first.worker.thread = thread;
            let mut second = JobSpec { name: "second".to_owned(), ..first.clone() };
            (second.numjobs, second.limits.ramp_time_us) = (2, 0);
            let mut story = Story::default();
            let outcome = run_with_intervals(vec![first, second], Duration::from_millis(20), &mut story);
            story.check();
            assert_eq!((outcome.n_failed, story.ends.len()), (0, 3));
            for end in &story.ends {
                let index = end.stretch.job_number as usize - 1;
                assert_eq!(end.stretch.stats, *outcome.record.workers[index].stats);
                assert!(!story.of(end.stretch.job_number).is_empty());
            }
        }
    }
}

#[test]
fn a_job_that_fails_or_never_starts_has_an_end() {
    let mut bad = job("bad");
    bad.target.filenames = vec!["/dev/null/for/sure".to_owned()];
    bad.target.allow_file_create = false;
    let mut waits = reader("waits", "null", 10);
    waits.limits.startdelay_us = (3_600_000_000, 3_600_000_000);
    let mut quits = reader("quits", "null", 10);
    quits.grouping.exitall = true;
    let mut story = Story::default();
    run_with_intervals(vec![bad, waits, quits], Duration::from_millis(20), &mut story);
    story.check();
    story.ends.sort_by_key(|end| end.stretch.job_number);
    let outline: Vec<_> = story.ends.iter().map(|end| (end.has_started, end.stretch.stats.errno != 0)).collect();
    assert_eq!(outline, [(false, true), (false, false), (true, false)]);
}
