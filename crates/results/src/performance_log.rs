//! Performance logs of fio and ferrio: `NAME_bw.1.log` and its family.
//!
//! Must not know: reports. Start reading at [`read`]. Source: reference, "Performance logs".

mod counted;
mod log_reader;
mod row;
mod row_source;

use crate::error::{ReadError, ReadErrorKind};
use crate::{JobResult, LatencyKind, Quantity, ResultFile, RunResult, SeriesLimits, TimeSeries};
use log_reader::LogReader;
use row_source::RowSource;
use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

/// Longest line; a row of a histogram log with all buckets has 1,859 columns.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// Ending of the names of compressed logs (`log_store_compressed`).
const COMPRESSED: &str = ".fz";
/// Times from 1973 on are those of the clock: no run takes so long.
const LEAST_EPOCH_MS: u64 = 100_000_000_000;

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
    /// The folder of its file, as it was given; logs of other folders are of other runs.
    folder: String,
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
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(COMPRESSED).unwrap_or(name).strip_suffix(".log")?;
    let (name, number) = match name.rsplit_once('.').map(|(name, number)| (name, number.parse())) {
        Some((name, Ok(number))) => (name, Some(number)),
        _ => (name, None),
    };
    let named =
        |(ending, content): &(&str, LogContent)| Some((name.strip_suffix(ending)?.to_owned(), number, *content));
    ENDINGS.iter().find_map(named)
}

/// Reads a log, row by row. Times of the clock (`log_unix_epoch`) count from `epoch_ms`.
pub(crate) fn read(file: &ResultFile, limits: SeriesLimits, epoch_ms: u64) -> Result<PerformanceLog, ReadError> {
    let path = file.path();
    let (prefix, number, content) = parse_name(path).ok_or_else(|| ReadErrorKind::LogName.of(path))?;
    let mut source = RowSource::open(file)?;
    let mut log = LogReader::new(content, limits, epoch_ms);
    let start = source.reader.fill_buf().map_err(|error| file.system(&error))?;
    let form = log.look_at(start).map_err(|(index, kind)| file.at_line(index as u64 + 1, kind));
    // Of a compressed log that is none, the first rows may be broken.
    let read_rows = || {
        form?;
        let mut line = Vec::new();
        for number in 1.. {
            if !file.read_line(&mut source.reader, &mut line, number, MAX_LINE_BYTES)? {
                break;
            }
            log.add(line.trim_ascii_end()).map_err(|kind| file.at_line(number, kind))?;
        }
        Ok(())
    };
    let outcome = read_rows();
    source.finish(path)?;
    outcome?;
    let folder = path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    Ok(PerformanceLog { folder, prefix, number, series: log.into_series() })
}

/// The time of the first row of a log, milliseconds, if it is one of the clock (`log_unix_epoch`).
pub(crate) fn first_epoch_ms(file: &ResultFile) -> Option<u64> {
    let mut source = RowSource::open(file).ok()?;
    let mut line = Vec::new();
    std::io::Read::take(&mut source.reader, MAX_LINE_BYTES).read_until(b'\n', &mut line).ok()?;
    let time = line.split(|byte| *byte == b',').next()?;
    let time_ms = std::str::from_utf8(time).ok()?.trim().parse().ok()?;
    Some(time_ms).filter(|time_ms| *time_ms >= LEAST_EPOCH_MS)
}

/// Gives logs to the jobs of a report, by their prefixes and numbers. Logs that cannot be told to be those of a job become jobs of
/// their own, with a remark.
pub(crate) fn attach(result: &mut RunResult, logs: Vec<PerformanceLog>) {
    let most = logs.iter().filter_map(|log| log.number).max().unwrap_or_default() as usize;
    let is_grouped = |options: &[(String, String)]| {
        options.iter().any(|(option, value)| option == "group_reporting" && value != "0")
    };
    let has_groups = is_grouped(&result.global_options) || result.jobs.iter().any(|job| is_grouped(&job.options));
    let prefixes: Vec<Vec<String>> = result.jobs.iter().map(|job| prefixes_of(&result.global_options, job)).collect();
    let are_told = prefixes.iter().any(|prefixes| !prefixes.is_empty());
    let has_prefix = |index: usize, log: &PerformanceLog| !are_told || prefixes[index].contains(&log.prefix);
    let job_of = |log: &PerformanceLog| -> Option<usize> {
        let index = match (prefixes.len(), log.number) {
            // All logs of a group are its own, and a single job has all of them.
            (1, _) if has_groups || most <= 1 => 0,
            // Numbers are those of clones, not of groups.
            _ if has_groups => return None,
            (n_jobs, Some(number)) if most <= n_jobs => (number as usize).checked_sub(1)?,
            _ => return None,
        };
        has_prefix(index, log).then_some(index)
    };
    let (mut alone, mut owned) = (Vec::new(), Vec::new());
    for log in logs {
        match job_of(&log) {
            Some(index) => owned.push((index, log)),
            None => alone.push(log),
        }
    }
    for (index, log) in owned {
        result.jobs[index].series.extend(log.series);
    }
    if !alone.is_empty() {
        result.remarks.push(format!(
            "{} of the logs cannot be told to be those of one job of the report: they are shown as jobs of their own.",
            alone.len()
        ));
        result.jobs.extend(self::alone(alone).jobs);
    }
}

