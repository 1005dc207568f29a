//! From the figures of all workers to the result of the run.
//!
//! Must not know: how it is shown. Start reading at [`result`].

use super::record::Record;
use super::{RunOutcome, RunSettings, eta};
use crate::error::job_error;
use crate::events::{RunEvent, RunObserver, Stream};
use crate::files::guard::DeviceInUse;
use crate::plan::{RunPlan, WorkerPlan};
use crate::worker::WorkerOutcome;
use ferrio_job::spec::UnifiedReporting;
use ferrio_stats::{
    CpuIdleness, DiskReport, GroupReport, JobReport, Messages, PriorityStat, PriorityStats, ReportSettings, RunResult,
    ThreadStats,
};
use std::time::Duration;

/// `eta` of a report when it is not known how long the run takes.
const ETA_UNKNOWN: u64 = 2_147_483_647;

const EBUSY: i32 = 16;

/// The run as a whole at the time of a report.
pub(super) struct Moment {
    /// Time since its start.
    pub(super) elapsed: Duration,
    /// Seconds left, if that is known.
    pub(super) eta_secs: Option<u64>,
    /// What the devices did; `None`: nobody wants to know.
    pub(super) disks: Option<Vec<DiskReport>>,
    /// How idle the CPUs were; `None`: nobody wants to know.
    pub(super) idleness: Option<CpuIdleness>,
}

/// The result as it is now.
pub(super) fn result(plan: &RunPlan, settings: &RunSettings, records: &[Record], moment: &Moment) -> RunResult {
    let jobs = job_reports(plan, records);
    let elapsed_secs = eta::whole_seconds(moment.elapsed);
    RunResult {
        version: settings.version.clone(),
        timestamp_ms: ferrio_sys::clock::wall_clock_ms(),
        elapsed_secs,
        eta_secs: moment.eta_secs.filter(|_| elapsed_secs >= eta::FIRST_ESTIMATE_SECS).unwrap_or(ETA_UNKNOWN),
        global_options: plan.global_options.clone(),
        groups: group_reports(plan, &jobs),
        jobs,
        disks: moment.disks.clone(),
        idleness: moment.idleness.clone(),
        messages: Messages::default(),
        provenance: Some(plan.facts.with_jobs(plan)),
    }
}

/// The result of a run that could not begin: no jobs.
pub fn without_jobs(version: String, global_options: Vec<(String, String)>) -> RunResult {
    RunResult {
        version,
        timestamp_ms: ferrio_sys::clock::wall_clock_ms(),
        elapsed_secs: 0,
        eta_secs: ETA_UNKNOWN,
        global_options,
        jobs: Vec::new(),
        groups: Vec::new(),
        disks: None,
        idleness: None,
        messages: Messages::default(),
        provenance: None,
    }
}

/// The outcome of a run that must not begin: no job has done anything, one of them has failed.
pub(super) fn refused(
    plan: &RunPlan,
    settings: &RunSettings,
    refusal: &DeviceInUse,
    observer: &mut dyn RunObserver,
) -> RunOutcome {
    observer.event(RunEvent::Message(Stream::Error, refusal.message.clone()));
    let failed = |index| {
        let failure = (index == refusal.worker_index).then(|| job_error!(EBUSY, "check of devices"));
        let outcome = failure.map(|error| Box::new(WorkerOutcome::new(Box::default(), Some(error), false)));
        Record { outcome, ..Record::default() }
    };
    let records: Vec<Record> = (0..plan.workers.len()).map(failed).collect();
    let moment = Moment { elapsed: Duration::ZERO, eta_secs: None, disks: None, idleness: None };
    let result = result(plan, settings, &records, &moment);
    RunOutcome { result, n_failed: 1, signal: None, n_logs_lost: 0 }
}

