//! The document of `ferrio run --json` and `ferrio quick --json`: a row a job and direction, findings, provenance.
//!
//! Must not know: fio's documents. Start reading at [`result`].

use crate::error::ReadErrorKind;
use crate::figure::{figure, impossible};
use crate::model::{DirectionResult, JobResult, LatencyFigures, RunResult};
use crate::provenance::of_text;
use ferrio_stats::{Finding, JobPrecision, Unexamined};
use ferrio_units::DataDirection;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The document.
#[derive(Deserialize)]
pub(super) struct NativeDocument {
    #[serde(default)]
    version: String,
    #[serde(default)]
    timestamp_ms: Option<u64>,
    jobs: Vec<HeadlineRow>,
    #[serde(default)]
    provenance: Option<Box<RawValue>>,
    #[serde(default)]
    findings: Option<Vec<Finding>>,
    #[serde(default)]
    unexamined: Vec<Unexamined>,
    #[serde(default)]
    n_rules: u32,
}

/// A job in one direction.
#[derive(Deserialize)]
struct HeadlineRow {
    job: String,
    direction: String,
    n_ios: u64,
    bytes: u64,
    runtime_ns: u64,
    bytes_per_sec: f64,
    ios_per_sec: f64,
    mean_ns: f64,
    #[serde(default)]
    p50_ns: Option<u64>,
    #[serde(default)]
    p99_ns: Option<u64>,
    #[serde(default)]
    p999_ns: Option<u64>,
    max_ns: u64,
    #[serde(default)]
    precision: Option<JobPrecision>,
}

/// The result of a document.
pub(super) fn result(document: NativeDocument) -> Result<RunResult, ReadErrorKind> {
    let mut result = RunResult {
        program: document.version,
        timestamp_ms: document.timestamp_ms,
        findings: document.findings,
        unexamined: document.unexamined,
        n_rules: document.n_rules,
        ..RunResult::default()
    };
    let mut last_direction = None;
    for row in document.jobs {
        let direction = DataDirection::ALL.into_iter().find(|direction| direction.name() == row.direction);
        let direction = direction.ok_or_else(|| impossible("a direction", &row.direction))?;
        for (name, value) in
            [("bytes_per_sec", row.bytes_per_sec), ("ios_per_sec", row.ios_per_sec), ("mean_ns", row.mean_ns)]
        {
            figure(name, value)?;
        }
        // Rows of one job follow each other, in the order of directions.
        let is_same = result.jobs.last().is_some_and(|job: &JobResult| job.name == row.job);
        if !is_same || last_direction >= Some(direction.index()) {
            result.jobs.push(JobResult { name: row.job.clone(), ..JobResult::default() });
        }
        last_direction = Some(direction.index());
        result.precision.extend(row.precision.clone());
        if let Some(job) = result.jobs.last_mut() {
            job.directions[direction] = Some(figures(&row));
        }
    }
    if let Some(provenance) = document.provenance.as_deref().map(of_text).transpose()?.flatten() {
        result.program = format!("ferrio {}", provenance.ferrio_version);
        let mut described = HashMap::new();
        for job in &provenance.jobs {
            described.entry(job.name.as_str()).or_insert(job.given());
        }
        for job in &mut result.jobs {
            job.options = described.get(job.name.as_str()).map(|given| given.to_vec()).unwrap_or_default();
        }
        result.provenance = Some(Box::new(provenance));
    }
    Ok(result)
}

fn figures(row: &HeadlineRow) -> DirectionResult {
    let told = [(50.0, row.p50_ns), (99.0, row.p99_ns), (99.9, row.p999_ns)];
    let clat = (row.max_ns > 0).then(|| LatencyFigures {
        n_samples: row.n_ios,
        max_ns: row.max_ns,
        mean_ns: row.mean_ns,
        percentiles: told.into_iter().filter_map(|(percent, value_ns)| Some((percent, value_ns?))).collect(),
        ..LatencyFigures::default()
    });
    DirectionResult {
        n_ios: row.n_ios,
        bytes: row.bytes,
        runtime_ns: row.runtime_ns,
        ios_per_sec: row.ios_per_sec,
        bytes_per_sec: row.bytes_per_sec,
        clat,
        ..DirectionResult::default()
    }
}