/// The prefixes of a job's logs, from its options.
fn prefixes_of(global: &[(String, String)], job: &JobResult) -> Vec<String> {
    let options = global.iter().chain(&job.options);
    let logs = options.filter(|(option, _)| option.starts_with("write_") && option.ends_with("_log"));
    let prefix = |(_, value): &(String, String)| {
        let name = Path::new(value).file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| job.name.clone())
    };
    logs.map(prefix).collect()
}

/// A result of logs alone: a job for each folder, prefix and number.
pub(crate) fn alone(logs: Vec<PerformanceLog>) -> RunResult {
    let mut result = RunResult { name: "logs".to_owned(), ..RunResult::default() };
    let has_folders = logs.first().is_some_and(|first| logs.iter().any(|log| log.folder != first.folder));
    let mut known: HashMap<(String, Option<u32>), usize> = HashMap::new();
    for log in logs {
        let prefix =
            if has_folders && !log.folder.is_empty() { format!("{}/{}", log.folder, log.prefix) } else { log.prefix };
        let key = (prefix, log.number);
        let name = key.1.map_or_else(|| key.0.clone(), |number| format!("{} (job {number})", key.0));
        let index = *known.entry(key).or_insert_with(|| {
            result.jobs.push(JobResult { name, ..JobResult::default() });
            result.jobs.len() - 1
        });
        result.jobs[index].series.extend(log.series);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::DataDirection;

    fn log(prefix: &str, number: Option<u32>) -> PerformanceLog {
        let series = vec![TimeSeries::new(Quantity::Iops, DataDirection::Read, 1)];
        PerformanceLog { folder: String::new(), prefix: prefix.to_owned(), number, series }
    }

    /// Jobs with the options of their logs.
    fn report(jobs: &[(&str, &[(&str, &str)])], global: &[(&str, &str)]) -> RunResult {
        let owned =
            |options: &[(&str, &str)]| options.iter().map(|(o, v)| ((*o).to_owned(), (*v).to_owned())).collect();
        let job = |(name, options): &(&str, &[(&str, &str)])| JobResult {
            name: (*name).to_owned(),
            options: owned(options),
            ..JobResult::default()
        };
        RunResult { jobs: jobs.iter().map(job).collect(), global_options: owned(global), ..RunResult::default() }
    }

    /// Names of the jobs with the numbers of their series.
    fn attached(mut result: RunResult, logs: Vec<PerformanceLog>) -> Vec<(String, usize)> {
        attach(&mut result, logs);
        assert_eq!(result.remarks.is_empty(), result.jobs.iter().all(|job| !job.name.contains("(job")));
        result.jobs.into_iter().map(|job| (job.name, job.series.len())).collect()
    }

    fn named(jobs: &[(&str, usize)]) -> Vec<(String, usize)> {
        jobs.iter().map(|(name, n_series)| ((*name).to_owned(), *n_series)).collect()
    }

    #[test]
    fn logs_go_to_the_jobs_with_their_numbers_and_prefixes() {
        let two = || vec![log("x", Some(1)), log("x", Some(2))];
        // Nothing is known about prefixes: fio's older reports have no options.
        assert_eq!(attached(report(&[("a", &[]), ("b", &[])], &[]), two()), named(&[("a", 1), ("b", 1)]));
        let x = [("write_bw_log", "dir/x")];
        assert_eq!(attached(report(&[("a", &x), ("b", &x)], &[]), two()), named(&[("a", 1), ("b", 1)]));
        // Without a value the prefix is the name of the job.
        let unnamed = [("write_iops_log", "")];
        assert_eq!(attached(report(&[("x", &unnamed)], &[]), vec![log("x", Some(1))]), named(&[("x", 1)]));
    }

    #[test]
    fn logs_of_other_runs_are_not_taken_for_those_of_a_job() {
        let x = [("write_bw_log", "x")];
        let other = attached(report(&[("a", &x), ("b", &x)], &[]), vec![log("y", Some(1)), log("x", Some(2))]);
        assert_eq!(other, named(&[("a", 0), ("b", 1), ("y (job 1)", 1)]));
        let more = attached(report(&[("a", &x), ("b", &x)], &[]), vec![log("x", Some(1)), log("x", Some(3))]);
        assert_eq!(more, named(&[("a", 0), ("b", 0), ("x (job 1)", 1), ("x (job 3)", 1)]));
    }

    #[test]
    fn logs_of_two_folders_are_of_two_jobs() {
        let of_folder = |folder: &str| PerformanceLog { folder: folder.to_owned(), ..log("x", Some(1)) };
        let jobs = |logs| alone(logs).jobs.into_iter().map(|job| (job.name, job.series.len())).collect::<Vec<_>>();
        let two = jobs(vec![of_folder("before"), of_folder("after"), of_folder("after")]);
        assert_eq!(two, named(&[("before/x (job 1)", 1), ("after/x (job 1)", 2)]));
        assert_eq!(jobs(vec![of_folder("one"), of_folder("one")]), named(&[("x (job 1)", 2)]));
    }

    #[test]
    fn logs_of_clones_belong_to_their_group() {
        let x = [("write_bw_log", "x")];
        let grouped = [("group_reporting", "1")];
        let clones = || vec![log("x", Some(1)), log("x", Some(2))];
        assert_eq!(attached(report(&[("a", &x)], &grouped), clones()), named(&[("a", 2)]));
        let two = attached(report(&[("a", &x), ("b", &x)], &grouped), clones());
        assert_eq!(two, named(&[("a", 0), ("b", 0), ("x (job 1)", 1), ("x (job 2)", 1)]));
    }
}
