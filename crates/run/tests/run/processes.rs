//! Real processes and threads: sums, descriptors, deaths.
//!
//! Start reading at [`a_thousand_jobs`].

use crate::builder::{BLOCK, first_block, job, reader, reads, run, sim_reader};
use crate::child::{self, Child};
use crate::scratch::Scratch;
use ferrio_formats::fio_view;
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, SizeSpec};
use ferrio_stats::ThreadStats;
use ferrio_testing::skip;
use rustix::process::Signal;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Longer than any test may take.
pub(crate) const LONG_US: u64 = 600_000_000;

/// A reader that ends only on request, and sleeps most of the time.
pub(crate) fn endless(name: &str) -> JobSpec {
    let mut job = sim_reader(name, "fixed:2ms", 1_000);
    job.limits.time_based = true;
    job.limits.runtime_us = LONG_US;
    job
}

fn n_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn many(n_jobs: u32, thread: bool) -> Vec<JobSpec> {
    let mut job = reader("j", "null", 10);
    job.numjobs = n_jobs;
    job.worker.thread = thread;
    job.grouping.group_reporting = true;
    vec![job]
}

#[test]
#[ignore = "the child half of a_thousand_jobs"]
fn child_a_thousand_jobs() {
    let Some(directory) = child::directory("child_a_thousand_jobs") else { return };
    let mut answers = Vec::new();
    for thread in [false, true] {
        let before = n_descriptors();
        let (outcome, events) = run(many(1_000, thread));
        let view = fio_view(&outcome.record);
        let stats = &view.jobs[0].stats;
        answers.push(json!({
            "n_failed": outcome.n_failed,
            "n_messages": events.messages.len(),
            "n_members": view.jobs[0].n_members,
            "n_ios": reads(stats).n_completed,
            "bytes": reads(stats).bytes,
            "n_leaked": n_descriptors() - before,
        }));
    }
    answers.push(json!({"no_children": ferrio_sys::process::try_wait_any().is_err()}));
    child::answer(&directory, &json!(answers));
}

#[test]
fn a_thousand_jobs() {
    let scratch = Scratch::new("thousand");
    let answer = Child::start("processes::child_a_thousand_jobs", scratch.path()).answer();
    let expected = json!({
        "n_failed": 0,
        "n_messages": 0,
        "n_members": 1_000,
        "n_ios": 10_000,
        "bytes": 10_000 * BLOCK,
        "n_leaked": 0,
    });
    assert_eq!(answer, json!([expected, expected, {"no_children": true}]));
}

#[test]
fn threads_count_like_processes() {
    let figures = |thread: bool| -> Vec<(u64, u64, u64, u64)> {
        let scratch = Scratch::new("alike");
        let mut jobs = vec![reader("null", "null", 1_000), reader("file", "psync", 64), job("mixed")];
        jobs[2].extent.size = Some(SizeSpec::Bytes(64 * BLOCK));
        jobs[2].pattern.mix = DirectionMix::ReadWrite;
        (jobs[2].pattern.random, jobs[2].pattern.rw_postfix, jobs[2].durability.fsync_blocks) = (true, 1, 8);
        for job in &mut jobs {
            job.worker.thread = thread;
            job.numjobs = 2;
            job.target.directories = vec![scratch.path().to_owned()];
        }
        let (outcome, events) = run(jobs);
        assert_eq!((outcome.n_failed, events.text(MessageStream::Error)), (0, String::new()));
        let figures = |stats: &ThreadStats| {
            let sum = stats.unified();
            (sum.n_issued, sum.bytes, stats.n_syncs_issued, sum.clat.n_samples)
        };
        outcome.record.workers.iter().map(|job| figures(&job.stats)).collect()
    };
    let as_processes = figures(false);
    assert_eq!(as_processes.len(), 6);
    assert_eq!(as_processes, figures(true));
    assert_eq!(as_processes[0], (1_000, 1_000 * BLOCK, 0, 1_000));
}

/// The child of this process with the name that its job gave it.
fn child_named(comm: &str) -> Option<i32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    let children: Vec<i32> =
        lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect();
    let has_name =
        |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == comm);
    children.into_iter().find(has_name)
}

fn n_written(pid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok()).unwrap_or(0)
}

/// Repeats a look until it has a result; gives up after a minute.
fn wait_until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = std::time::Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "nothing happens");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Kills the child with this name once it has shown some progress.
fn kill_once_busy(comm: &str) -> i32 {
    let pid = wait_until(|| child_named(comm).filter(|pid| n_written(*pid) > 1 << 20));
    // Progress is shown every 20 ms, so it has been shown once the job writes after this pause.
    std::thread::sleep(Duration::from_millis(100));
    let before = n_written(pid);
    wait_until(|| (n_written(pid) > before + (1 << 20)).then_some(()));
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    pid
}

