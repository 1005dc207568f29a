//! A run from start to end: plan, layout, launch, watch, collect.
//!
//! Must not know: what workers do in their loops, formats.
//! Start reading at [`run`]; launching is in `launch`, the watch in `watch`, the result in `outcome`.

mod agenda;
mod attend;
mod bandwidth;
pub mod board;
mod disks;
mod eta;
pub(crate) mod flow;
mod groups;
mod idle;
mod launch;
mod outcome;
mod prepare;
mod record;
mod simulate;
mod steady;
mod stretches;
mod watch;

use crate::error::RunError;
use crate::events::{JobSummary, RunEvent, RunObserver, Stream};
use crate::files::guard;
use crate::logs::{self, LogDrain};
use crate::plan::RunPlan;
use crate::provenance::Facts;
use crate::replay::merge::merge_traces;
use crate::trace::{self, TraceGroup, TraceSettings};
use agenda::Agenda;
use bandwidth::BandwidthMeter;
use board::Board;
use disks::DiskWatch;
use ferrio_job::spec::RunSpec;
use ferrio_stats::{LogSink, RunResult};
use ferrio_sys::limits::{Resource, raise_limit};
use ferrio_sys::{Clock, signals};
use idle::IdleWatch;
use record::Record;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use stretches::Teller;
use watch::Watch;

pub use agenda::{ControlSettings, Trigger};
pub use idle::{IdleDetail, calibrate_idle};
pub use outcome::without_jobs;
pub use simulate::simulate;

/// How a run is done, apart from its jobs.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// Version string of the outputs.
    pub version: String,
    /// No file may be made or changed.
    pub readonly: bool,
    /// What is traced.
    pub trace: TraceSettings,
    /// When snapshots for the ETA line are taken.
    pub eta: EtaSettings,
    /// Makes the sink that takes the rows of performance logs; called once, and only if a job logs something.
    pub open_logs: fn() -> Box<dyn LogSink>,
    /// What asks for reports while the run goes on.
    pub control: ControlSettings,
    /// The words of the command line, for the record.
    pub command_line: Vec<String>,
    /// Length of the intervals of which the observer is told; `None`: it wants to hear of none.
    pub record_interval: Option<Duration>,
}

/// Snapshots of the running state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EtaSettings {
    /// Take them at all.
    pub enabled: bool,
    /// Time between two, milliseconds.
    pub interval_ms: u64,
}

/// How a run ended.
#[derive(Debug)]
pub struct RunOutcome {
    /// Its figures.
    pub result: RunResult,
    /// Workers that failed.
    pub n_failed: u32,
    /// The signal that ended it early.
    pub signal: Option<i32>,
    /// Performance logs that could not be written to their end.
    pub n_logs_lost: u32,
}

