//! Jobs without a parser, and short functions to run them.
//!
//! Must not know: what is tested. Start reading at [`job`] and [`simulate`].

use crate::memory_logs::MemoryLogs;
use ferrio_run::{LogOpener, MessageStream, Run, RunEvent, RunObserver, RunOutcome, RunSettings};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{Compatibility, ControlSettings, JobSpec, QueueSpec, RunSpec, SizeSpec};
use ferrio_stats::{DirectionStats, ThreadStats};
use ferrio_units::DataDirection;

/// Length of a block, unless a test sets another one.
pub(crate) const BLOCK: u64 = 4096;
/// Nanoseconds in a microsecond.
pub(crate) const US: u64 = 1_000;
/// Nanoseconds in a millisecond.
pub(crate) const MS: u64 = 1_000_000;

/// A job with the defaults of the option table.
pub(crate) fn job(name: &str) -> JobSpec {
    JobSpec { name: name.to_owned(), section: name.to_owned(), ..JobSpec::default() }
}

/// A reader of `n_blocks` blocks of [`BLOCK`] on an engine.
pub(crate) fn reader(name: &str, engine: &str, n_blocks: u64) -> JobSpec {
    let mut job = job(name);
    engine.clone_into(&mut job.engine.name);
    job.extent.size = Some(SizeSpec::Bytes(n_blocks * BLOCK));
    job
}

/// A reader on the simulated device with this `sim_service`.
pub(crate) fn sim_reader(name: &str, service: &str, n_blocks: u64) -> JobSpec {
    let mut job = reader(name, "sim", n_blocks);
    job.engine.options.set(&sim::SERVICE, service);
    job
}

/// Sets `iodepth`, and the batches that follow from it.
pub(crate) fn set_depth(job: &mut JobSpec, iodepth: u32) {
    job.queue = QueueSpec { iodepth, batch_submit: 1, batch_complete_min: 1, batch_complete_max: 1, low: iodepth };
}

/// All events of a run.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) messages: Vec<(MessageStream, String)>,
    pub(crate) n_layouts: u32,
    pub(crate) n_stops: u32,
}

impl RunObserver for Events {
    fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Message(stream, note) => self.messages.push((stream, ferrio_formats::words::note(&note))),
            RunEvent::LayingOut { .. } => self.n_layouts += 1,
            RunEvent::Stopping => self.n_stops += 1,
            _ => {}
        }
    }
}

impl Events {
    /// Number of error messages.
    pub(crate) fn n_errors(&self) -> usize {
        self.messages.iter().filter(|(stream, _)| *stream == MessageStream::Error).count()
    }

    /// The messages of a stream, one on each line.
    pub(crate) fn text(&self, stream: MessageStream) -> String {
        let texts = self.messages.iter().filter(|(other, _)| *other == stream).map(|(_, text)| text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }
}

pub(crate) fn spec(jobs: Vec<JobSpec>) -> RunSpec {
    RunSpec { global_options: Vec::new(), jobs, compatibility: Compatibility::Fio, ..RunSpec::default() }
}

pub(crate) fn settings() -> RunSettings {
    RunSettings {
        version: "test".to_owned(),
        open_logs: LogOpener::new(|_| Box::<MemoryLogs>::default()),
        command_line: vec!["test".to_owned()],
        ..RunSettings::default()
    }
}

/// Settings of a run on virtual time.
pub(crate) fn virtual_settings() -> RunSettings {
    RunSettings { is_virtual: true, ..settings() }
}

/// A whole run.
pub(crate) fn go(jobs: Vec<JobSpec>, settings: RunSettings, observer: &mut dyn RunObserver) -> RunOutcome {
    Run::new(spec(jobs), settings).unwrap().go(observer).unwrap()
}

/// Runs jobs on virtual time.
pub(crate) fn simulate(jobs: Vec<JobSpec>) -> (RunOutcome, Events) {
    let mut events = Events::default();
    let outcome = go(jobs, virtual_settings(), &mut events);
    (outcome, events)
}

/// The figures of the first block of fio's report: members of a group are summed, and directions are unified if the job
/// asks for it.
pub(crate) fn first_block(outcome: &RunOutcome) -> ThreadStats {
    ferrio_formats::fio_view(&outcome.record).jobs.remove(0).stats.into_owned()
}

/// The failure of its first block in fio's report.
pub(crate) fn failure_text(outcome: &RunOutcome) -> String {
    ferrio_formats::fio_view(&outcome.record).jobs.remove(0).failure_text
}

/// Runs one job on virtual time, and checks that it does not fail; its figures.
pub(crate) fn simulate_one(job: JobSpec) -> ThreadStats {
    let (mut outcome, events) = simulate(vec![job]);
    assert_eq!((outcome.n_failed, events.text(MessageStream::Error)), (0, String::new()));
    assert_eq!(outcome.record.workers.len(), 1);
    *outcome.record.workers.remove(0).stats
}

/// Runs jobs on virtual time, with an observer of its intervals.
pub(crate) fn simulate_with_intervals(
    jobs: Vec<JobSpec>,
    interval: std::time::Duration,
    observer: &mut dyn RunObserver,
) -> RunOutcome {
    go(jobs, RunSettings { record_interval: Some(interval), ..virtual_settings() }, observer)
}

/// Runs jobs as processes and threads, with an observer of its intervals.
pub(crate) fn run_with_intervals(
    jobs: Vec<JobSpec>,
    interval: std::time::Duration,
    observer: &mut dyn RunObserver,
) -> RunOutcome {
    go(jobs, RunSettings { record_interval: Some(interval), ..settings() }, observer)
}

/// Runs jobs as processes and threads.
pub(crate) fn run(jobs: Vec<JobSpec>) -> (RunOutcome, Events) {
    let mut events = Events::default();
    let outcome = run_with(jobs, &mut events);
    assert!(!outcome.is_stopped, "nobody can have stopped this run");
    (outcome, events)
}

/// Runs jobs as processes and threads, with an observer.
pub(crate) fn run_with(jobs: Vec<JobSpec>, observer: &mut dyn RunObserver) -> RunOutcome {
    go(jobs, settings(), observer)
}

/// Runs jobs as processes and threads, with settings for reports and triggers.
pub(crate) fn run_under(control: ControlSettings, jobs: Vec<JobSpec>, observer: &mut dyn RunObserver) -> RunOutcome {
    go(jobs, RunSettings { control, ..settings() }, observer)
}

/// The figures of the reads.
pub(crate) fn reads(stats: &ThreadStats) -> &DirectionStats {
    &stats.directions[DataDirection::Read]
}

/// The figures of the writes.
pub(crate) fn writes(stats: &ThreadStats) -> &DirectionStats {
    &stats.directions[DataDirection::Write]
}
