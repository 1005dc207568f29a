//! Jobs without a parser, and the short ways of running them.
//!
//! Must not know: what is tested. Start reading at [`job`] and [`simulate`].

use crate::memory_logs::MemoryLogs;
use ferrio_job::draft::Draft;
use ferrio_job::spec::{EngineValue, JobSpec, QueueSpec, RunSpec, SizeSpec};
use ferrio_run::{ControlSettings, EtaSettings, RunEvent, RunObserver, RunOutcome, RunSettings, Stream};
use ferrio_stats::{DirectionStats, ThreadStats};
use ferrio_units::DataDirection;

/// Bytes of a block where a test says nothing else.
pub(crate) const BLOCK: u64 = 4096;
/// Nanoseconds in a microsecond.
pub(crate) const US: u64 = 1_000;
/// Nanoseconds in a millisecond.
pub(crate) const MS: u64 = 1_000_000;

/// A job with the defaults of the option table.
pub(crate) fn job(name: &str) -> JobSpec {
    JobSpec { name: name.to_owned(), ..Draft::new().job }
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
    set_text(&mut job, "sim_service", service);
    job
}

/// Sets an engine option that is a text.
pub(crate) fn set_text(job: &mut JobSpec, name: &str, value: &str) {
    job.engine.options.push((name.to_owned(), EngineValue::Text(value.to_owned())));
}

/// Sets `iodepth`, with the batches that follow from it.
pub(crate) fn set_depth(job: &mut JobSpec, iodepth: u32) {
    job.queue = QueueSpec { iodepth, batch_submit: 1, batch_complete_min: 1, batch_complete_max: 1, low: iodepth };
}

/// Everything that a run told.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) messages: Vec<(Stream, String)>,
    pub(crate) n_layouts: u32,
}

impl RunObserver for Events {
    fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Message(stream, text) => self.messages.push((stream, text)),
            RunEvent::LayingOut { .. } => self.n_layouts += 1,
            _ => {}
        }
    }
}

impl Events {
    /// The messages of a stream, one below the other.
    pub(crate) fn text(&self, stream: Stream) -> String {
        let texts = self.messages.iter().filter(|(other, _)| *other == stream).map(|(_, text)| text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }
}

pub(crate) fn spec(jobs: Vec<JobSpec>) -> RunSpec {
    RunSpec { global_options: Vec::new(), jobs }
}

pub(crate) fn settings() -> RunSettings {
    RunSettings {
        version: "test".to_owned(),
        readonly: false,
        trace: ferrio_run::TraceSettings::default(),
        eta: EtaSettings { enabled: false, interval_ms: 1_000 },
        open_logs: || Box::<MemoryLogs>::default() as _,
        control: ControlSettings::default(),
        command_line: vec!["test".to_owned()],
        record_interval: None,
    }
}

/// Runs jobs on virtual time.
pub(crate) fn simulate(jobs: Vec<JobSpec>) -> (RunOutcome, Events) {
    let mut events = Events::default();
    let outcome = ferrio_run::simulate(spec(jobs), &settings(), &mut events).unwrap();
    (outcome, events)
}

/// The figures of one job on virtual time, which does not fail.
pub(crate) fn simulate_one(job: JobSpec) -> ThreadStats {
    let (mut outcome, events) = simulate(vec![job]);
    assert_eq!((outcome.n_failed, events.text(Stream::Error)), (0, String::new()));
    assert_eq!(outcome.result.jobs.len(), 1);
    outcome.result.jobs.remove(0).stats
}

/// Runs jobs on virtual time, and tells somebody of its intervals.
pub(crate) fn simulate_with_intervals(
    jobs: Vec<JobSpec>,
    interval: std::time::Duration,
    observer: &mut dyn RunObserver,
) -> RunOutcome {
    let settings = RunSettings { record_interval: Some(interval), ..settings() };
    ferrio_run::simulate(spec(jobs), &settings, observer).unwrap()
}

/// Runs jobs as processes and threads, and tells somebody of its intervals.
pub(crate) fn run_with_intervals(
    jobs: Vec<JobSpec>,
    interval: std::time::Duration,
    observer: &mut dyn RunObserver,
) -> RunOutcome {
    let settings = RunSettings { record_interval: Some(interval), ..settings() };
    ferrio_run::run(spec(jobs), &settings, observer).unwrap()
}

/// Runs jobs as processes and threads.
pub(crate) fn run(jobs: Vec<JobSpec>) -> (RunOutcome, Events) {
    let mut events = Events::default();
    let outcome = run_with(jobs, &mut events);
    // A signal for the group of this process (a time limit, an interrupt) ends runs early: a test that fails then says so.
    assert_eq!(outcome.signal, None, "a signal from outside ended this run");
    (outcome, events)
}

/// Runs jobs as processes and threads, and tells somebody.
pub(crate) fn run_with(jobs: Vec<JobSpec>, observer: &mut dyn RunObserver) -> RunOutcome {
    ferrio_run::run(spec(jobs), &settings(), observer).unwrap()
}

/// Runs jobs as processes and threads, with something that looks in or ends them.
pub(crate) fn run_under(control: ControlSettings, jobs: Vec<JobSpec>, observer: &mut dyn RunObserver) -> RunOutcome {
    ferrio_run::run(spec(jobs), &RunSettings { control, ..settings() }, observer).unwrap()
}

/// The reads.
pub(crate) fn reads(stats: &ThreadStats) -> &DirectionStats {
    &stats.directions[DataDirection::Read]
}

/// The writes.
pub(crate) fn writes(stats: &ThreadStats) -> &DirectionStats {
    &stats.directions[DataDirection::Write]
}
