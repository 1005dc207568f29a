//! I/Os that take too long end their job or reduce its depth; ramps that end after a number of bytes.
//!
//! Start reading at [`an_io_that_takes_too_long_ends_the_job`].

use crate::builder::{
    BLOCK, MS, US, failure_text, first_block, reads, set_depth, sim_reader, simulate, simulate_one, writes,
};
use ferrio_run::{MessageStream, RunOutcome};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec};
use ferrio_stats::ThreadStats;

/// A device that takes 100 us for an I/O and stalls from 50 ms to 60 ms.
fn stalled(change: impl FnOnce(&mut JobSpec)) -> (String, ThreadStats) {
    let (line, mut outcome) = stalled_run(change);
    (line, *outcome.record.workers.remove(0).stats)
}

fn stalled_run(change: impl FnOnce(&mut JobSpec)) -> (String, RunOutcome) {
    let mut job = sim_reader("j", "fixed:100us", 10_000);
    job.engine.options.set(&sim::STALL, "50ms/10ms");
    change(&mut job);
    let (outcome, events) = simulate(vec![job]);
    (events.text(MessageStream::Error), outcome)
}

#[test]
fn an_io_that_takes_too_long_ends_the_job() {
    let (line, outcome) = stalled_run(|job| job.latency.max_us.0 = [10_099, 1, 1]);
    let (stats, text) = (&outcome.record.workers[0].stats, failure_text(&outcome));
    // It is the 501st I/O, which begins when the device stalls.
    let expected = "fio: latency of 10100000 nsec exceeds specified max (10099000 nsec): j.0.0 read 2048000 4096";
    assert_eq!((line.as_str(), stats.errno), (expected, 110));
    assert!(text.contains("func=max latency exceeded, error=Connection timed out"), "{text}");
    assert_eq!((reads(stats).n_completed, stats.total_runtime_ns), (501, 60 * MS + 100 * US));
}

#[test]
fn what_is_just_allowed_or_of_another_direction_or_not_measured_does_not() {
    for change in [
        |job: &mut JobSpec| job.latency.max_us.0 = [10_100; 3],
        |job: &mut JobSpec| job.latency.max_us.0 = [0, 1, 1],
        |job: &mut JobSpec| (job.latency.max_us.0, job.reporting.disable_lat) = ([1; 3], true),
        |job: &mut JobSpec| (job.latency.max_us.0, job.reporting.gtod_reduce) = ([1; 3], true),
    ] {
        let (line, stats) = stalled(change);
        assert_eq!((line.as_str(), stats.errno, reads(&stats).n_completed), ("", 0, 10_000));
    }
}

#[test]
fn the_last_io_and_those_in_flight_are_judged_too() {
    let (line, stats) = stalled(|job| {
        (job.extent.number_ios, job.latency.max_us.0) = (501, [10_000; 3]);
        set_depth(job, 4);
        job.engine.options.set(&sim::CHANNELS, 4);
    });
    assert_eq!((line.lines().count(), stats.errno), (0, 0), "501 are done before the stall at this depth: {line}");
    let (line, stats) = stalled(|job| (job.extent.number_ios, job.latency.max_us.0) = (501, [10_000; 3]));
    assert_eq!((line.lines().count(), stats.errno, reads(&stats).n_completed), (1, 110, 501));
}

/// Ten milliseconds for each depth, on four channels of 100 us.
fn searched(change: impl FnOnce(&mut JobSpec)) -> ThreadStats {
    let mut job = sim_reader("j", "fixed:100us", 10_000_000);
    set_depth(&mut job, 32);
    job.engine.options.set(&sim::CHANNELS, 4);
    (job.latency.target_us, job.latency.window_us) = (150, 10_000);
    change(&mut job);
    simulate_one(job)
}

#[test]
fn the_depth_that_keeps_the_target_is_found() {
    let stats = searched(|_| ());
    let read = reads(&stats);
    // At depths above four, some I/Os wait for a channel.
    assert_eq!((stats.latency_search.depth, read.lat.max_ns), (4, 100 * US));
    // Only the last window counts: 10 ms, with 4 I/Os every 100 us.
    assert_eq!((read.n_completed, read.n_issued, read.runtime_ns), (400, 400, 10 * MS));
    assert_eq!((stats.depth.0[2], stats.total_runtime_ns), (400 - 3, 10 * MS), "{:?}", stats.depth);
    let target = stats.latency_search.target;
    assert_eq!((target.target_ns, target.window_ns), (150 * US, 10 * MS));
}

