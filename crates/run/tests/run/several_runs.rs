//! Several runs in one process, after each other and at the same time; prepared runs; probes.
//!
//! Start reading at [`runs_at_the_same_time`].

use crate::builder::{BLOCK, Events, go, reader, reads, run, settings, sim_reader, spec, virtual_settings};
use crate::processes::endless;
use crate::scratch::Scratch;
use ferrio_run::{Run, RunError, RunEvent, RunOutcome, RunSettings, Start};
use ferrio_spec::{DirectionMix, FileLocking, JobSpec};
use ferrio_stats::{Evidence, IoCounters, ProcessIo, Reading};
use std::time::{Duration, Instant};

/// `n` processes and `n` threads.
fn mixed(n: u32, n_blocks: u64) -> Vec<JobSpec> {
    [false, true]
        .map(|thread| {
            let mut job = reader("j", "null", n_blocks);
            (job.numjobs, job.worker.thread) = (n, thread);
            job
        })
        .into()
}

fn n_ios(outcome: &RunOutcome) -> Vec<u64> {
    outcome.record.workers.iter().map(|worker| reads(&worker.stats).n_completed).collect()
}

#[test]
fn runs_after_each_other() {
    for n_blocks in [10, 20, 30] {
        let (outcome, _) = run(mixed(2, n_blocks));
        assert_eq!((outcome.n_failed, n_ios(&outcome)), (0, vec![n_blocks; 4]));
    }
}

#[test]
fn runs_at_the_same_time() {
    std::thread::scope(|scope| {
        let runs: Vec<_> = (1..=4)
            .map(|index| {
                scope.spawn(move || {
                    for _ in 0..5 {
                        let (outcome, _) = run(mixed(4, index * 10));
                        assert_eq!((outcome.n_failed, n_ios(&outcome)), (0, vec![index * 10; 8]));
                    }
                })
            })
            .collect();
        for run in runs {
            run.join().unwrap();
        }
    });
}

#[test]
fn a_run_is_stopped_and_the_other_goes_on() {
    let both = || {
        let mut jobs = vec![endless("process"), endless("thread")];
        jobs[1].worker.thread = true;
        Run::new(spec(jobs), settings()).unwrap()
    };
    let (one, other) = (both(), both());
    let (stops_one, stops_other) = (one.handle(), other.handle());
    std::thread::scope(|scope| {
        let other = scope.spawn(move || other.go(&mut Events::default()).unwrap());
        let one = scope.spawn(move || one.go(&mut Events::default()).unwrap());
        std::thread::sleep(Duration::from_millis(100));
        stops_one.stop();
        assert!(one.join().unwrap().is_stopped);
        assert!(!stops_other.is_stopping() && !other.is_finished());
        stops_other.stop();
        assert_eq!(other.join().unwrap().n_failed, 0);
    });
}

#[test]
fn a_prepared_run_waits_for_its_time() {
    let run = Run::new(spec(mixed(2, 10)), RunSettings { keeps_series: true, ..settings() }).unwrap();
    let mut told = Vec::new();
    let prepared = run.prepare(&mut |event: RunEvent| told.push(format!("{event:?}"))).unwrap();
    assert!(told.iter().any(|event| event.starts_with("Starting")));
    let wait = Duration::from_secs(1);
    let at = Instant::now() + wait;
    let start = Duration::from_nanos(ferrio_sys::clock::monotonic_ns()) + wait;
    let outcome = prepared.go(Start::AtMonotonic(start), &mut Events::default());
    assert!(Instant::now() >= at);
    assert_eq!((outcome.n_failed, n_ios(&outcome)), (0, vec![10; 4]));
    // The time between preparation and start is not part of the run.
    let wait_ns = wait.as_nanos() as u64;
    assert!(outcome.record.workers.iter().all(|worker| worker.stats.total_runtime_ns < wait_ns));
    // Intervals count from the start.
    let starts_ns: Vec<u64> =
        outcome.record.series.iter().map(|series| series.first.saturating_mul(series.interval_ns)).collect();
    assert!(starts_ns.len() == 2 && starts_ns.iter().all(|start_ns| *start_ns < wait_ns), "{starts_ns:?}");
}

#[test]
fn a_prepared_run_is_stopped_before_its_time() {
    let prepared = Run::new(spec(mixed(2, 10)), settings()).unwrap().prepare(&mut Events::default()).unwrap();
    let handle = prepared.handle();
    let stopping = std::thread::spawn(move || handle.stop());
    // An hour from now.
    let outcome =
        prepared.go(Start::At(ferrio_sys::clock::wall_clock() + Duration::from_secs(3_600)), &mut Events::default());
    stopping.join().unwrap();
    assert!(outcome.is_stopped && outcome.n_failed == 0);
}

#[test]
fn a_prepared_run_that_does_not_go_leaves_nobody() {
    let name = format!("prepared-{}", std::process::id() % 100_000);
    let mut job = endless("process");
    job.worker.comm = Some(name.clone());
    let prepared = Run::new(spec(vec![job]), settings()).unwrap().prepare(&mut Events::default()).unwrap();
    let is_there = || {
        let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
        let comm = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        processes.any(|entry| comm(entry).trim() == name)
    };
    assert!(is_there());
    drop(prepared);
    assert!(!is_there());
}

#[test]
fn locks_between_jobs_are_refused_on_virtual_time() {
    let mut jobs = vec![sim_reader("a", "fixed:1us", 10), sim_reader("b", "fixed:1us", 10)];
    jobs[0].target.locking = FileLocking::Exclusive;
    let refused = Run::new(spec(jobs), virtual_settings()).unwrap().go(&mut Events::default());
    assert!(matches!(refused, Err(RunError::LocksOnVirtualTime)), "{refused:?}");
}

fn process_io(outcome: &RunOutcome) -> &ProcessIo {
    let found = outcome.record.evidence.process_io.as_ref();
    found.unwrap()
}

#[test]
fn what_workers_did_is_what_the_kernel_counted() {
    let scratch = Scratch::new("evidence");
    let jobs = [("process", false, 100), ("thread", true, 50)].map(|(name, thread, n_blocks)| {
        let mut job = reader(name, "psync", n_blocks);
        job.pattern.mix = DirectionMix::Write;
        job.target.directories = vec![scratch.path().to_owned()];
        job.worker.thread = thread;
        job
    });
    let (outcome, _) = run(jobs.into());
    let io = process_io(&outcome);
    // A thread is part of this process.
    let [worker] = &io.workers[..] else { panic!("{:?}", io.workers) };
    assert_eq!(worker.number, 1);
    let written = 100 * BLOCK;
    match &worker.counters {
        // Messages to the supervisor are counted too; they are much smaller than a file.
        Reading::Value(IoCounters { wchar, .. }) => assert!((written..written + (1 << 20)).contains(wchar), "{wchar}"),
        // Some kernels (6.18) show the counters of a process that has ended to root alone.
        Reading::Missing(reason) => {
            assert!(reason.contains("Permission denied") && !rustix::process::geteuid().is_root(), "{reason}");
        }
    }
    // The ended process is counted here, together with I/O of other tests in this process.
    assert!(io.total.value().unwrap().wchar >= 150 * BLOCK);
    let evidence = &outcome.record.evidence;
    assert!(evidence.page_cache.is_some() && evidence.pressure.is_some());
}

#[test]
fn nothing_is_measured_on_virtual_time() {
    let outcome = go(vec![sim_reader("j", "fixed:1us", 10)], virtual_settings(), &mut Events::default());
    assert_eq!(outcome.record.evidence, Evidence::default());
}
