//! The tests as jobs, and how one is run.
//!
//! Must not know: how figures are shown. Start reading at [`measure`].

use super::baseline::Test;
use super::check_signals;
use super::conditions::Conditions;
use super::target_file::TargetFile;
use super::test_figures::TestFigures;
use crate::shared::engine_choice::Load;
use crate::ui::signals::Signals;
use crate::ui::step_bar::StepBar;
use anyhow::{Result, bail};
use ferrio::session::{Observer, Session};
use ferrio_formats::native::{Headline, headlines, note_text};
use ferrio_run::RunEvent;
use ferrio_spec::{
    BlockRange, Compatibility, DirectionMix, EngineSpec, Fallocate, GivenOptions, JobSpec, QueueSpec, RunSpec, SizeSpec,
};
use ferrio_stats::{EtaSnapshot, Finding, Provenance};
use ferrio_units::humanize::{thousands, three_digits};
use ferrio_units::{DataDirection, PerDirection, byte_text};
use std::time::{Duration, Instant};

/// Time between two looks at a running test.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

pub(super) struct TestOutcome {
    pub(super) figures: TestFigures,
    /// The same as other commands have them.
    pub(super) rows: Vec<Headline>,
    pub(super) findings: Vec<Finding>,
    /// The machine, and the test as a job.
    pub(super) provenance: Option<Box<Provenance>>,
    /// When it ended, milliseconds since 1970.
    pub(super) timestamp_ms: u64,
    /// How long it took, nanoseconds.
    pub(super) elapsed_ns: u64,
}

/// Runs a test on the file.
///
/// # Errors
/// The job failed, or a signal ended it.
pub(super) fn measure(
    test: &Test,
    load: Load,
    conditions: &Conditions,
    file: &TargetFile,
    signals: &Signals,
    progress: &mut StepBar,
) -> Result<TestOutcome> {
    progress.step(test.name, conditions.ramp_ms + conditions.runtime_ms);
    let spec = run_spec(test, load, conditions, file);
    let mut watcher = Watcher { test, progress, started_at: Instant::now(), messages: Vec::new() };
    let mut session = Session::native(spec)?;
    session.settings.snapshot_interval = Some(LOOK_INTERVAL);
    let outcome = signals.run(session, &mut [&mut watcher])?;
    let messages = watcher.messages.join("\n");
    check_signals(signals)?;
    if outcome.run.n_failed > 0 || outcome.run.record.workers.is_empty() {
        bail!("{} failed:\n{messages}", test.name);
    }
    let record = outcome.run.record;
    Ok(TestOutcome {
        figures: TestFigures::new(test, load, &record, conditions),
        rows: headlines(&record),
        timestamp_ms: record.timestamp_ms,
        elapsed_ns: record.elapsed_ns,
        findings: record.audit.unwrap_or_default().findings,
        provenance: record.provenance,
    })
}

fn run_spec(test: &Test, load: Load, conditions: &Conditions, file: &TargetFile) -> RunSpec {
    let mut job = job(test, load, conditions);
    job.target.directories = vec![file.directory().to_owned()];
    job.target.filenames = vec![byte_text::from_bytes(file.name().as_bytes())];
    RunSpec { global_options: Vec::new(), jobs: vec![job], compatibility: Compatibility::Native, ..RunSpec::default() }
}

/// The test as a job, but for its file. Each clone has its share of the file, so that sequential ones do not follow in each other's tracks.
fn job(test: &Test, load: Load, conditions: &Conditions) -> JobSpec {
    let share = SizeSpec::Bytes(conditions.file_bytes / u64::from(load.n_jobs) / test.block_bytes * test.block_bytes);
    let depth = load.iodepth;
    let options =
        conditions.engine_options.iter().fold(GivenOptions::default(), |given, option| given.with(option, true));
    let mut job = JobSpec {
        name: test.name.to_owned(),
        section: test.name.to_owned(),
        numjobs: load.n_jobs,
        queue: QueueSpec {
            iodepth: depth,
            batch_submit: depth,
            batch_complete_min: 1,
            batch_complete_max: depth,
            low: depth,
        },
        engine: EngineSpec { name: conditions.engine.to_owned(), options, ..EngineSpec::default() },
        ..JobSpec::default()
    };
    job.pattern.mix = if test.direction == DataDirection::Write { DirectionMix::Write } else { DirectionMix::Read };
    (job.pattern.random, job.pattern.rw_postfix) = (test.is_random, i64::from(test.is_random));
    job.pattern.block_size = PerDirection::all(BlockRange { min_bytes: test.block_bytes, max_bytes: test.block_bytes });
    (job.extent.size, job.extent.offset_increment) = (Some(share), share);
    // The file is there and whole. Were it gone, a new one in its place would be an error, not a result.
    job.target.allow_file_create = false;
    job.layout.fallocate = Fallocate::None;
    job.limits.time_based = true;
    job.limits.runtime_us = conditions.runtime_ms * 1_000;
    job.limits.ramp_time_us = conditions.ramp_ms * 1_000;
    job.durability.direct = conditions.is_direct;
    job.grouping.group_reporting = true;
    job.worker.thread = !conditions.has_queue;
    job
}