#[test]
fn a_killed_job_is_reported_and_the_others_go_on() {
    if !Path::new("/proc/thread-self/children").exists() || !Path::new("/proc/self/io").exists() {
        skip!("a_killed_job_is_reported_and_the_others_go_on", "/proc shows no children or no I/O counts");
        return;
    }
    let scratch = Scratch::new("killed");
    let comm = format!("victim-{}", std::process::id());
    let mut victim = reader("victim", "psync", 256);
    victim.pattern.mix = DirectionMix::Write;
    victim.limits.time_based = true;
    victim.limits.runtime_us = LONG_US;
    victim.worker.comm = Some(comm.clone());
    victim.target.directories = vec![scratch.path().to_owned()];
    let mut other = sim_reader("other", "fixed:10us", 1_000);
    other.grouping.wait_for = Some("victim".to_owned());
    let killer = std::thread::spawn(move || kill_once_busy(&comm));
    let (outcome, events) = run(vec![victim, reader("beside", "null", 100), other]);
    let pid = killer.join().unwrap();
    assert_eq!(events.text(MessageStream::Error), format!("fio: pid={pid}, got signal=9"));
    // Unlike in fio, a killed job counts as failed, and is marked.
    assert_eq!((outcome.n_failed, outcome.is_stopped), (1, false));
    let jobs = &outcome.record.workers;
    let view = fio_view(&outcome.record);
    let marked: Vec<_> = view.jobs[0].killed.iter().map(|member| (member.pid as i32, member.signal)).collect();
    assert_eq!((marked, view.jobs[1].killed.len(), jobs[0].stats.errno), (vec![(pid, 9)], 0, 0));
    assert_eq!(i64::from(jobs[0].pid), i64::from(pid));
    assert_eq!((reads(&jobs[1].stats).n_completed, reads(&jobs[2].stats).n_completed), (100, 1_000));
    // The progress that it had shown is known.
    let written = crate::builder::writes(&jobs[0].stats);
    assert!(written.n_completed > 256, "{}", written.n_completed);
    assert_eq!(written.bytes, written.n_completed * BLOCK);
    assert!(written.runtime_ns > 0);
}

#[test]
#[ignore = "the child half of jobs_that_cannot_start_have_failed"]
fn child_jobs_that_cannot_start() {
    let Some(directory) = child::directory("child_jobs_that_cannot_start") else { return };
    limit_descriptors(64);
    let (outcome, events) = run(many(100, false));
    let stats = &first_block(&outcome);
    child::answer(
        &directory,
        &json!({
            "some_failed": outcome.n_failed > 0 && outcome.n_failed < 100,
            "others_ran": reads(stats).n_completed == u64::from(100 - outcome.n_failed) * 10,
            "errno": stats.errno,
            "told": events.text(MessageStream::Error).contains("Too many open files"),
        }),
    );
}

/// Lowers the limit for good: the process gives up its right to raise it again.
pub(crate) fn limit_descriptors(limit: u64) {
    let both = rustix::process::Rlimit { current: Some(limit), maximum: Some(limit) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, both).unwrap();
    if rustix::process::getuid().is_root() {
        ferrio_sys::process::set_group_id(65_534).unwrap();
        ferrio_sys::process::set_user_id(65_534).unwrap();
    }
}

#[test]
fn jobs_that_cannot_start_have_failed() {
    let scratch = Scratch::new("refused");
    scratch.open_to_all();
    let answer = Child::start("processes::child_jobs_that_cannot_start", scratch.path()).answer();
    assert_eq!(answer, json!({ "some_failed": true, "others_ran": true, "errno": 24, "told": true }));
}

#[test]
fn a_thread_that_fails_is_that_job_only() {
    let mut bad = sim_reader("bad", "fixed:10us", 100);
    bad.engine.options.set(&sim::FAULT, "eio@50");
    bad.worker.thread = true;
    let mut good = reader("good", "null", 100);
    good.worker.thread = true;
    let (outcome, events) = run(vec![bad, good]);
    assert_eq!((outcome.n_failed, outcome.record.workers[0].stats.errno), (1, 5));
    assert_eq!(reads(&outcome.record.workers[1].stats).n_completed, 100);
    let pid = outcome.record.workers[0].pid;
    let line = events.text(MessageStream::Info);
    assert!(line.starts_with(&format!("fio: pid={pid}, err=5/file:failure.rs:")), "{line}");
    assert!(line.ends_with(", func=io_u error, error=Input/output error"), "{line}");
}
