//! Looking into runs and ending them: reports at an interval, samples of bandwidth, triggers, idleness.
//!
//! Start reading at [`Seen`].

use crate::builder::{BLOCK, reads, run_under};
use crate::processes::endless;
use crate::scratch::Scratch;
use ferrio_job::spec::JobSpec;
use ferrio_run::{BandwidthSample, ControlSettings, IdleDetail, RunEvent, RunObserver, Stream, Trigger};
use ferrio_stats::RunResult;
use std::time::{Duration, Instant};

/// What was told while a run went on; writes a file when there is enough of it.
#[derive(Default)]
struct Seen {
    reports: Vec<RunResult>,
    samples: Vec<BandwidthSample>,
    messages: Vec<String>,
}

impl RunObserver for Seen {
    fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Status(report) => self.reports.push(*report),
            RunEvent::Bandwidth(sample) => self.samples.push(sample),
            RunEvent::Message(Stream::Error, text) => self.messages.push(text),
            _ => {}
        }
    }
}

/// A process and a thread that end only by a trigger.
fn both() -> Vec<JobSpec> {
    let mut jobs = vec![endless("process"), endless("thread")];
    jobs[1].worker.thread = true;
    jobs
}

/// Ends the jobs after a time in which something is seen on any machine.
fn ended_soon() -> ControlSettings {
    let trigger = Trigger { timeout: Some(Duration::from_millis(600)), ..Trigger::default() };
    ControlSettings { trigger, ..ControlSettings::default() }
}

#[test]
fn reports_are_cumulative_and_of_their_time() {
    let control = ControlSettings { status_interval: Some(Duration::from_millis(20)), ..ended_soon() };
    let mut seen = Seen::default();
    let outcome = run_under(control, both(), &mut seen);
    assert_eq!((outcome.n_failed, seen.messages.len()), (0, 0), "{:?}", seen.messages);
    seen.reports.push(outcome.result);
    assert!(seen.reports.len() >= 2);
    for pair in seen.reports.windows(2) {
        for (earlier, later) in pair[0].jobs.iter().zip(&pair[1].jobs) {
            let (earlier, later) = (&earlier.stats, &later.stats);
            assert!(reads(earlier).n_completed <= reads(later).n_completed);
            assert_eq!(reads(later).bytes, reads(later).n_completed * BLOCK);
            assert!(earlier.total_runtime_ns <= later.total_runtime_ns);
            assert!(reads(later).runtime_ns <= later.total_runtime_ns + 20_000_000);
        }
    }
    // Before the third second nobody is told when the jobs end.
    assert!(seen.reports.iter().all(|report| report.elapsed_secs >= 3 || report.eta_secs == 2_147_483_647));
}

#[test]
fn a_report_does_not_wait_for_a_silent_job() {
    let mut job = endless("silent");
    // The first I/O takes so long that the job cannot answer in time.
    job.engine.options.retain(|(name, _)| name != "sim_service");
    crate::builder::set_text(&mut job, "sim_service", "fixed:2500ms");
    let control = ControlSettings { status_interval: Some(Duration::from_millis(50)), ..ended_soon() };
    let mut seen = Seen::default();
    let started_at = Instant::now();
    let outcome = run_under(control, vec![job], &mut seen);
    assert_eq!(outcome.n_failed, 0);
    assert!(started_at.elapsed() >= Duration::from_millis(2_500), "it ends when its I/O does");
    let first = &seen.reports[0].jobs[0].stats;
    assert_eq!(reads(first).n_completed, 0);
    assert!(first.total_runtime_ns >= 900_000_000, "time goes on: {} ns", first.total_runtime_ns);
}

#[test]
fn samples_of_bandwidth_add_up() {
    let mut jobs = both();
    for job in &mut jobs {
        job.reporting.bw_window_ms = 50;
    }
    let mut seen = Seen::default();
    let outcome = run_under(ControlSettings { samples_bandwidth: true, ..ended_soon() }, jobs, &mut seen);
    assert!(!seen.samples.is_empty());
    let mut bytes = 0;
    let mut last_ms = 0;
    for sample in &seen.samples {
        assert!(sample.time_ms > last_ms, "{:?}", seen.samples);
        // KiB a second are rounded down; both times are, so that a sample may stand for a millisecond less than it seems.
        bytes += sample.kib_per_sec.0[0] * 1_024 * (sample.time_ms - last_ms - 1) / 1_000;
        assert_eq!(sample.kib_per_sec.0[1..], [0, 0]);
        last_ms = sample.time_ms;
    }
    let total: u64 = outcome.result.jobs.iter().map(|job| reads(&job.stats).bytes).sum();
    assert!(bytes > 0 && bytes <= total, "{bytes} of {total}");
}

#[test]
fn the_ramp_gives_no_bandwidth() {
    let mut jobs = both();
    for job in &mut jobs {
        job.reporting.bw_window_ms = 50;
        job.limits.ramp_time_us = crate::processes::LONG_US;
    }
    let mut seen = Seen::default();
    run_under(ControlSettings { samples_bandwidth: true, ..ended_soon() }, jobs, &mut seen);
    assert!(!seen.samples.is_empty());
    assert!(seen.samples.iter().all(|sample| sample.kib_per_sec.0 == [0; 3]), "{:?}", seen.samples);
}

#[test]
fn a_trigger_file_ends_all_jobs_and_runs_the_command_to_its_end() {
    let scratch = Scratch::new("trigger");
    let (file, result) = (scratch.path().join("now"), scratch.path().join("result"));
    std::fs::write(&file, "").unwrap();
    let command = format!("sleep 0.2; echo done > {}; exit 7", result.display());
    let trigger = Trigger { file: Some(file.clone()), command: Some(command), ..Trigger::default() };
    let mut jobs = both();
    jobs.push(endless("later"));
    jobs[2].grouping.stonewall = true;
    let mut seen = Seen::default();
    let outcome = run_under(ControlSettings { trigger, ..ControlSettings::default() }, jobs, &mut seen);
    assert_eq!((outcome.n_failed, outcome.signal, seen.messages.len()), (0, None, 0));
    assert!(!file.exists());
    assert_eq!(std::fs::read_to_string(result).unwrap(), "done\n");
    assert_eq!(reads(&outcome.result.jobs[2].stats).n_completed, 0);
}

#[test]
fn idleness_is_reported_where_it_is_asked_for() {
    for (idle, n_cpus) in [(None, 0), (Some(IdleDetail::System), 0), (Some(IdleDetail::PerCpu), 1)] {
        let mut seen = Seen::default();
        let outcome = run_under(ControlSettings { idle, ..ended_soon() }, both(), &mut seen);
        let idleness = outcome.result.idleness;
        assert_eq!(idleness.is_some(), idle.is_some());
        assert!(idleness.is_none_or(|idleness| idleness.cpus.len() >= n_cpus && idleness.system_percent <= 100.0));
    }
}
