//! Turns the figures of all workers into the record of the run.
//!
//! Must not know: formats. Start reading at [`last`].

use super::interruptible::Stuck;
use super::record::{SupervisedWorker, setup_failed};
use super::requests::{Requests, URGENT_LIMIT};
use super::steady_group::Steady;
use super::{RunOutcome, RunSettings};
use crate::error::{Failure, failure};
use crate::events::{MessageStream, RunEvent, RunObserver};
use crate::files::guard::DeviceInUse;
use crate::link::message::WorkerOutcome;
use crate::plan::{RunPlan, WorkerPlan};
use crate::probed::{probed, provenance};
use ferrio_spec::UnifiedReporting;
use ferrio_stats::note::{During, RunNote, SystemError};
use ferrio_stats::{
    Evidence, LaidOver, Note, ReportSettings, RunRecord, SteadyPart, ThreadStats, WorkerFate, WorkerPriority,
    WorkerRecord,
};
use ferrio_sys::errno::{EAGAIN, EBUSY, EINTR};
use std::io;
use std::time::{Duration, Instant};

/// The run as a whole at the time of a report.
pub(super) struct Moment {
    pub(super) now: Instant,
    /// Time since the start of the run.
    pub(super) elapsed: Duration,
    /// Estimated seconds left, if known.
    pub(super) eta_secs: Option<u64>,
    /// Figures of the probes.
    pub(super) evidence: Evidence,
}

/// The record of the running state.
pub(super) fn snapshot(
    plan: &RunPlan,
    settings: &RunSettings,
    records: &[SupervisedWorker],
    moment: &Moment,
) -> RunRecord {
    let workers = plan.workers.iter().zip(records);
    let workers =
        workers.map(|(worker, record)| worker_record(worker, record, Box::new(record.stats_now(moment.now)))).collect();
    let mut record = run_record(plan, settings, workers, moment);
    record.evidence.laid_over = laid_over(records);
    record
}

/// The record at the end. The figures of the workers are moved into it.
pub(super) fn last(
    plan: &RunPlan,
    settings: &RunSettings,
    mut records: Vec<SupervisedWorker>,
    moment: &Moment,
) -> RunRecord {
    let laid_over = laid_over(&records);
    let workers = plan.workers.iter().zip(&mut records);
    let workers = workers.map(|(worker, record)| {
        let stats = record.take_stats(moment.now);
        worker_record(worker, record, stats)
    });
    let mut record = run_record(plan, settings, workers.collect(), moment);
    record.evidence.laid_over = laid_over;
    if !settings.control.skips_evidence {
        let workers = probed(&plan.workers);
        record.evidence.memory_copy = crate::evidence::memory_copy(&workers, &record.workers);
        record.evidence.read_samples = crate::evidence::read_samples(&workers, &settings.control, &record.workers);
    }
    record
}

fn laid_over(records: &[SupervisedWorker]) -> Vec<LaidOver> {
    records.iter().flat_map(|record| record.laid_over.clone()).collect()
}

fn run_record(plan: &RunPlan, settings: &RunSettings, workers: Vec<WorkerRecord>, moment: &Moment) -> RunRecord {
    RunRecord {
        version: settings.version.clone(),
        timestamp_ms: ferrio_sys::clock::wall_clock_ms(),
        elapsed_ns: u64::try_from(moment.elapsed.as_nanos()).unwrap_or(u64::MAX),
        eta_secs: moment.eta_secs,
        global_options: plan.global_options.clone(),
        workers,
        evidence: moment.evidence.clone(),
        provenance: (!settings.control.skips_evidence).then(|| provenance(plan)),
        ..RunRecord::default()
    }
}

/// The record of a run that could not begin: no jobs.
pub fn without_jobs(version: String, global_options: Vec<(String, String)>) -> RunRecord {
    let timestamp_ms = ferrio_sys::clock::wall_clock_ms();
    RunRecord { version, timestamp_ms, global_options, ..RunRecord::default() }
}

/// The outcome of a run that is refused: no job has done anything, and one has failed.
pub(super) fn refused(
    plan: &RunPlan,
    settings: &RunSettings,
    refusal: &DeviceInUse,
    observer: &mut dyn RunObserver,
) -> RunOutcome {
    observer.event(RunEvent::Message(MessageStream::Error, refusal.note.clone().into()));
    let failed = |index| {
        let failure = (index == refusal.worker_index).then(|| failure!(EBUSY, "check of devices"));
        let outcome = failure.map(|error| Box::new(WorkerOutcome::new(Box::default(), Some(error), false)));
        SupervisedWorker { outcome, ..SupervisedWorker::default() }
    };
    let records: Vec<SupervisedWorker> = (0..plan.workers.len()).map(failed).collect();
    let moment = Moment { now: Instant::now(), elapsed: Duration::ZERO, eta_secs: None, evidence: Evidence::default() };
    let record = last(plan, settings, records, &moment);
    RunOutcome { record, n_failed: 1, is_stopped: false, n_logs_lost: 0 }
}

