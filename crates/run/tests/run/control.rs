//! Reports during runs, and their ends: reports at an interval, samples of bandwidth, triggers, idleness.
//!
//! Start reading at [`Seen`].

use crate::builder::{BLOCK, reads, run_under, sim_reader};
use crate::processes::endless;
use crate::scratch::Scratch;
use ferrio_formats::fio_view;
use ferrio_run::{BandwidthSample, MessageStream, RunEvent, RunObserver, RunOutcome};
use ferrio_spec::{ControlSettings, IdleDetail, JobSpec, Trigger};
use ferrio_stats::RunRecord;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Events seen during a run.
#[derive(Default)]
struct Seen {
    reports: Vec<RunRecord>,
    samples: Vec<BandwidthSample>,
    messages: Vec<String>,
    until: Option<Until>,
}

/// Makes the file that ends the run, as soon as enough events were seen.
struct Until {
    is_enough: fn(&Seen) -> bool,
    trigger_file: PathBuf,
}

impl RunObserver for Seen {
    fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Status(report) => self.reports.push(*report),
            RunEvent::Bandwidth(sample) => self.samples.push(sample),
            RunEvent::Message(MessageStream::Error, note) => self.messages.push(ferrio_formats::words::note(&note)),
            _ => {}
        }
        let Some(until) = self.until.take() else { return };
        if (until.is_enough)(self) {
            std::fs::write(until.trigger_file, "").unwrap();
        } else {
            self.until = Some(until);
        }
    }
}

/// Runs jobs until enough events were seen, however long that takes.
fn run_until(is_enough: fn(&Seen) -> bool, control: ControlSettings, jobs: Vec<JobSpec>) -> (RunOutcome, Seen) {
    let scratch = Scratch::new("until");
    let trigger_file = scratch.path().join("enough");
    let trigger = Trigger { file: Some(trigger_file.clone()), ..Trigger::default() };
    let mut seen = Seen { until: Some(Until { is_enough, trigger_file }), ..Seen::default() };
    let outcome = run_under(ControlSettings { trigger, ..control }, jobs, &mut seen);
    (outcome, seen)
}

/// A process and a thread that only a trigger ends.
fn both() -> Vec<JobSpec> {
    let mut jobs = vec![endless("process"), endless("thread")];
    jobs[1].worker.thread = true;
    jobs
}

/// True if both jobs have done something in several reports.
fn enough_reports(seen: &Seen) -> bool {
    let is_of_both = |report: &&RunRecord| report.workers.iter().all(|job| reads(&job.stats).n_completed > 0);
    seen.reports.iter().filter(is_of_both).count() >= 3
}

#[test]
fn reports_are_cumulative_and_of_their_time() {
    let control = ControlSettings { status_interval: Some(Duration::from_millis(20)), ..ControlSettings::default() };
    let (outcome, mut seen) = run_until(enough_reports, control, both());
    assert_eq!((outcome.n_failed, seen.messages.len()), (0, 0), "{:?}", seen.messages);
    seen.reports.push(outcome.record);
    for pair in seen.reports.windows(2) {
        for (earlier, later) in pair[0].workers.iter().zip(&pair[1].workers) {
            let (earlier, later) = (&earlier.stats, &later.stats);
            assert!(reads(earlier).n_completed <= reads(later).n_completed);
            assert_eq!(reads(later).bytes, reads(later).n_completed * BLOCK);
            assert!(earlier.total_runtime_ns <= later.total_runtime_ns);
            assert!(reads(later).runtime_ns <= later.total_runtime_ns + 20_000_000);
        }
    }
    // Reports before the third second have no estimate.
    let views = seen.reports.iter().map(fio_view);
    assert!(views.into_iter().all(|view| view.elapsed_secs >= 3 || view.eta_secs == 2_147_483_647));
}

#[test]
fn a_report_does_not_wait_for_a_silent_job() {
    // Its only I/O takes so long that the job cannot answer in time.
    let job = sim_reader("silent", "fixed:2500ms", 1);
    let control = ControlSettings { status_interval: Some(Duration::from_millis(50)), ..ControlSettings::default() };
    let mut seen = Seen::default();
    let started_at = Instant::now();
    let outcome = run_under(control, vec![job], &mut seen);
    assert_eq!(outcome.n_failed, 0);
    assert!(started_at.elapsed() >= Duration::from_millis(2_500), "it ends when its I/O does");
    // The first reports may come before its start.
    let silent: Vec<_> = seen.reports.iter().map(|report| &report.workers[0].stats).collect();
    let silent: Vec<_> = silent.into_iter().filter(|stats| reads(stats).n_completed == 0).collect();
    let longest_ns = silent.iter().map(|stats| stats.total_runtime_ns).max();
    assert!(longest_ns.is_some_and(|longest_ns| longest_ns >= 900_000_000), "time goes on: {longest_ns:?} ns");
}

fn enough_samples(seen: &Seen) -> bool {
    seen.samples.iter().filter(|sample| sample.kib_per_sec.0[0] > 0).count() >= 3
}

#[test]
fn samples_of_bandwidth_add_up() {
    let mut jobs = both();
    for job in &mut jobs {
        job.reporting.bw_window_ms = 50;
    }
    let control = ControlSettings { samples_bandwidth: true, ..ControlSettings::default() };
    let (outcome, seen) = run_until(enough_samples, control, jobs);
    let mut bytes = 0;
    let mut last_ms = 0;
    for sample in &seen.samples {
        assert!(sample.time_ms > last_ms, "{:?}", seen.samples);
        // Both KiB a second and times are rounded down, so that a sample may stand for a millisecond less than it
        // seems.
        bytes += sample.kib_per_sec.0[0] * 1_024 * (sample.time_ms - last_ms - 1) / 1_000;
        assert_eq!(sample.kib_per_sec.0[1..], [0, 0]);
        last_ms = sample.time_ms;
    }
    let total: u64 = outcome.record.workers.iter().map(|job| reads(&job.stats).bytes).sum();
    assert!(bytes > 0 && bytes <= total, "{bytes} of {total}");
}

#[test]
fn the_ramp_gives_no_bandwidth() {
    let mut jobs = both();
    for job in &mut jobs {
        job.reporting.bw_window_ms = 50;
        job.limits.ramp_time_us = crate::processes::LONG_US;
    }
    let control = ControlSettings { samples_bandwidth: true, ..ControlSettings::default() };
    let (_, seen) = run_until(|seen| seen.samples.len() >= 8, control, jobs);
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
    assert_eq!((outcome.n_failed, outcome.is_stopped, seen.messages.len()), (0, false, 0));
    assert!(!file.exists());
    assert_eq!(std::fs::read_to_string(result).unwrap(), "done\n");
    assert_eq!(reads(&outcome.record.workers[2].stats).n_completed, 0);
}

#[test]
fn idleness_is_reported_where_it_is_asked_for() {
    for (idle, n_cpus) in [(None, 0), (Some(IdleDetail::System), 0), (Some(IdleDetail::PerCpu), 1)] {
        let trigger = Trigger { timeout: Some(Duration::from_millis(600)), ..Trigger::default() };
        let control = ControlSettings { idle, trigger, ..ControlSettings::default() };
        let outcome = run_under(control, both(), &mut Seen::default());
        let idleness = outcome.record.idleness().cloned();
        assert_eq!(idleness.is_some(), idle.is_some());
        assert!(idleness.is_none_or(|idleness| idleness.cpus.len() >= n_cpus && idleness.system_percent <= 100.0));
    }
}
