//! Jobs that end when they reach a steady state.
//!
//! Start reading at [`a_constant_rate_is_steady`].

use crate::builder::{BLOCK, MS, run, sim_reader, simulate};
use ferrio_formats::fio_view;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{JobSpec, SteadyMetric};
use ferrio_stats::{SteadyPart, SteadySample, SteadyState};

const SECOND_US: u64 = 1_000_000;

/// 10000 reads a second for at most 30 s, with a search for a deviation below 1% from the mean over this many seconds.
fn searched(duration_secs: u64) -> JobSpec {
    let mut job = sim_reader("j", "fixed:100us", 1_000);
    job.limits.time_based = true;
    job.limits.runtime_us = 30 * SECOND_US;
    let steady = &mut job.steady_state;
    (steady.duration_us, steady.criterion.is_slope, steady.criterion.limit) = (duration_secs * SECOND_US, false, 1.0);
    job
}

fn simulated(job: JobSpec) -> (SteadyState, u64) {
    let (mut outcome, _) = simulate(vec![job]);
    assert_eq!(outcome.n_failed, 0);
    let report = outcome.record.workers.remove(0);
    (report.steady_state().expect("a search").clone(), report.stats.total_runtime_ns)
}

fn iops(state: &SteadyState) -> Vec<u64> {
    state.window(|sample| sample.ios_per_sec).collect()
}

#[test]
fn a_constant_rate_is_steady() {
    let (state, runtime_ns) = simulated(searched(3));
    assert!(state.is_attained);
    assert_eq!((iops(&state), runtime_ns), (vec![10_000; 3], 3_000 * MS));
    assert!(state.window(|sample| sample.bytes_per_sec).eq([10_000 * BLOCK; 3]));
    assert!(state.window(SteadySample::mean_clat_ns).eq([100_000; 3]));
}

#[test]
fn a_stall_is_an_interval_with_less_and_one_without_anything() {
    let mut job = searched(2);
    // Nothing happens from 0.5 s to 2.9 s: the first interval has half of its I/Os and the second none.
    job.engine.options.set(&sim::FAULT, "read=stall:2400ms@5000");
    let (state, runtime_ns) = simulated(job);
    assert!(state.is_attained);
    assert_eq!((iops(&state), runtime_ns), (vec![10_000; 2], 5_000 * MS), "the third interval is short of I/Os too");
}

#[test]
fn ramps_are_left_out() {
    let mut job = searched(2);
    job.steady_state.ramp_us = 1_500_000;
    let (state, runtime_ns) = simulated(job.clone());
    assert_eq!((iops(&state), runtime_ns), (vec![10_000; 2], 3_500 * MS));
    job.limits.ramp_time_us = SECOND_US;
    let (state, runtime_ns) = simulated(job);
    assert_eq!((iops(&state), runtime_ns), (vec![10_000; 2], 3_500 * MS), "runtime counts from the end of ramp_time");
}

#[test]
fn longer_intervals() {
    let mut job = searched(6);
    job.steady_state.interval_us = 3 * SECOND_US;
    let (state, runtime_ns) = simulated(job);
    assert_eq!((iops(&state), runtime_ns), (vec![10_000; 2], 6_000 * MS));
}

#[test]
fn what_ends_before_the_window_is_full_is_not_steady() {
    let mut job = searched(8);
    job.limits.runtime_us = 3_500_000;
    let (state, runtime_ns) = simulated(job);
    assert!(!state.is_attained);
    assert_eq!((iops(&state), runtime_ns), (vec![10_000, 10_000, 10_000, 0, 0, 0, 0, 0], 3_500 * MS));
}

#[test]
fn latencies_can_be_searched() {
    let mut job = searched(2);
    (job.steady_state.criterion.metric, job.steady_state.criterion.is_slope) = (SteadyMetric::Lat, true);
    let (state, runtime_ns) = simulated(job);
    assert!(state.is_attained);
    assert_eq!(runtime_ns, 2_000 * MS);
    assert!((state.slope, state.figure) == (0.0, 0.0));
}

#[test]
fn jobs_without_a_window_have_no_search() {
    let (outcome, _) = simulate(vec![sim_reader("j", "fixed:100us", 10)]);
    assert_eq!(outcome.record.workers[0].steady_state(), None);
}

/// In real time: the group ends together, long before its runtime, as processes and as threads.
#[test]
fn a_group_ends_together() {
    for thread in [false, true] {
        let mut job = sim_reader("j", "fixed:1ms", 1_000);
        job.limits.time_based = true;
        job.limits.runtime_us = 60 * SECOND_US;
        (job.numjobs, job.grouping.group_reporting, job.worker.thread) = (2, true, thread);
        // A limit that any rate meets.
        let steady = &mut job.steady_state;
        (steady.duration_us, steady.criterion.is_slope, steady.criterion.limit) = (2 * SECOND_US, false, 1_000.0);
        let (outcome, _) = run(vec![job]);
        let [leader, follower] = &outcome.record.workers[..] else { panic!("two workers") };
        assert_eq!(follower.steady, Some(SteadyPart::Follows(0)));
        let state = leader.steady_state().expect("a search");
        let view = fio_view(&outcome.record);
        let [report] = &view.jobs[..] else { panic!("one block") };
        assert_eq!((report.n_members, state.is_attained), (2, true));
        assert!(report.stats.total_runtime_ns < 2 * 30_000 * MS);
        assert_eq!(iops(state).len(), 2);
    }
}
