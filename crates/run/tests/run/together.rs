//! Several jobs on one virtual time, compared with arithmetic: groups, delays, ends, flows, rates and depths.
//!
//! Start reading at [`spans`].

use crate::builder::{MS, US, go, reads, set_depth, sim_reader, simulate, virtual_settings};
use ferrio_run::{RunEvent, RunOutcome, RunSettings};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{ExitWhat, FlowSpec, JobSpec};
use std::time::Duration;

/// Start and end of each job's I/O, in microseconds of the run, by name and in the order of the ends.
fn spans(jobs: Vec<JobSpec>) -> (RunOutcome, Vec<(String, u64, u64)>) {
    let mut spans = Vec::new();
    let settings = RunSettings { record_interval: Some(Duration::from_secs(3_600)), ..virtual_settings() };
    let outcome = go(jobs, settings, &mut |event: RunEvent| {
        if let RunEvent::JobEnded(end) = event {
            spans.push((end.stretch.job_name.clone(), end.stretch.start_ns / US, end.stretch.end_ns / US));
        }
    });
    (outcome, spans)
}

/// A reader of this many blocks, 100 us each.
fn hundred_us(name: &str, n_blocks: u64) -> JobSpec {
    sim_reader(name, "fixed:100us", n_blocks)
}

fn endless(name: &str) -> JobSpec {
    let mut job = hundred_us(name, 1_000);
    (job.limits.time_based, job.limits.runtime_us) = (true, 3_600_000_000);
    job
}

fn span(name: &str, start_us: u64, end_us: u64) -> (String, u64, u64) {
    (name.to_owned(), start_us, end_us)
}

fn n_ios(outcome: &RunOutcome) -> Vec<u64> {
    outcome.record.workers.iter().map(|worker| reads(&worker.stats).n_completed).collect()
}

#[test]
fn groups_follow_each_other() {
    let mut jobs = vec![hundred_us("a", 1_000), hundred_us("b", 700), hundred_us("c", 500)];
    jobs[2].grouping.stonewall = true;
    let (outcome, spans) = spans(jobs);
    // The longer of the first two, and then the third: 100 ms + 50 ms.
    assert_eq!(spans, [span("b", 0, 70_000), span("a", 0, 100_000), span("c", 100_000, 150_000)]);
    assert_eq!(outcome.record.elapsed_ns, 150 * MS);
}

#[test]
fn delays_count_from_the_start_of_the_run() {
    let mut jobs = vec![hundred_us("a", 1_000), hundred_us("late", 100), hundred_us("later", 100)];
    jobs[1].limits.startdelay_us = (30_000, 30_000);
    jobs[2].limits.startdelay_us = (2_000_000, 2_000_000);
    let (outcome, spans) = spans(jobs);
    let expected = [span("late", 30_000, 40_000), span("a", 0, 100_000), span("later", 2_000_000, 2_010_000)];
    assert_eq!((spans, outcome.record.elapsed_ns), (expected.to_vec(), 2_010 * MS));
}

#[test]
fn a_job_waits_for_another_by_name() {
    let mut jobs = vec![hundred_us("first", 300), hundred_us("beside", 1_000), hundred_us("second", 200)];
    jobs[2].grouping.wait_for = Some("first".to_owned());
    let (_, spans) = spans(jobs);
    assert_eq!(spans, [span("first", 0, 30_000), span("second", 30_000, 50_000), span("beside", 0, 100_000)]);
}

#[test]
fn the_end_of_one_is_that_of_all() {
    let mut jobs = vec![hundred_us("short", 420), endless("long"), endless("later")];
    jobs[0].grouping.exitall = true;
    jobs[0].grouping.exit_what = ExitWhat::All;
    jobs[2].limits.startdelay_us = (1_000_000, 1_000_000);
    let (outcome, spans) = spans(jobs);
    // The other job has an I/O in flight, which it finishes.
    let [short, long] = [&spans[0], spans.iter().find(|span| span.0 == "long").unwrap()];
    assert_eq!(*short, span("short", 0, 42_000));
    assert!((42_000..=42_200).contains(&long.2), "{long:?}");
    assert_eq!(n_ios(&outcome)[2], 0, "it was never started");
    assert!(outcome.record.elapsed_ns <= 42 * MS + 200 * US, "{}", outcome.record.elapsed_ns);
}

#[test]
fn a_failure_ends_the_others() {
    let mut jobs = vec![hundred_us("bad", 1_000), endless("good")];
    jobs[0].engine.options.set(&sim::FAULT, "eio@100");
    jobs[0].grouping.exitall_on_error = true;
    let (outcome, _) = simulate(jobs);
    // Both have done the same number of I/Os, one of which failed.
    assert_eq!((outcome.n_failed, n_ios(&outcome)[0]), (1, 99));
    assert!((99..=102).contains(&n_ios(&outcome)[1]), "{:?}", n_ios(&outcome));
}

