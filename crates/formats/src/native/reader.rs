//! The document of `ferrio run --json` and `ferrio quick --json`: a row a job and direction, findings, provenance.
//!
//! Must not know: fio's documents. Start reading at [`result`].

use super::form::{HeadlineRow, LatencyRow};
use crate::results::error::ReadErrorKind;
use crate::results::figure::{figure, impossible};
use crate::results::provenance::of_text;
use crate::results::{JobResult, RunResult};
use ferrio_stats::{Accounts, Audit, Figures, Finding, IoKind, LatencyFigures, Unexamined};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

#[derive(Deserialize)]
pub(crate) struct NativeDocument {
    #[serde(default)]
    version: String,
    #[serde(default)]
    timestamp_ms: Option<u64>,
    #[serde(default)]
    global_options: Vec<(String, String)>,
    jobs: Vec<HeadlineRow>,
    #[serde(default)]
    provenance: Option<Box<RawValue>>,
    #[serde(default)]
    findings: Option<Vec<Finding>>,
    #[serde(default)]
    unexamined: Vec<Unexamined>,
    #[serde(default)]
    n_rules: u32,
    #[serde(default)]
    accounts: Option<Box<Accounts>>,
}

pub(crate) fn result(document: NativeDocument) -> Result<RunResult, ReadErrorKind> {
    let mut result = RunResult {
        program: document.version,
        timestamp_ms: document.timestamp_ms,
        global_options: document.global_options,
        audit: document.findings.map(|findings| Audit {
            findings,
            unexamined: document.unexamined,
            n_rules: document.n_rules,
            accounts: document.accounts,
        }),
        ..RunResult::default()
    };
    let mut last_kind = None;
    let mut starts_ms = Vec::new();
    for row in document.jobs {
        let kind = IoKind::ALL.into_iter().find(|kind| kind.name() == row.direction);
        let kind = kind.ok_or_else(|| impossible("a direction", &row.direction))?;
        // Rows of one job follow each other, in the order of directions.
        let is_same = result.jobs.last().is_some_and(|job: &JobResult| job.name == row.job);
        if !is_same || last_kind >= Some(kind) {
            // Without times, nobody knows which jobs began together: each has a group of its own.
            let group_index = u32::try_from(result.jobs.len()).unwrap_or(u32::MAX);
            result.jobs.push(JobResult { name: row.job.clone(), group_index, ..JobResult::default() });
            starts_ms.push(row.job_start_ms);
        }
        last_kind = Some(kind);
        result.precision.extend(row.precision.clone());
        if let Some(job) = result.jobs.last_mut() {
            (job.n_errors, job.error) = (row.n_errors, row.error);
            let figures = figures(row, kind)?;
            match kind.direction() {
                Some(direction) => job.directions[direction] = Some(figures),
                None => job.syncs = Some(figures),
            }
        }
    }
    crate::json::reader::model::place(&mut result, &starts_ms);
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

fn figures(row: HeadlineRow, kind: IoKind) -> Result<Figures, ReadErrorKind> {
    let own = latency(&row.latency, row.n_ios)?;
    let (clat, lat) = if kind == IoKind::Sync { (None, own) } else { (own, None) };
    let response = row.response.map(|response| latency(&response, row.n_ios)).transpose()?.flatten();
    Ok(Figures {
        n_ios: row.n_ios,
        bytes: row.bytes,
        runtime_ns: row.runtime_ns,
        ios_per_sec: figure("ios_per_sec", row.rates.ios_per_sec)?,
        bytes_per_sec: figure("bytes_per_sec", row.rates.bytes_per_sec)?,
        clat,
        lat,
        response,
        ..Figures::default()
    })
}

fn latency(row: &LatencyRow, n_ios: u64) -> Result<Option<LatencyFigures>, ReadErrorKind> {
    let told = [(50.0, row.p50_ns), (99.0, row.p99_ns), (99.9, row.p999_ns)];
    let mean_ns = figure("mean_ns", row.mean_ns)?;
    Ok((row.max_ns > 0).then(|| LatencyFigures {
        n_samples: row.n_latencies.unwrap_or(n_ios),
        max_ns: row.max_ns,
        mean_ns,
        percentiles: told.into_iter().filter_map(|(percent, value_ns)| Some((percent, value_ns?))).collect(),
        ..LatencyFigures::default()
    }))
}