/// The groups. Jobs that are reported as one count as one for the slowest and the fastest of a group.
fn group_reports(plan: &RunPlan, jobs: &[JobReport]) -> Vec<GroupReport> {
    let first_of = |group: u32| plan.workers.iter().find(|worker| worker.group_index == group);
    let empty =
        |group| first_of(group).map_or_else(GroupReport::default, |worker| GroupReport::new(&report_settings(worker)));
    let mut groups: Vec<GroupReport> = (0..plan.n_groups).map(empty).collect();
    for job in jobs {
        groups[job.group_index as usize].add_member(&job.stats);
    }
    groups
}

fn job_reports(plan: &RunPlan, records: &[Record]) -> Vec<JobReport> {
    let tells_priorities = tells_priorities(plan);
    let mut jobs: Vec<JobReport> = Vec::new();
    for (worker, record) in plan.workers.iter().zip(records) {
        if !worker.spec.reporting.stats {
            continue;
        }
        let mut stats = record.stats_now();
        if tells_priorities {
            tell_priority(worker, &mut stats);
        }
        finish_stats(worker, record, &mut stats);
        // Also to a job that does not ask for it itself.
        let joins = worker.spec.grouping.group_reporting;
        match jobs.last_mut() {
            Some(report) if joins && report.group_index == worker.group_index => {
                report.add_member(&stats, &worker.spec.given_options);
            }
            _ => jobs.push(job_report(worker, record, report_settings(worker), stats)),
        }
    }
    jobs
}

/// Jobs or I/Os differ in their priorities.
fn tells_priorities(plan: &RunPlan) -> bool {
    let first = plan.workers.first().map(WorkerPlan::ioprio);
    let differs = |worker: &WorkerPlan| Some(worker.ioprio()) != first;
    plan.workers.iter().any(|worker| differs(worker) || !worker.spec.engine.command_priority.is_empty())
}

/// All I/Os of a job without priorities of single I/Os have that of the job.
fn tell_priority(worker: &WorkerPlan, stats: &mut ThreadStats) {
    for direction in &mut stats.directions.0 {
        let latency = if worker.spec.reporting.lat_percentiles { &direction.lat } else { &direction.clat };
        if direction.priorities.0.is_empty() && latency.n_samples > 0 {
            let own = PriorityStat { ioprio: worker.ioprio(), latency: latency.clone() };
            direction.priorities = PriorityStats(vec![own]);
        }
    }
}

fn finish_stats(worker: &WorkerPlan, record: &Record, stats: &mut ThreadStats) {
    // A job that never ran had no depth.
    if stats.latency_depth == 0 && record.let_go_at.is_some() {
        stats.latency_depth = worker.spec.queue.iodepth;
    }
    if worker.spec.reporting.unified == UnifiedReporting::Mixed {
        stats.unify();
    }
}

fn job_report(worker: &WorkerPlan, record: &Record, settings: ReportSettings, stats: ThreadStats) -> JobReport {
    JobReport {
        name: worker.spec.name.clone(),
        description: worker.spec.description.clone(),
        group_index: worker.group_index,
        n_members: 1,
        pid: record.pid,
        given_options: worker.spec.given_options.clone(),
        settings,
        stats,
        steady_state: record.steady_state().cloned(),
    }
}

fn report_settings(worker: &WorkerPlan) -> ReportSettings {
    let reporting = &worker.spec.reporting;
    let errors = &worker.spec.errors;
    let continues = errors.continue_on.read || errors.continue_on.write || errors.continue_on.verify;
    ReportSettings {
        kb_base: reporting.kb_base,
        unit_bits: reporting.unit_bits,
        significant_figures: reporting.significant_figures,
        percentiles: reporting.percentiles.clone(),
        percentile_digits: reporting.percentile_digits,
        clat_percentiles: reporting.clat_percentiles && !reporting.disable_clat,
        lat_percentiles: reporting.lat_percentiles && !reporting.gtod_reduce,
        slat_percentiles: reporting.slat_percentiles,
        unified_mixed: reporting.unified == UnifiedReporting::Mixed,
        unified_both: reporting.unified == UnifiedReporting::Both,
        show_errors: continues || errors.ignore.iter().any(Option::is_some),
    }
}
