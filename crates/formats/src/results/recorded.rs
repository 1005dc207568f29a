//! Records of ferrio (`--record`), and the record of a run that has just ended.
//!
//! Must not know: how a record is stored. Start reading at [`of_record`].

mod course;

use crate::json::steady_texts;
use crate::record_file;
use crate::results::error::{ReadError, ReadErrorKind};
use crate::results::{
    CpuFigures, DiskFigures, HostResult, JobResult, ReportGaps, ResultFile, RunResult, Shares, SteadyOutcome,
};
use ferrio_stats::{DiskRecord, HostPart, JobFigures, JobSeries, RunRecord, ThreadStats, WorkerRecord};

/// Bytes of a sector in a disk's counters.
const SECTOR_BYTES: u64 = 512;
const NS_PER_MS: u64 = 1_000_000;
/// The depths of the classes, as fio writes them.
const DEPTH_LABELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

pub(crate) fn read(file: &ResultFile, max_bytes: u64) -> Result<RunResult, ReadError> {
    let bytes = file.whole(max_bytes)?;
    let record =
        record_file::decode(&bytes).map_err(|error| ReadErrorKind::Record(error.to_string()).of(file.path()))?;
    let mut result = of_record(&record);
    result.name = file.name();
    Ok(result)
}

/// The result of a record: each job with its clones is one.
pub fn of_record(record: &RunRecord) -> RunResult {
    let jobs = record.workers.chunk_by(|worker, next| worker.job_index == next.job_index);
    RunResult {
        name: "this run".to_owned(),
        program: record
            .provenance
            .as_ref()
            .map_or_else(|| record.version.clone(), |provenance| format!("ferrio {}", provenance.ferrio_version)),
        number: 0,
        timestamp_ms: Some(record.timestamp_ms),
        start_ms: Some(run_start_ms(record)),
        global_options: record.global_options.clone(),
        jobs: jobs.filter_map(|clones| job(clones, &record.series, run_start_ms(record))).collect(),
        disks: record.disks().unwrap_or_default().iter().map(disk_figures).collect(),
        audit: record.audit.clone(),
        precision: record.precision.clone().unwrap_or_default(),
        steady: record.workers.iter().filter_map(steady).collect(),
        provenance: record.provenance.clone(),
        remarks: Vec::new(),
        hosts: record.hosts().iter().map(|host| of_host(record, host)).collect(),
        gaps: ReportGaps::default(),
    }
}

fn of_host(record: &RunRecord, host: &HostPart) -> HostResult {
    let result = RunResult { name: host.name.clone(), ..of_record(&record.of_host(host)) };
    HostResult { name: host.name.clone(), start_ns: host.start_ns, lost: host.lost.clone(), result }
}

/// The search for a steady state that a worker leads.
fn steady(worker: &WorkerRecord) -> Option<SteadyOutcome> {
    let state = worker.steady_state()?;
    Some(SteadyOutcome::of_texts(&worker.name, &steady_texts(state), state.duration_secs, state.is_attained))
}

/// Wall clock time of the start of the run, milliseconds since 1970.
fn run_start_ms(record: &RunRecord) -> u64 {
    record.timestamp_ms.saturating_sub(record.elapsed_ns / NS_PER_MS)
}

fn job(clones: &[WorkerRecord], series: &[JobSeries], run_start_ms: u64) -> Option<JobResult> {
    let (first, others) = clones.split_first()?;
    let mut total = ThreadStats::clone(&first.stats);
    for clone in others {
        total.merge(&clone.stats);
    }
    let figures = JobFigures::of(clones);
    let failure = clones.iter().find_map(|clone| clone.fate.failure.as_ref());
    let series = series.iter().find(|series| series.job_index == first.job_index);
    let reach_ns = reach_ns(clones, run_start_ms);
    let series = series.map(|series| course::time_series(series, clones.len(), &total, reach_ns)).unwrap_or_default();
    let measured_ns = series.iter().filter_map(|series| series.intervals.reach_ns());
    let measured_ns = measured_ns.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    Some(JobResult {
        name: first.name.clone(),
        description: first.description.clone().unwrap_or_default(),
        group_index: first.group_index,
        error: failure.map_or(0, |failure| failure.errno),
        reach_ns: measured_ns.or(reach_ns),
        options: first.given_options.clone(),
        clones: if others.is_empty() {
            Vec::new()
        } else {
            clones.iter().filter_map(|one| alone(one, run_start_ms)).collect()
        },
        directions: figures.directions,
        syncs: figures.syncs,
        n_errors: figures.errors.n_total,
        cpu: Some(cpu(&total)),
        depths: depths(&total),
        // Records have whole distributions.
        latency_classes: Vec::new(),
        series,
        n_members: u32::try_from(clones.len()).ok(),
    })
}

/// A clone by itself. Its percentiles are computed; thousands of distributions would take too much memory.
fn alone(clone: &WorkerRecord, run_start_ms: u64) -> Option<JobResult> {
    let mut alone = job(std::slice::from_ref(clone), &[], run_start_ms)?;
    let directions = alone.directions.0.iter_mut().flatten();
    for figures in directions.chain(&mut alone.syncs) {
        let latencies = [&mut figures.slat, &mut figures.clat, &mut figures.lat, &mut figures.response];
        for latency in latencies.into_iter().flatten() {
            latency.bins = Vec::new();
        }
    }
    Some(alone)
}

/// Start and end of the I/O of some clones on the clock of the run, as their wall clock tells it; `None`: they did none.
fn reach_ns(clones: &[WorkerRecord], run_start_ms: u64) -> Option<(u64, u64)> {
    let of_clone = |clone: &WorkerRecord| {
        let runtime_ns = clone.stats.directions.iter().map(|(_, direction)| direction.runtime_ns).max()?;
        let start_ns = clone.stats.job_start_ms.checked_sub(run_start_ms)?.saturating_mul(NS_PER_MS);
        (runtime_ns > 0).then_some((start_ns, start_ns.saturating_add(runtime_ns)))
    };
    let reaches = clones.iter().filter_map(of_clone);
    reaches.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

fn cpu(total: &ThreadStats) -> CpuFigures {
    let runtime_ns = total.total_runtime_ns.max(1) as f64;
    CpuFigures {
        user_percent: 100.0 * total.usage.user_ns as f64 / runtime_ns,
        system_percent: 100.0 * total.usage.system_ns as f64 / runtime_ns,
        n_switches: total.usage.context_switches,
        n_major_faults: total.usage.major_faults,
        n_minor_faults: total.usage.minor_faults,
    }
}

/// Shares of the I/Os by the depth at their submission.
fn depths(total: &ThreadStats) -> Shares {
    let n_ios = total.depth.0.iter().fold(0_u64, |sum, count| sum.saturating_add(*count)).max(1) as f64;
    let share = |(label, count): (&str, &u64)| (label.to_owned(), 100.0 * *count as f64 / n_ios);
    DEPTH_LABELS.into_iter().zip(&total.depth.0).map(share).collect()
}

fn disk_figures(disk: &DiskRecord) -> DiskFigures {
    let counters = &disk.counters;
    DiskFigures {
        name: disk.name.clone(),
        n_reads: counters.ios[0],
        n_writes: counters.ios[1],
        merged_reads: counters.merges[0],
        merged_writes: counters.merges[1],
        read_bytes: Some(counters.sectors[0].saturating_mul(SECTOR_BYTES)),
        written_bytes: Some(counters.sectors[1].saturating_mul(SECTOR_BYTES)),
        busy_percent: counters.util_percent,
    }
}
