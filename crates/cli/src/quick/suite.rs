//! The four tests as jobs, and how one is run.
//!
//! Must not know: how figures are shown. Start reading at [`TESTS`], then [`measure`].

use super::Interrupted;
use super::conditions::Conditions;
use super::engine::Load;
use super::figures::Figures;
use super::numbers::{thousands, three_digits};
use super::progress::Progress;
use super::target_file::TargetFile;
use crate::version::VERSION;
use anyhow::{Result, anyhow, bail};
use ferrio_job::SystemEnvironment;
use ferrio_job::spec::RunSpec;
use ferrio_report::logs::LogFiles;
use ferrio_run::{ControlSettings, EtaSettings, RunEvent, RunObserver, RunSettings, TraceSettings};
use ferrio_stats::EtaSnapshot;
use ferrio_units::{DataDirection, byte_text};
use std::ffi::OsString;
use std::time::Instant;

/// Time between two looks at a running test.
const LOOK_INTERVAL_MS: u64 = 200;

/// One test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Test {
    /// Its name, in the table too.
    pub(super) name: &'static str,
    /// Value of `rw=`.
    pub(super) rw: &'static str,
    /// Its only direction.
    pub(super) direction: DataDirection,
    /// Bytes of each I/O.
    pub(super) block_bytes: u64,
    /// I/Os in flight, where nothing bounds them.
    pub(super) depth: u32,
}

/// The baseline tests in their order: large blocks for throughput, small ones for I/Os a second.
pub(super) const TESTS: [Test; 4] = [
    Test { name: "1M sequential write", rw: "write", direction: DataDirection::Write, block_bytes: 1 << 20, depth: 64 },
    Test {
        name: "4K random write",
        rw: "randwrite",
        direction: DataDirection::Write,
        block_bytes: 4 << 10,
        depth: super::engine::MAX_DEPTH,
    },
    Test { name: "1M sequential read", rw: "read", direction: DataDirection::Read, block_bytes: 1 << 20, depth: 64 },
    Test {
        name: "4K random read",
        rw: "randread",
        direction: DataDirection::Read,
        block_bytes: 4 << 10,
        depth: super::engine::MAX_DEPTH,
    },
];

/// Runs a test on the file.
///
/// # Errors
/// The job failed, or a signal ended it.
pub(super) fn measure(
    test: &Test,
    load: Load,
    conditions: &Conditions,
    file: &TargetFile,
    progress: &mut Progress,
) -> Result<Figures> {
    progress.step(test.name, conditions.ramp_ms + conditions.runtime_ms);
    let spec = run_spec(test, load, conditions, file)?;
    let settings = RunSettings {
        version: VERSION.to_owned(),
        readonly: false,
        trace: TraceSettings::default(),
        eta: EtaSettings { enabled: true, interval_ms: LOOK_INTERVAL_MS },
        open_logs: || Box::new(LogFiles::new()),
        control: ControlSettings::default(),
        command_line: Vec::new(),
        record_interval: None,
    };
    let mut watcher = Watcher { test, progress, started_at: Instant::now(), messages: Vec::new() };
    let outcome = ferrio_run::run(spec, &settings, &mut watcher)?;
    let messages = watcher.messages.join("\n");
    if let Some(signal) = outcome.signal {
        bail!(Interrupted(signal));
    }
    match outcome.result.jobs.first() {
        Some(job) if outcome.n_failed == 0 => Ok(Figures::new(test, load, job, &outcome.result, conditions)),
        _ => bail!("{} failed:\n{messages}", test.name),
    }
}

/// The test as a run.
fn run_spec(test: &Test, load: Load, conditions: &Conditions, file: &TargetFile) -> Result<RunSpec> {
    let arguments: Vec<OsString> = job_arguments(test, load, conditions).into_iter().map(OsString::from).collect();
    let parsed = ferrio_job::parse(&arguments, &SystemEnvironment::new(VERSION));
    let mut spec = parsed.map_err(|error| anyhow!("{} cannot be run here: {error}", test.name))?.run;
    for job in &mut spec.jobs {
        // Not as options: those take colons apart, and paths that are not UTF-8 have no option text.
        job.target.directories = vec![file.directory().to_owned()];
        job.target.filenames = vec![byte_text::from_bytes(file.name().as_bytes())];
    }
    Ok(spec)
}

