//! The figures that most readers look for, one row a job and kind of I/O.
//!
//! Must not know: conclusions from the figures, the table. Start reading at [`headlines`].

use super::form::{CpuRow, HeadlineRow, LatencyRow, RateRow};
use crate::view::total;
use ferrio_stats::{
    Figures, IoKind, JobFigures, JobPrecision, LatencyFigures, Metric, Percentile, RunRecord, ServerSteps, WorkerRecord,
};
use serde::{Serialize, Serializer};

/// The headline of one job, with its clones: of one direction, or of its syncs.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    pub job: String,
    pub kind: IoKind,
    pub n_clones: u32,
    pub figures: Figures,
    /// CPU time of the job, in user mode and in the kernel, for each of its I/Os in any direction.
    pub cpu_ns_per_io: f64,
    /// The part of it that the kernel's workers and other threads beside the job's own took.
    pub helper_cpu_ns_per_io: f64,
    /// Errors that the job went on after, in all directions.
    pub n_errors: u64,
    /// The errno that ended the job; 0: none.
    pub error: i32,
    /// Start of the first clone's I/O, milliseconds since 1970; 0: not known.
    pub job_start_ms: u64,
    /// How exact these figures are; `None`: not examined.
    pub precision: Option<JobPrecision>,
    /// Steps by which the job has reached its server; `None`: it has none.
    pub server: Option<Box<ServerSteps>>,
}

impl Headline {
    /// A percentile of the latency (0 to 100); `None`: it was not measured.
    pub fn percentile(&self, percent: f64) -> Option<Percentile> {
        self.figures.latency()?.1.percentile(percent)
    }
}

/// The latency of a row; all is 0 without one.
fn latency_row(latency: Option<&LatencyFigures>) -> LatencyRow {
    let found = Metric::PERCENTILES.map(|metric| metric.percentile(latency?));
    let [median, tail, far_tail] = found.map(|found| found.map(|found| found.latency_ns));
    let doubtful = found.into_iter().flatten().filter(|found| found.is_doubtful);
    LatencyRow {
        n_latencies: Some(latency.map_or(0, |latency| latency.n_samples)),
        mean_ns: latency.map_or(0.0, |latency| latency.mean_ns),
        p50_ns: median,
        p99_ns: tail,
        p999_ns: far_tail,
        max_ns: latency.map_or(0, |latency| latency.max_ns),
        doubtful_percentiles: doubtful.map(|found| found.percent).collect(),
    }
}

impl Serialize for Headline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let figures = &self.figures;
        let row = HeadlineRow {
            job: self.job.clone(),
            direction: self.kind.name().to_owned(),
            n_clones: self.n_clones,
            n_ios: figures.n_ios,
            bytes: figures.bytes,
            runtime_ns: figures.runtime_ns,
            rates: RateRow {
                bytes_per_sec: figures.bytes_per_sec,
                ios_per_sec: figures.ios_per_sec,
                doubtful_rates: figures.has_thin_rates(),
            },
            latency: latency_row(figures.latency().map(|(_, latency)| latency)),
            cpu: CpuRow { cpu_ns_per_io: self.cpu_ns_per_io, helper_cpu_ns_per_io: self.helper_cpu_ns_per_io },
            n_errors: self.n_errors,
            error: self.error,
            job_start_ms: self.job_start_ms,
            response: figures.response.as_ref().map(|response| latency_row(Some(response))),
            precision: self.precision.clone(),
        };
        row.serialize(serializer)
    }
}

/// The headlines of the sum over all groups, of the jobs with `report_total`; none if no job has it.
pub fn totals(record: &RunRecord) -> Vec<Headline> {
    let Some((n_members, stats)) = total::apart(&record.workers) else { return Vec::new() };
    let all = JobFigures::of_stats(&stats);
    let of_kind = |(kind, figures): (IoKind, &Figures)| Headline {
        job: "sum of all groups".to_owned(),
        kind,
        n_clones: u32::try_from(n_members).unwrap_or(u32::MAX),
        figures: figures.clone(),
        cpu_ns_per_io: all.cpu_ns_per_io,
        helper_cpu_ns_per_io: all.helper_cpu_ns_per_io,
        n_errors: all.errors.n_total,
        error: 0,
        job_start_ms: 0,
        precision: None,
        server: None,
    };
    all.active().map(of_kind).collect()
}

/// The headlines of all jobs in their order, of directions with I/O and of syncs.
pub fn headlines(record: &RunRecord) -> Vec<Headline> {
    let jobs = record.workers.chunk_by(|worker, next| worker.job_index == next.job_index);
    let precision = record.precision.as_deref().unwrap_or_default();
    let mut all: Vec<Headline> = Vec::new();
    for clones in jobs {
        let told = told_percents(record, clones);
        let mut of_job = of_job(clones, precision);
        if let Some(told) = &told {
            for headline in &mut of_job {
                headline.figures.keep_percentiles(told);
            }
        }
        all.append(&mut of_job);
    }
    all
}

/// The percentiles that a report of another program has of a job; `None`: the record has distributions.
fn told_percents(record: &RunRecord, clones: &[WorkerRecord]) -> Option<Vec<f64>> {
    let rows = &record.evidence.reported.as_ref()?.rows;
    let of_clone = |clone: &WorkerRecord| rows.iter().find(|row| row.worker_number == clone.number)?.percents.clone();
    clones.iter().find_map(of_clone)
}

fn of_job(clones: &[WorkerRecord], precision: &[JobPrecision]) -> Vec<Headline> {
    let Some(first) = clones.first() else { return Vec::new() };
    let all = JobFigures::of(clones);
    let starts_ms = clones.iter().map(|clone| clone.stats.job_start_ms).filter(|start_ms| *start_ms > 0);
    let job_start_ms = starts_ms.min().unwrap_or_default();
    let failure = clones.iter().find_map(|clone| clone.fate.failure.as_ref());
    let mut server: Option<Box<ServerSteps>> = None;
    for steps in clones.iter().filter_map(|clone| clone.stats.features.server.as_deref()) {
        server.get_or_insert_default().merge(steps);
    }
    let of_kind = |(kind, figures): (IoKind, &Figures)| Headline {
        job: first.name.clone(),
        kind,
        n_clones: clones.len() as u32,
        figures: figures.clone(),
        cpu_ns_per_io: all.cpu_ns_per_io,
        helper_cpu_ns_per_io: all.helper_cpu_ns_per_io,
        n_errors: all.errors.n_total,
        error: failure.map_or(0, |failure| failure.errno),
        job_start_ms,
        precision: precision
            .iter()
            .find(|precision| precision.job_index == first.job_index && precision.direction == kind.name())
            .cloned(),
        server: server.clone(),
    };
    all.active().map(of_kind).collect()
}
