//! Runs that are ended or asked through their handles, from their own events and from other threads.
//!
//! Start reading at [`a_stop_ends_the_run`].

use crate::builder::{BLOCK, Events, reads, settings, sim_reader, spec};
use crate::processes::endless;
use ferrio_run::{Handle, MessageStream, Run, RunEvent, RunObserver, RunOutcome};
use ferrio_spec::JobSpec;
use std::thread::JoinHandle;
use std::time::Duration;

/// A process, a thread, a job with long I/Os, and one that waits for the others.
fn jobs() -> Vec<JobSpec> {
    let mut jobs =
        vec![endless("process"), endless("thread"), sim_reader("slow", "fixed:1ms", 1_000), endless("later")];
    jobs[1].worker.thread = true;
    jobs[2].limits = jobs[0].limits.clone();
    jobs[3].grouping.stonewall = true;
    jobs
}

fn run_of(jobs: Vec<JobSpec>) -> Run {
    Run::new(spec(jobs), settings()).unwrap()
}

/// Uses the handle of a run from another thread, a while after its start, whether its workers have started by then or
/// not.
fn steer_later(run: &Run, steer: fn(&Handle)) -> JoinHandle<()> {
    let handle = run.handle();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        steer(&handle);
    })
}

fn n_ios(outcome: &RunOutcome) -> Vec<u64> {
    outcome.record.workers.iter().map(|job| reads(&job.stats).n_completed).collect()
}

#[test]
fn a_stop_ends_the_run() {
    let (run, mut events) = (run_of(jobs()), Events::default());
    let steering = steer_later(&run, Handle::stop);
    let outcome = run.go(&mut events).unwrap();
    steering.join().unwrap();
    assert_eq!((outcome.is_stopped, outcome.n_failed, events.n_stops), (true, 0, 1));
    assert_eq!((events.text(MessageStream::Info), events.text(MessageStream::Error)), (String::new(), String::new()));
    for (job, n_ios) in outcome.record.workers.iter().zip(n_ios(&outcome)) {
        assert_eq!(reads(&job.stats).bytes, n_ios * BLOCK);
    }
    assert_eq!(n_ios(&outcome)[3], 0, "it was not started");
}

#[test]
fn a_run_that_was_stopped_before_does_nothing() {
    let run = run_of(jobs());
    run.handle().stop();
    let outcome = run.go(&mut Events::default()).unwrap();
    assert_eq!((outcome.is_stopped, n_ios(&outcome)), (true, vec![0; 4]));
}

#[test]
fn an_abort_kills_processes_and_ends_threads() {
    // Each I/O takes longer than the test may, so that a job that waits for it would be noticed.
    let mut silent = sim_reader("silent", "fixed:900s", 10);
    silent.limits = endless("").limits;
    let mut thread = endless("thread");
    thread.worker.thread = true;
    let (run, mut events) = (run_of(vec![silent, thread]), Events::default());
    let steering = steer_later(&run, Handle::abort);
    let outcome = run.go(&mut events).unwrap();
    steering.join().unwrap();
    let killed: Vec<_> = outcome.record.workers.iter().map(|worker| worker.fate.killed_by).collect();
    assert_eq!((outcome.is_stopped, outcome.n_failed, killed), (true, 1, vec![Some(9), None]));
    assert!(events.text(MessageStream::Error).ends_with("got signal=9"), "{}", events.text(MessageStream::Error));
}

/// Requests reports until both jobs have done something, then ends the run.
struct Asking {
    handle: Handle,
    seen: Vec<u64>,
}

impl RunObserver for Asking {
    fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Starting { .. } => self.handle.snapshot(),
            RunEvent::Status(record) => {
                self.seen = record.workers.iter().map(|job| reads(&job.stats).clat.n_samples).collect();
                if self.seen.contains(&0) { self.handle.snapshot() } else { self.handle.stop() }
            }
            _ => {}
        }
    }
}

#[test]
fn a_report_on_request() {
    let mut jobs = vec![endless("process"), endless("thread")];
    jobs[1].worker.thread = true;
    let run = run_of(jobs);
    let mut asking = Asking { handle: run.handle(), seen: Vec::new() };
    let outcome = run.go(&mut asking).unwrap();
    let at_end = n_ios(&outcome);
    assert!(at_end.len() == 2 && (0..2).all(|job| at_end[job] >= asking.seen[job]), "{at_end:?} {:?}", asking.seen);
}

#[test]
fn a_trigger_ends_the_run() {
    let (run, mut events) = (run_of(jobs()), Events::default());
    let steering = steer_later(&run, Handle::trigger);
    let outcome = run.go(&mut events).unwrap();
    steering.join().unwrap();
    assert_eq!((outcome.is_stopped, outcome.n_failed, events.n_stops, n_ios(&outcome)[3]), (false, 0, 0, 0));
}