/// Merges the traces of the jobs that want it, and does nothing else (`--merge-blktrace-only`).
pub fn merge_only(mut spec: RunSpec, observer: &mut dyn RunObserver) -> Result<(), RunError> {
    signals::install()?;
    match merge_traces(&mut spec, &mut |line| observer.event(RunEvent::Message(Stream::Error, line)))? {
        0 => {
            Err(RunError::Merge("fio: --merge-blktrace-only: no job has read_iolog and merge_blktrace_file".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Does a run. Events go to the observer as they happen.
pub fn run(mut spec: RunSpec, settings: &RunSettings, observer: &mut dyn RunObserver) -> Result<RunOutcome, RunError> {
    // First: from now on a signal ends in a report.
    signals::install()?;
    merge_traces(&mut spec, &mut |line| observer.event(RunEvent::Message(Stream::Error, line)))?;
    let mut plan = RunPlan::new(spec)?;
    let clock = Clock::new();
    plan.facts = Facts::collect(&plan, settings, &clock);
    let plan = Arc::new(plan);
    let teller = Teller::start(&plan, settings.record_interval, clock.now_ns(), observer);
    if let Some(refusal) = guard::check_devices(&plan.workers)? {
        return Ok(outcome::refused(&plan, settings, &refusal, observer));
    }
    announce(&plan, settings, observer);
    let groups = groups::Made::before(&plan.workers);
    let board = Arc::new(Board::new(plan.workers.len())?.with_locks(&plan.workers)?.with_intervals(teller.times()));
    let mut records = prepare::prepare_workers(&plan, settings, observer);
    steady::enter(&plan, &mut records);
    // What the system grants is enough, or who lacks a descriptor says so.
    raise_limit(Resource::Nofile, n_descriptors(&plan, &records));
    let disks = DiskWatch::start(&plan.workers, &records);
    if settings.trace.has(TraceGroup::DiskUtil, 1) {
        for text in disks.describe() {
            observer.event(RunEvent::Message(Stream::Trace, trace::line(TraceGroup::DiskUtil, &text)));
        }
    }
    let logs = LogDrain::start(&plan.workers, settings.open_logs).map_err(RunError::Logs)?;
    let idle = settings.control.idle.and_then(|detail| start_idle_watch(detail, observer));
    let started_at = std::time::Instant::now();
    let mut watch = Watch {
        plan: &plan,
        board: &board,
        settings,
        clock,
        started_at,
        records: &mut records,
        observer,
        disks: &disks,
        idle: idle.as_ref(),
        logs: logs.as_ref(),
        teller: &teller,
        agenda: Agenda::new(&settings.control, started_at),
        meter: settings.control.samples_bandwidth.then(|| BandwidthMeter::new(&plan.workers, started_at)),
        command: None,
        triggered_at: None,
        asked_at: None,
        signal: None,
        told_at: None,
    };
    let signal = watch.until_all_ended();
    groups.remove();
    let moment = watch.moment(std::time::Instant::now());
    let n_logs_lost = end_logs(logs, observer);
    let result = outcome::result(&plan, settings, &records, &moment);
    let n_failed = records.iter().filter(|record| record.has_failed()).count() as u32;
    Ok(RunOutcome { result, n_failed, signal, n_logs_lost })
}

fn start_idle_watch(detail: IdleDetail, observer: &mut dyn RunObserver) -> Option<IdleWatch> {
    match IdleWatch::start(detail) {
        Ok(watch) => Some(watch),
        Err(error) => {
            let text = format!("fio: how idle the CPUs are is not measured: {error}");
            observer.event(RunEvent::Message(Stream::Error, text));
            None
        }
    }
}

/// Empties and closes the logs; returns how many have lost rows.
fn end_logs(logs: Option<LogDrain>, observer: &mut dyn RunObserver) -> u32 {
    let (problems, n_lost) = logs.map_or_else(Default::default, LogDrain::stop);
    for text in problems {
        observer.event(RunEvent::Message(Stream::Error, text));
    }
    n_lost
}

/// Descriptors that a process of the run may need: two for each worker, the files of the worker that opens most at once,
/// those of all threads that share a table, the logs, and some for the rest.
fn n_descriptors(plan: &RunPlan, records: &[Record]) -> u64 {
    let (mut n_most, mut n_shared, mut n_logs) = (0, 0, 0);
    for (worker, record) in plan.workers.iter().zip(records) {
        let target = &worker.spec.target;
        let n_named = u64::from(target.nrfiles).max(target.filenames.len() as u64);
        let n_files = record.files.as_ref().map_or(n_named, |set| set.files.len() as u64);
        let n_open = if target.openfiles == 0 { n_files } else { n_files.min(target.openfiles.into()) };
        n_most = n_open.max(n_most);
        n_logs += logs::files(worker).len() as u64;
        if worker.spec.worker.thread && worker.engine.needs_shared_descriptors {
            n_shared += n_open;
        }
    }
    plan.workers.len() as u64 * 2 + 512 + n_most + n_shared + n_logs
}

fn announce(plan: &RunPlan, settings: &RunSettings, observer: &mut dyn RunObserver) {
    let mut seen = HashSet::new();
    let firsts = plan.workers.iter().filter(|worker| seen.insert(worker.job_index));
    let jobs = firsts.map(|worker| JobSummary { spec: Arc::clone(&worker.spec), group_index: worker.group_index });
    let jobs: Vec<_> = jobs.collect();
    let n_threads = plan.workers.iter().filter(|worker| worker.spec.worker.thread).count() as u32;
    let n_processes = plan.workers.len() as u32 - n_threads;
    observer.event(RunEvent::Starting { jobs, n_threads, n_processes });
    for worker in plan.workers.iter().filter(|worker| settings.trace.has(TraceGroup::Job, worker.thread_number)) {
        let text = format!("{worker:?}");
        observer.event(RunEvent::Message(Stream::Trace, trace::line(TraceGroup::Job, &text)));
    }
    let overwritten = guard::verified_beside_writers(&plan.workers);
    for worker in plan.workers.iter().filter(|worker| worker.clone_index == 0) {
        if worker.engine.synchronous && worker.spec.queue.iodepth > 1 {
            let note =
                "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1";
            observer.event(RunEvent::Message(Stream::Info, note.to_owned()));
        }
        let reads_back =
            worker.spec.verify.as_ref().is_some_and(|verify| verify.reads_back && verify.backlog.is_none());
        if reads_back && worker.spec.limits.time_based {
            let note = "fio: verification read phase will never start because write phase uses all of runtime";
            observer.event(RunEvent::Message(Stream::Info, note.to_owned()));
        }
        if overwritten.contains(&worker.job_index) {
            let note = "fio: multiple writers may overwrite blocks that belong to other jobs. This can cause \
                        verification failures.";
            observer.event(RunEvent::Message(Stream::Info, note.to_owned()));
        }
    }
}
