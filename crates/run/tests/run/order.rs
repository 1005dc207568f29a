//! The order of jobs, and jobs that end together.
//!
//! Start reading at [`stonewall_waits_for_all_before`]. Times are whole milliseconds of the wall clock.

use crate::builder::{MS, reader, reads, run, run_with, sim_reader};
use crate::processes::{LONG_US, endless};
use ferrio_run::{RunEvent, RunObserver, RunOutcome};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{ExitWhat, JobSpec};
use ferrio_stats::ThreadStats;

fn stats(outcome: &RunOutcome, index: usize) -> &ThreadStats {
    &outcome.record.workers[index].stats
}

fn n_ios(outcome: &RunOutcome, index: usize) -> u64 {
    reads(stats(outcome, index)).n_completed
}

/// Checks that the first job had ended when the second began.
fn assert_after(first: &ThreadStats, second: &ThreadStats) {
    let end_ms = first.job_start_ms + first.total_runtime_ns / MS;
    // Both times are rounded down to a millisecond.
    assert!(second.job_start_ms + 1 >= end_ms, "{} {end_ms}", second.job_start_ms);
}

/// 50 reads of 1 ms.
fn short(name: &str) -> JobSpec {
    sim_reader(name, "fixed:1ms", 50)
}

#[test]
fn stonewall_waits_for_all_before() {
    for thread in [false, true] {
        let mut jobs = vec![short("a"), short("b"), short("c"), short("d")];
        jobs[2].grouping.stonewall = true;
        jobs[2].numjobs = 2;
        for job in &mut jobs {
            job.worker.thread = thread;
        }
        let (outcome, _) = run(jobs);
        assert_eq!(outcome.record.workers.len(), 5);
        // d has no stonewall itself but comes after one.
        for later in 2..5 {
            for earlier in 0..2 {
                assert_after(stats(&outcome, earlier), stats(&outcome, later));
            }
        }
        let groups: Vec<u32> = outcome.record.workers.iter().map(|job| job.group_index).collect();
        assert_eq!(groups, [0, 0, 1, 1, 1]);
    }
}

#[test]
fn wait_for_waits_for_one_job_only() {
    // b ends only because c does: if c had waited for b, b would have reached its runtime.
    let mut b = endless("b");
    b.limits.runtime_us = 20_000_000;
    let mut c = short("c");
    c.grouping.wait_for = Some("a".to_owned());
    c.grouping.exit_what = ExitWhat::All;
    let mut a = short("a");
    a.numjobs = 2;
    let mut jobs = vec![a, b, c];
    jobs[0].grouping.exit_what = ExitWhat::Group;
    jobs[1].grouping.new_group = true;
    jobs[2].grouping.exitall = true;
    let (outcome, _) = run(jobs);
    assert_after(stats(&outcome, 0), stats(&outcome, 3));
    assert_after(stats(&outcome, 1), stats(&outcome, 3));
    assert!(stats(&outcome, 2).total_runtime_ns < 20_000 * MS);
    assert_eq!(n_ios(&outcome, 3), 50);
}

/// Start of the run, milliseconds since 1970.
struct Beginning(u64);

impl RunObserver for Beginning {
    fn event(&mut self, event: RunEvent) {
        if matches!(event, RunEvent::Starting { .. }) {
            self.0 = ferrio_sys::clock::wall_clock_ms();
        }
    }
}

#[test]
fn startdelay_counts_from_the_start_of_the_run() {
    let mut jobs = vec![short("a"), short("b"), short("c")];
    jobs[1].limits.startdelay_us = (200_000, 200_000);
    jobs[2].limits.startdelay_us = (1_000, 2_000);
    jobs[2].grouping.stonewall = true;
    let mut beginning = Beginning(0);
    let outcome = run_with(jobs, &mut beginning);
    assert!(stats(&outcome, 1).job_start_ms + 1 >= beginning.0 + 200);
    assert_after(stats(&outcome, 0), stats(&outcome, 2));
    assert_after(stats(&outcome, 1), stats(&outcome, 2));
    assert!([0, 1, 2].iter().all(|index| n_ios(&outcome, *index) == 50));
}

/// A job that ends at once, an endless job of its group, an endless one of another group, and a job behind a stonewall.
fn exiting(what: ExitWhat) -> Vec<JobSpec> {
    let mut first = reader("first", "null", 1);
    first.grouping.exitall = true;
    first.grouping.exit_what = what;
    let mut other = short("other");
    other.grouping.new_group = true;
    let mut later = short("later");
    later.grouping.stonewall = true;
    vec![first, endless("endless"), other, later]
}

#[test]
fn exitall_ends_the_group() {
    let (outcome, _) = run(exiting(ExitWhat::Group));
    assert_eq!((n_ios(&outcome, 0), n_ios(&outcome, 2), n_ios(&outcome, 3)), (1, 50, 50));
    assert!(stats(&outcome, 1).total_runtime_ns < LONG_US * 1_000);
    assert_eq!(outcome.n_failed, 0);
}

#[test]
fn exitall_ends_what_runs() {
    let mut jobs = exiting(ExitWhat::Stonewall);
    jobs[2] = endless("other");
    let (outcome, _) = run(jobs);
    // Both endless jobs were ended; the waiting job then ran.
    assert_eq!((n_ios(&outcome, 0), n_ios(&outcome, 3)), (1, 50));
}

#[test]
fn exitall_ends_everything() {
    let mut jobs = exiting(ExitWhat::All);
    jobs[2] = endless("other");
    let (outcome, _) = run(jobs);
    assert_eq!((n_ios(&outcome, 0), n_ios(&outcome, 3)), (1, 0));
    assert_eq!(outcome.n_failed, 0);
}

#[test]
fn exitall_on_error_needs_an_error() {
    let mut good = reader("good", "null", 10);
    good.grouping.exitall_on_error = true;
    let mut bad = short("bad");
    bad.engine.options.set(&sim::FAULT, "eio@10");
    bad.grouping.exitall_on_error = true;
    // Without its error the third job would end nothing, and the run would last as long as the endless job.
    let (outcome, _) = run(vec![good.clone(), endless("endless"), bad]);
    assert_eq!((outcome.n_failed, n_ios(&outcome, 0), n_ios(&outcome, 2)), (1, 10, 9));
    let (outcome, _) = run(vec![good, short("short")]);
    assert_eq!((outcome.n_failed, n_ios(&outcome, 1)), (0, 50));
}

#[test]
fn threads_are_ended_like_processes() {
    let mut jobs = exiting(ExitWhat::All);
    for job in &mut jobs {
        job.worker.thread = true;
    }
    let (outcome, _) = run(jobs);
    assert_eq!((outcome.n_failed, n_ios(&outcome, 3)), (0, 0));
}