/// Moves the bar, and collects the messages of the run in case that it fails.
struct Watcher<'a> {
    test: &'a Test,
    progress: &'a mut StepBar,
    started_at: Instant,
    messages: Vec<String>,
}

impl Observer for Watcher<'_> {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Eta(snapshot) => {
                let elapsed_ms = self.started_at.elapsed().as_millis() as u64;
                self.progress.set(elapsed_ms, &rates(snapshot, self.test.direction));
            }
            RunEvent::Message(_, note) => {
                self.messages.push(note_text(note).trim().to_owned());
            }
            // A person who waits for the figures needs no other event.
            _ => {}
        }
    }
}

fn rates(snapshot: &EtaSnapshot, direction: DataDirection) -> String {
    let megabytes = snapshot.bytes_per_sec[direction] as f64 / 1e6;
    format!("{} MB/s {} IOPS", three_digits(megabytes), thousands(snapshot.ios_per_sec[direction]))
}

#[cfg(test)]
mod tests {
    use super::super::baseline::TESTS;
    use super::super::conditions::tests::on_disk;
    use super::*;
    use ferrio::session::VERSION;
    use ferrio_job::SystemEnvironment;
    use std::ffi::OsString;

    /// Options with which fio would run the same test.
    fn job_arguments(test: &Test, load: Load, conditions: &Conditions) -> Vec<String> {
        let n_jobs = u64::from(load.n_jobs);
        let share_bytes = conditions.file_bytes / n_jobs / test.block_bytes * test.block_bytes;
        let depth = load.iodepth;
        let direction = if test.direction == DataDirection::Write { "write" } else { "read" };
        let mut arguments = vec![
            "ferrio".to_owned(),
            format!("--name={}", test.name),
            format!("--ioengine={}", conditions.engine),
            format!("--rw={}{direction}", if test.is_random { "rand" } else { "" }),
            format!("--bs={}", test.block_bytes),
            format!("--size={share_bytes}"),
            format!("--offset_increment={share_bytes}"),
            format!("--numjobs={n_jobs}"),
            "--group_reporting".to_owned(),
            format!("--iodepth={depth}"),
            format!("--iodepth_batch_submit={depth}"),
            format!("--iodepth_batch_complete_max={depth}"),
            format!("--direct={}", u8::from(conditions.is_direct)),
            "--time_based".to_owned(),
            format!("--runtime={}ms", conditions.runtime_ms),
            format!("--ramp_time={}ms", conditions.ramp_ms),
            "--allow_file_create=0".to_owned(),
            "--fallocate=none".to_owned(),
        ];
        arguments.extend(conditions.engine_options.iter().map(|option| format!("--{}", option.name())));
        if !conditions.has_queue {
            arguments.push("--thread".to_owned());
        }
        arguments
    }

    fn parsed(test: &Test, load: Load, conditions: &Conditions) -> JobSpec {
        let arguments: Vec<OsString> = job_arguments(test, load, conditions).into_iter().map(OsString::from).collect();
        let mut jobs = ferrio_job::parse(&arguments, &SystemEnvironment::new(VERSION)).unwrap().run.jobs;
        assert_eq!(jobs.len(), 1);
        JobSpec { given_options: Vec::new(), ..jobs.remove(0) }
    }

    #[test]
    fn a_test_is_the_job_that_options_of_fio_would_make() {
        let mut conditions = on_disk();
        for (test, load) in TESTS.iter().zip(&conditions.loads) {
            assert_eq!(job(test, *load, &conditions), parsed(test, *load, &conditions), "{}", test.name);
            assert_eq!(load.iodepth, test.depth);
        }
        (conditions.engine, conditions.has_queue, conditions.is_direct) = ("psync", false, false);
        conditions.engine_options.clear();
        let load = Load { n_jobs: 64, iodepth: 1 };
        assert_eq!(job(&TESTS[1], load, &conditions), parsed(&TESTS[1], load, &conditions));
    }

    #[test]
    fn threads_share_the_file_without_overlap() {
        let mut conditions = on_disk();
        conditions.file_bytes = 100 << 20;
        let job = job(&TESTS[0], Load { n_jobs: 64, iodepth: 1 }, &conditions);
        // 100 MiB / 64 = 1.56 MiB: one block each.
        let share = SizeSpec::Bytes(1 << 20);
        assert_eq!((job.numjobs, job.extent.size, job.extent.offset_increment), (64, Some(share), share));
    }

    #[test]
    fn rates_of_the_bar() {
        let mut snapshot = EtaSnapshot::default();
        snapshot.bytes_per_sec[DataDirection::Read] = 612_400_000;
        snapshot.ios_per_sec[DataDirection::Read] = 149_512;
        assert_eq!(rates(&snapshot, DataDirection::Read), "612 MB/s 149,512 IOPS");
        assert_eq!(rates(&snapshot, DataDirection::Write), "0.00 MB/s 0 IOPS");
    }
}