#[test]
fn shares_of_a_flow_are_those_of_the_weights() {
    // The job with the smaller share is on the faster device.
    for sleep_us in [0, 250] {
        let job = |name: &str, service: &str, weight: u32| {
            let mut job = sim_reader(name, service, 1_000);
            (job.limits.time_based, job.limits.runtime_us) = (true, 3_000_000);
            job.pace.flow = FlowSpec { id: 1, weight, sleep_us };
            job
        };
        let (outcome, _) = simulate(vec![job("two", "fixed:100us", 2), job("one", "fixed:40us", 1)]);
        let counts = n_ios(&outcome);
        // 3 s of 100 us, all used by the slower job except for its waits for the other one.
        assert!(counts[0] > 10_000 && counts[0] <= 30_000, "{counts:?}");
        assert!(counts[0].abs_diff(2 * counts[1]) <= 4, "{counts:?}");
    }
}

#[test]
fn rates_of_jobs_are_kept_beside_each_other() {
    let job = |name: &str, ios_per_sec: u32| {
        let mut job = hundred_us(name, 100_000);
        (job.limits.time_based, job.limits.runtime_us) = (true, 2_000_000);
        job.pace.ios_per_sec.0 = [ios_per_sec; 3];
        job
    };
    let (outcome, _) = simulate(vec![job("a", 1_000), job("b", 333), job("c", 20_000)]);
    // The device of the last job can do no more than 10,000 a second.
    assert_eq!(n_ios(&outcome), [2_000, 666, 20_000]);
    assert_eq!(outcome.record.elapsed_ns, 2_000 * MS);
}

#[test]
fn depths_of_jobs_are_searched_beside_each_other() {
    let job = |name: &str, n_channels: i64| {
        let mut job = hundred_us(name, 10_000_000);
        set_depth(&mut job, 32);
        job.engine.options.set(&sim::CHANNELS, n_channels);
        (job.latency.target_us, job.latency.window_us) = (150, 10_000);
        job
    };
    let (outcome, _) = simulate(vec![job("four", 4), job("eight", 8)]);
    let depths: Vec<_> = outcome.record.workers.iter().map(|worker| worker.stats.latency_search.depth).collect();
    assert_eq!(depths, [4, 8]);
}

#[test]
fn what_is_due_in_the_run_comes_at_its_virtual_time() {
    let control = ferrio_spec::ControlSettings {
        status_interval: Some(Duration::from_millis(250)),
        ..ferrio_spec::ControlSettings::default()
    };
    let mut elapsed_ms = Vec::new();
    let settings = RunSettings { control, ..virtual_settings() };
    go(vec![hundred_us("a", 10_000), hundred_us("b", 3_000)], settings, &mut |event: RunEvent| {
        if let RunEvent::Status(record) = event {
            elapsed_ms.push((record.elapsed_ns / MS, n_ios_of(&record)));
        }
    });
    // One second with a report each quarter; b has ended in between.
    let times: Vec<u64> = elapsed_ms.iter().map(|(ms, _)| *ms).collect();
    assert_eq!(times[..3], [250, 500, 750]);
    for (ms, n) in &elapsed_ms[..3] {
        let expected = [ms * 10, (ms * 10).min(3_000)];
        assert!(n[0].abs_diff(expected[0]) <= 1 && n[1].abs_diff(expected[1]) <= 1, "{ms} ms: {n:?}");
    }
}

fn n_ios_of(record: &ferrio_stats::RunRecord) -> Vec<u64> {
    record.workers.iter().map(|worker| reads(&worker.stats).n_completed).collect()
}

#[test]
fn the_same_jobs_give_the_same_run() {
    let jobs = || {
        let mut jobs =
            vec![sim_reader("a", "exponential:80us", 2_000), sim_reader("b", "exponential:120us", 2_000), endless("c")];
        jobs[2].limits.runtime_us = 200_000;
        for job in &mut jobs {
            job.pace.flow = FlowSpec { id: 1, weight: 1, sleep_us: 0 };
        }
        jobs
    };
    let figures = |outcome: &RunOutcome| {
        let of_worker = |worker: &ferrio_stats::WorkerRecord| {
            let read = reads(&worker.stats);
            (read.n_completed, read.runtime_ns, read.clat.max_ns)
        };
        outcome.record.workers.iter().map(of_worker).collect::<Vec<_>>()
    };
    let first = figures(&simulate(jobs()).0);
    for _ in 0..3 {
        assert_eq!(figures(&simulate(jobs()).0), first);
    }
}