/// The test as arguments of fio, but for its file.
fn job_arguments(test: &Test, load: Load, conditions: &Conditions) -> Vec<String> {
    // Each job has its share of the file, so that sequential ones do not follow in each other's tracks.
    let n_jobs = u64::from(load.n_jobs);
    let share_bytes = conditions.file_bytes / n_jobs / test.block_bytes * test.block_bytes;
    let depth = load.iodepth;
    let mut arguments = vec![
        "ferrio".to_owned(),
        format!("--name={}", test.name),
        format!("--ioengine={}", conditions.engine),
        format!("--rw={}", test.rw),
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
        // The file is there and whole. Were it gone, a new one in its place would be an error, not a result.
        "--allow_file_create=0".to_owned(),
        "--fallocate=none".to_owned(),
    ];
    arguments.extend(conditions.engine_options.iter().map(|option| format!("--{option}")));
    if !conditions.has_queue {
        arguments.push("--thread".to_owned());
    }
    arguments
}

/// Moves the bar, and keeps what the run says in case that it fails.
struct Watcher<'a> {
    test: &'a Test,
    progress: &'a mut Progress,
    started_at: Instant,
    messages: Vec<String>,
}

impl RunObserver for Watcher<'_> {
    fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Eta(snapshot) => {
                let elapsed_ms = self.started_at.elapsed().as_millis() as u64;
                self.progress.set(elapsed_ms, &rates(&snapshot, self.test.direction));
            }
            RunEvent::Message(_, text) => self.messages.push(text.trim().to_owned()),
            // Nothing else is told of such a run that a person wants to see.
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
    use super::super::conditions::tests::on_disk;
    use super::*;
    use ferrio_job::spec::DirectionMix;

    fn spec_of(test: &Test, load: Load, conditions: &Conditions) -> RunSpec {
        let arguments: Vec<OsString> = job_arguments(test, load, conditions).into_iter().map(OsString::from).collect();
        ferrio_job::parse(&arguments, &SystemEnvironment::new(VERSION)).unwrap().run
    }

    #[test]
    fn tests_are_one_timed_job_each() {
        let conditions = on_disk();
        for (test, load) in TESTS.iter().zip(&conditions.loads) {
            let spec = spec_of(test, *load, &conditions);
            let [job] = &spec.jobs[..] else { panic!("{} jobs", spec.jobs.len()) };
            let is_write = test.direction == DataDirection::Write;
            assert_eq!(job.pattern.mix == DirectionMix::Write, is_write, "{}", test.name);
            assert_eq!(job.pattern.random, test.name.contains("random"));
            assert_eq!(job.pattern.block_size[test.direction].max_bytes, test.block_bytes);
            assert_eq!((job.numjobs, job.queue.iodepth), (1, test.depth));
            assert!(
                job.engine.name == "io_uring" && job.engine.options.iter().any(|(name, _)| name == "registerfiles")
            );
            assert!(job.durability.direct && job.limits.time_based && !job.target.allow_file_create);
            assert_eq!((job.limits.runtime_us, job.limits.ramp_time_us), (5_000_000, 1_000_000));
            assert_eq!(job.extent.size, Some(ferrio_job::spec::SizeSpec::Bytes(4 << 30)));
        }
    }

    #[test]
    fn threads_share_the_file_without_overlap() {
        let mut conditions = on_disk();
        (conditions.engine, conditions.has_queue) = ("psync", false);
        conditions.engine_options.clear();
        conditions.file_bytes = 100 << 20;
        let spec = spec_of(&TESTS[0], Load { n_jobs: 64, iodepth: 1 }, &conditions);
        let job = &spec.jobs[0];
        assert!(job.worker.thread && job.grouping.group_reporting);
        // 100 MiB / 64 = 1.56 MiB: one block each.
        let share = ferrio_job::spec::SizeSpec::Bytes(1 << 20);
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
