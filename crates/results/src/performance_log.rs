//! Performance logs of fio and ferrio: `NAME_bw.1.log` and its family.
//!
//! Must not know: reports. Start reading at [`read`]. Source: reference, "Performance logs".

mod counted;
mod log_reader;
mod row;

use crate::error::{ReadError, ReadErrorKind};
use crate::{JobResult, LatencyKind, Quantity, RunResult, SeriesLimits, TimeSeries, file};
use log_reader::LogReader;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Longest line; a row of a histogram log with all buckets has 1,859 columns.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// What a log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogContent {
    Values(Quantity),
    Histograms,
}

/// Endings of names, the longest first.
const ENDINGS: [(&str, LogContent); 6] = [
    ("_clat_hist", LogContent::Histograms),
    ("_slat", LogContent::Values(Quantity::Latency(LatencyKind::Submission))),
    ("_clat", LogContent::Values(Quantity::Latency(LatencyKind::Completion))),
    ("_iops", LogContent::Values(Quantity::Iops)),
    ("_lat", LogContent::Values(Quantity::Latency(LatencyKind::Total))),
    ("_bw", LogContent::Values(Quantity::Bandwidth)),
];

/// A log that was read.
#[derive(Debug)]
pub(crate) struct PerformanceLog {
    prefix: String,
    /// Number of the job, from 1; `None`: all jobs in one.
    number: Option<u32>,
    series: Vec<TimeSeries>,
}

/// True if the name of a file is that of a log.
pub(crate) fn has_name_of_log(path: &Path) -> bool {
    parse_name(path).is_some()
}

/// Prefix, number and content of a log, from its name.
fn parse_name(path: &Path) -> Option<(String, Option<u32>, LogContent)> {
    let name = path.file_name()?.to_str()?.strip_suffix(".log")?;
    let (name, number) = match name.rsplit_once('.').map(|(name, number)| (name, number.parse())) {
        Some((name, Ok(number))) => (name, Some(number)),
        _ => (name, None),
    };
    let named =
        |(ending, content): &(&str, LogContent)| Some((name.strip_suffix(ending)?.to_owned(), number, *content));
    ENDINGS.iter().find_map(named)
}

/// Reads a log, row by row.
pub(crate) fn read(path: &Path, limits: SeriesLimits) -> Result<PerformanceLog, ReadError> {
    let (prefix, number, content) = parse_name(path).ok_or_else(|| ReadErrorKind::LogName.of(path))?;
    let mut reader = BufReader::with_capacity(1 << 20, file::open(path)?);
    let mut log = LogReader::new(content, limits);
    let start = reader.fill_buf().map_err(|error| file::system(path, &error))?;
    let of_line = |line: u64, kind| ReadError { path: path.to_owned(), line: Some(line), kind };
    log.look_at(start).map_err(|(index, kind)| of_line(index as u64 + 1, kind))?;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = std::io::Read::take(&mut reader, MAX_LINE_BYTES);
        let length = limited.read_until(b'\n', &mut line).map_err(|error| file::system(path, &error))?;
        if length == 0 {
            break;
        }
        log.add(line.trim_ascii_end()).map_err(|kind| of_line(number, kind))?;
    }
    Ok(PerformanceLog { prefix, number, series: log.into_series() })
}

/// Gives logs to the jobs of a report: by their numbers, if it has a job for each, and otherwise as jobs of their own.
pub(crate) fn attach(result: &mut RunResult, logs: Vec<PerformanceLog>) {
    let n_jobs = result.jobs.len();
    let most = logs.iter().filter_map(|log| log.number).max().unwrap_or_default() as usize;
    if most > n_jobs || n_jobs == 0 {
        let alone = self::alone(logs);
        result.remarks.push(format!(
            "The report has {n_jobs} jobs or groups and the logs are of {most} jobs: the logs are shown as jobs of their own."
        ));
        result.jobs.extend(alone.jobs);
        return;
    }
    for log in logs {
        let index = log.number.map_or(0, |number| number.saturating_sub(1) as usize);
        result.jobs[index].series.extend(log.series);
    }
}

/// A result of logs alone: a job for each prefix and number.
pub(crate) fn alone(logs: Vec<PerformanceLog>) -> RunResult {
    let mut result = RunResult { name: "logs".to_owned(), ..RunResult::default() };
    let mut keys: Vec<(String, Option<u32>)> = Vec::new();
    for log in logs {
        let key = (log.prefix, log.number);
        let index = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            let name = key.1.map_or_else(|| key.0.clone(), |number| format!("{} (job {number})", key.0));
            result.jobs.push(JobResult { name, ..JobResult::default() });
            keys.push(key);
            keys.len() - 1
        });
        result.jobs[index].series.extend(log.series);
    }
    result
}