#[test]
fn it_is_at_most_the_depth_of_the_job() {
    assert_eq!(searched(|job| job.latency.target_us = 1_000_000).latency_search.depth, 32);
    assert_eq!(searched(|job| (job.latency.target_us, job.latency.percentile) = (1, 99.0)).latency_search.depth, 1);
    let one = searched(|job| set_depth(job, 1));
    assert_eq!((one.latency_search.depth, reads(&one).n_completed), (1, 100));
}

#[test]
fn a_search_that_goes_on_ends_with_the_runtime() {
    let stats = searched(|job| {
        (job.latency.goes_on, job.limits.time_based, job.limits.runtime_us) = (true, true, 400_000);
    });
    assert_eq!(reads(&stats).runtime_ns, 400 * MS);
    assert!((3..=6).contains(&stats.latency_search.depth), "{}", stats.latency_search.depth);
}

#[test]
fn a_target_that_one_io_misses_ends_the_job() {
    let (line, stats) = stalled(|job| (job.latency.target_us, job.latency.window_us) = (99, 10_000));
    let expected = "fio: latency of 100000 nsec exceeds specified max (99000 nsec): j.0.0 read 0 4096";
    assert_eq!((line.as_str(), stats.errno, stats.latency_search.depth), (expected, 110, 1));
    // The I/O that took too long is counted.
    assert_eq!((reads(&stats).n_completed, reads(&stats).runtime_ns), (1, 100 * US));
}

#[test]
fn a_ramp_ends_when_its_bytes_are_moved() {
    let mut job = sim_reader("j", "fixed:100us", 1_000);
    job.limits.ramp_bytes = 300 * BLOCK - 1;
    let stats = simulate_one(job);
    assert_eq!((reads(&stats).n_completed, reads(&stats).runtime_ns), (700, 70 * MS));
    let mut timed = sim_reader("j", "fixed:100us", 1_000);
    (timed.limits.ramp_bytes, timed.limits.runtime_us, timed.limits.time_based) = (300 * BLOCK, 50_000, true);
    // The runtime does not include the ramp.
    assert_eq!(reads(&simulate_one(timed)).n_completed, 500);
}

#[test]
fn bytes_of_all_directions_end_a_ramp() {
    let mut job = sim_reader("j", "fixed:100us", 1_000);
    (job.pattern.mix, job.limits.ramp_bytes) = (DirectionMix::ReadWrite, 400 * BLOCK);
    let stats = simulate_one(job);
    assert_eq!(reads(&stats).n_completed + writes(&stats).n_completed, 600);
}

#[test]
fn jobs_that_are_summed_ramp_together() {
    let jobs = ["a", "b"].map(|name| {
        let mut job = sim_reader(name, "fixed:100us", 1_000);
        (job.grouping.group_reporting, job.limits.ramp_bytes) = (true, 1_200 * BLOCK);
        job
    });
    // Both complete an I/O every 100 us, a before b. When b has done its 600th, both together have done 1,200, and b's
    // ramp is over; a notices it with its 601st.
    let (outcome, _) = simulate(jobs.into());
    let counted: Vec<u64> = outcome.record.workers.iter().map(|worker| reads(&worker.stats).n_completed).collect();
    assert_eq!((counted, reads(&first_block(&outcome)).n_completed), (vec![399, 400], 799));
}

#[test]
fn the_clock_of_the_start_is_that_of_the_job() {
    let start_ms = |clock_id: u32| {
        let mut job = sim_reader("j", "fixed:100us", 1);
        job.reporting.job_start_clock_id = clock_id;
        simulate_one(job).job_start_ms
    };
    // CLOCK_MONOTONIC counts from the boot of the machine, the wall clock from 1970.
    assert!(start_ms(1) < start_ms(0));
    let mut job = sim_reader("j", "fixed:100us", 1);
    job.reporting.job_start_clock_id = 4_711;
    let (outcome, events) = simulate(vec![job]);
    assert_eq!(
        (outcome.n_failed, events.text(MessageStream::Error)),
        (1, "fio: job_start_clock_id=4711: no such clock".to_owned())
    );
}
