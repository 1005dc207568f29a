//! Records of a run as lines of JSON (`--output-format=jsonl`) of ferrio.
//!
//! Each worker is a job of the result, with the course of its intervals. Must not know: how lines are written. Start reading at
//! [`read`]. Source: docs/jsonl.md.

mod worker;

use super::form::{DescribedJob, RecordLine, RunLine, SpanLine};
use crate::results::error::{ReadError, ReadErrorKind};
use crate::results::provenance::provenance;
use crate::results::{ResultFile, RunResult, SeriesLimits};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use worker::WorkerLines;

/// The start of the first line.
pub(crate) const START: &[u8] = b"{\"record\":";
/// Longest line. An interval with all buckets of three directions takes less than 100 KiB; the line of a run has all options.
const MAX_LINE_BYTES: u64 = 64 << 20;
const MOST_WORKERS: usize = 20_000;
/// The newest form that is known.
const FORMAT: u32 = 1;
/// Length of an interval where the first line does not say it sensibly, milliseconds.
const USUAL_INTERVAL_MS: f64 = 1000.0;

/// The lines so far.
#[derive(Default)]
struct RunLines {
    result: RunResult,
    described: Vec<DescribedJob>,
    interval_ms: f64,
    n_workers: usize,
    workers: BTreeMap<u64, WorkerLines>,
    has_ended: bool,
}

/// Reads the lines. What follows them, such as a document in JSON, is passed over.
pub(crate) fn read(file: &ResultFile) -> Result<RunResult, ReadError> {
    let mut reader = BufReader::with_capacity(1 << 20, file.open()?);
    let mut course = RunLines::default();
    let mut text = Vec::new();
    for number in 1_u64.. {
        let is_line = file.read_line(&mut reader, &mut text, number, MAX_LINE_BYTES)?;
        if !is_line || (course.has_ended && !text.starts_with(START)) {
            break;
        }
        // A run that was cut off has cut its last line.
        let is_cut = text.last() != Some(&b'\n');
        match course.add(&text) {
            Ok(()) => {}
            Err(ReadErrorKind::Json(_)) if is_cut && number > 1 => break,
            Err(kind) => return Err(file.at_line(number, kind)),
        }
    }
    let mut result = course.into_result().map_err(|kind| kind.of(file.path()))?;
    result.name = file.name();
    Ok(result)
}

impl RunLines {
    fn add(&mut self, text: &[u8]) -> Result<(), ReadErrorKind> {
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        match serde_json::from_slice(text).map_err(|error| ReadErrorKind::Json(error.to_string()))? {
            RecordLine::Run(run) => self.begin(*run)?,
            RecordLine::Interval(line) => {
                self.worker(&line)?.add_interval(&line)?;
            }
            RecordLine::Job(line) => self.worker(&line.span)?.finish(line)?,
            RecordLine::End {} => self.has_ended = true,
            RecordLine::Other => {}
        }
        Ok(())
    }

    fn begin(&mut self, run: RunLine) -> Result<(), ReadErrorKind> {
        if run.format > FORMAT {
            return Err(ReadErrorKind::Impossible { name: "format".to_owned(), value: run.format.to_string() });
        }
        // A file that several runs have appended to holds the last of them.
        *self = Self::default();
        self.result.program = format!("ferrio {}", run.version);
        self.result.timestamp_ms = run.epoch_ms;
        self.result.start_ms = run.epoch_ms;
        let provenance = run.provenance.and_then(provenance);
        self.result.provenance = provenance.map(Box::new);
        self.result.global_options = run.global_options;
        let n_workers = run.jobs.iter().fold(0_u64, |sum, job| sum.saturating_add(job.n_clones));
        let n_workers = usize::try_from(n_workers).unwrap_or(usize::MAX).max(run.jobs.len());
        if n_workers > MOST_WORKERS {
            return Err(ReadErrorKind::TooMany { what: "workers", found: n_workers, most: MOST_WORKERS });
        }
        // The memory of each worker is bounded by their number.
        self.n_workers = if n_workers > 0 { n_workers } else { MOST_WORKERS };
        self.described = run.jobs;
        let is_sensible = run.interval_ms.is_finite() && run.interval_ms >= 1.0;
        self.interval_ms = if is_sensible { run.interval_ms } else { USUAL_INTERVAL_MS };
        Ok(())
    }

    fn worker(&mut self, line: &SpanLine) -> Result<&mut WorkerLines, ReadErrorKind> {
        if self.interval_ms == 0.0 {
            return Err(ReadErrorKind::Json("the first record is not that of a run".to_owned()));
        }
        let found = self.workers.len();
        let most = self.n_workers;
        if found >= most && !self.workers.contains_key(&line.job_number) {
            return Err(ReadErrorKind::TooMany { what: "workers", found: found + 1, most });
        }
        // Each worker has up to three directions with three series.
        let limits = SeriesLimits::for_series(self.n_workers.saturating_mul(3));
        let interval_ms = self.interval_ms;
        Ok(self.workers.entry(line.job_number).or_insert_with(|| WorkerLines::new(line, interval_ms, limits)))
    }

    fn into_result(self) -> Result<RunResult, ReadErrorKind> {
        let mut result = self.result;
        let n_cut = self.workers.values().filter(|worker| worker.is_cut()).count();
        let hosts: BTreeSet<String> = self.workers.values().filter_map(|worker| worker.host.clone()).collect();
        let n_hosts = hosts.len().max(1) as u64;
        for (number, worker) in self.workers {
            let described = self
                .described
                .iter()
                .find(|job| number >= job.first_number && number - job.first_number < job.n_clones);
            let host = worker.host.clone();
            let mut job = worker.into_result()?;
            if let Some(host) = host {
                job.name = format!("{} on {host}", job.name);
            }
            if let Some(described) = described {
                job.options.clone_from(&described.options.given_options);
                job.description = described.options.description.clone().unwrap_or_default();
                // Each host has as many clones of a job as any other.
                let n_clones = described.n_clones.div_ceil(n_hosts);
                if n_clones > 1 {
                    job.name = format!("{} ({})", job.name, (number - described.first_number) % n_clones + 1);
                }
            }
            result.jobs.push(job);
        }
        if n_cut > 0 {
            result.remarks.push(format!(
                "The run was cut off, or has not ended: of {n_cut} jobs the figures are those of their intervals so far."
            ));
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests;