/// The outcome of a run that was given up during its preparation.
pub(super) fn given_up(
    plan: &RunPlan,
    settings: &RunSettings,
    mut records: Vec<SupervisedWorker>,
    stuck: &Stuck,
    requests: &Requests,
    observer: &mut dyn RunObserver,
) -> RunOutcome {
    let index = stuck.worker_index.unwrap_or(0);
    if let (Some(worker), Some(record)) = (plan.workers.get(index), records.get_mut(index)) {
        let failure = match &stuck.no_thread {
            None => stuck_error(worker),
            Some(error) => {
                let note = Note::system(During::Job(worker.spec.name.clone()), thread_error(error));
                failure!(error.raw_os_error().unwrap_or(EAGAIN), "start thread").explained(note)
            }
        };
        setup_failed(record, failure, observer);
    }
    let moment = Moment { now: Instant::now(), elapsed: Duration::ZERO, eta_secs: None, evidence: Evidence::default() };
    let record = last(plan, settings, records, &moment);
    RunOutcome { record, n_failed: 1, is_stopped: requests.is_stopped(), n_logs_lost: 0 }
}

fn thread_error(error: &io::Error) -> SystemError {
    let errno = error.raw_os_error().unwrap_or(EAGAIN);
    SystemError::Call { operation: "start thread".into(), target: "of the layout".to_owned(), errno }
}

/// The error of a worker that did not end after the second signal.
pub(super) fn stuck_error(worker: &WorkerPlan) -> Failure {
    let note = RunNote::Stuck { job: worker.spec.name.clone(), limit_secs: URGENT_LIMIT.as_secs() };
    failure!(EINTR, "stuck").explained(note)
}

fn worker_record(worker: &WorkerPlan, record: &SupervisedWorker, mut stats: Box<ThreadStats>) -> WorkerRecord {
    let spec = &worker.spec;
    if record.end.stopped_ns > 0 {
        stats.features.times.get_or_insert_default().stopped_ns = record.end.stopped_ns;
    }
    WorkerRecord {
        name: spec.name.clone(),
        description: spec.description.clone(),
        job_index: worker.job_index as u32,
        clone_index: worker.clone_index,
        number: worker.thread_number,
        group_index: worker.group_index,
        pid: record.pid,
        given_options: spec.given_options.clone(),
        settings: report_settings(worker),
        directions: worker.used_directions(),
        iodepth: spec.queue.iodepth,
        n_laid_out: record.n_laid_out,
        priority: WorkerPriority { ioprio: worker.ioprio(), is_by_io: !spec.engine.command_priority.is_empty() },
        stats,
        steady: record.steady.as_ref().map(|steady| match steady {
            Steady::Leads(group) => SteadyPart::Leads(Box::new(group.state.clone())),
            Steady::Follows(leader) => SteadyPart::Follows(*leader as u32),
        }),
        fate: WorkerFate {
            was_let_go: record.let_go_at.is_some(),
            has_ended: record.has_ended(),
            failure: record.outcome.as_ref().and_then(|outcome| outcome.failure.clone()),
            killed_by: record.end.killed_by,
            is_cut_short: record.end.is_cut_short,
            ended_by: record.end.ended_by.clone(),
        },
    }
}

fn report_settings(worker: &WorkerPlan) -> ReportSettings {
    let reporting = &worker.spec.reporting;
    let errors = &worker.spec.errors;
    let continues = errors.continue_on.read || errors.continue_on.write || errors.continue_on.verify;
    ReportSettings {
        kb_base: reporting.kb_base,
        unit_bits: worker.shows_bits(),
        significant_figures: reporting.significant_figures,
        percentiles: reporting.percentiles.clone(),
        percentile_digits: reporting.percentile_digits,
        clat_percentiles: reporting.clat_percentiles && !reporting.disable_clat,
        lat_percentiles: reporting.lat_percentiles && !reporting.gtod_reduce,
        slat_percentiles: reporting.slat_percentiles,
        unified_mixed: reporting.unified == UnifiedReporting::Mixed,
        unified_both: reporting.unified == UnifiedReporting::Both,
        show_errors: continues || errors.ignore.iter().any(Option::is_some),
        group_reporting: worker.spec.grouping.group_reporting,
        report_total: worker.spec.grouping.report_total,
        drawn_runtime_us: worker.spec.limits.runtime_drawn.map(|_| worker.spec.limits.runtime_us),
        is_reported: reporting.stats,
    }
}
