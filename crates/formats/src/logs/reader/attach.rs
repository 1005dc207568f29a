//! Which job of which report a log belongs to, and where its times lie in the run.
//!
//! Must not know: rows. Start reading at [`attach`].

use super::{LogContent, PerformanceLog};
use crate::results::{JobResult, LatencyKind, Quantity, RunResult, TimeBase, TimeSeries};
use ferrio_units::DataDirection;
use std::collections::{HashMap, HashSet};
use std::path::Path;

const NS_PER_MS: u64 = 1_000_000;
/// Logs may last longer than the runtime that their report tells: by a tenth, and by this time.
const SLACK_NS: u64 = 2_000 * NS_PER_MS;

/// A job: index of its result, index of the job.
type JobPlace = (usize, usize);

/// Gives logs to the jobs of some reports, by their prefixes, numbers, folders and times. Returns the logs that cannot be told to be those
/// of one job.
pub(crate) fn attach(results: &mut [RunResult], folders: &[String], logs: Vec<PerformanceLog>) -> Vec<PerformanceLog> {
    let (mut alone, mut owned) = (Vec::new(), Vec::new());
    let owners: Vec<Option<JobPlace>> = {
        let known: Vec<KnownLogs> = results.iter().map(KnownLogs::of).collect();
        logs.iter().map(|log| owner(results, folders, &known, log, highest_number(&logs, log))).collect()
    };
    for (log, owner) in logs.into_iter().zip(owners) {
        match owner {
            Some(place) => owned.push((place, log)),
            None => alone.push(log),
        }
    }
    owned.sort_by_key(|(_, log)| log.rank());
    let mut seen = HashSet::new();
    for ((result_index, job_index), log) in owned {
        let result = &mut results[result_index];
        for series in placed(result, job_index, log, &mut seen) {
            result.jobs[job_index].series.push(series);
        }
    }
    if let ([result, ..], [_, ..]) = (&mut results[..], &alone[..]) {
        result.remarks.push(format!(
            "{} of the logs cannot be told to be those of one job of a report: they are shown as jobs of their own.",
            alone.len()
        ));
    }
    alone
}

/// The highest number of a job among the logs that go with this one.
fn highest_number(logs: &[PerformanceLog], log: &PerformanceLog) -> usize {
    let alike = logs.iter().filter(|other| (&other.folder, &other.prefix) == (&log.folder, &log.prefix));
    alike.filter_map(|other| other.number).max().unwrap_or_default() as usize
}

/// What a report tells of its logs.
struct KnownLogs {
    has_groups: bool,
    /// The prefixes of each job; empty: none is told.
    prefixes: Vec<Vec<String>>,
}

impl KnownLogs {
    fn of(result: &RunResult) -> Self {
        let is_grouped = |options: &[(String, String)]| {
            options.iter().any(|(option, value)| option == "group_reporting" && value != "0")
        };
        let has_groups = is_grouped(&result.global_options) || result.jobs.iter().any(|job| is_grouped(&job.options));
        Self { has_groups, prefixes: result.jobs.iter().map(|job| prefixes_of(&result.global_options, job)).collect() }
    }

    fn are_told(&self) -> bool {
        self.prefixes.iter().any(|prefixes| !prefixes.is_empty())
    }

    /// The job with this log, if the report does not speak against it. `most` is the highest number of the logs that go with it.
    fn job_of(&self, log: &PerformanceLog, most: usize) -> Option<usize> {
        let index = match (self.prefixes.len(), log.number) {
            // All logs of a group are its own, and a single job has all of them.
            (1, _) if self.has_groups || most <= 1 => 0,
            // Numbers are those of clones, not of groups.
            _ if self.has_groups => return None,
            (n_jobs, Some(number)) if most <= n_jobs => (number as usize).checked_sub(1)?,
            _ => return None,
        };
        (!self.are_told() || self.prefixes[index].contains(&log.prefix)).then_some(index)
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

/// The job that a log belongs to: the only one of the best fit.
fn owner(
    results: &[RunResult],
    folders: &[String],
    known: &[KnownLogs],
    log: &PerformanceLog,
    most: usize,
) -> Option<JobPlace> {
    let candidates = results.iter().zip(known).enumerate().filter_map(|(index, (result, known))| {
        let job_index = known.job_of(log, most)?;
        let is_in_folder = folders.get(index) == Some(&log.folder);
        fits_in_time(result, &result.jobs[job_index], log)
            .then_some(((known.are_told(), is_in_folder), (index, job_index)))
    });
    let candidates: Vec<((bool, bool), JobPlace)> = candidates.collect();
    let best = candidates.iter().map(|(fit, _)| *fit).max()?;
    let mut found = candidates.iter().filter(|(fit, _)| *fit == best);
    found.next().filter(|_| found.next().is_none()).map(|(_, place)| *place)
}

/// False if a log lasted longer than the job, or was written at another time.
fn fits_in_time(result: &RunResult, job: &JobResult, log: &PerformanceLog) -> bool {
    let (Some((start_ns, end_ns)), runtime_ns @ 1..) = (log.reach_ns(), job.runtime_ns()) else { return true };
    let slack_ns = runtime_ns / 10 + SLACK_NS;
    if !log.has_clock() {
        return end_ns <= runtime_ns.saturating_add(slack_ns);
    }
    let (Some(run_ms), Some((job_start_ns, job_end_ns))) = (result.start_ms, job.reach_ns) else { return true };
    let epoch_ns = run_ms.saturating_mul(NS_PER_MS);
    let (from_ns, to_ns) = (epoch_ns.saturating_add(job_start_ns), epoch_ns.saturating_add(job_end_ns));
    start_ns.saturating_add(slack_ns) >= from_ns && end_ns <= to_ns.saturating_add(slack_ns)
}

/// What a latency of a job was taken from: place of the job, number of the log, direction.
type TakenLatency = (u32, usize, Option<u32>, DataDirection);

/// The series of a log of a job, with their times on the clock of the run. Of several logs of a clone's completion latency the first one
/// counts.
fn placed(
    result: &RunResult,
    job_index: usize,
    log: PerformanceLog,
    seen: &mut HashSet<TakenLatency>,
) -> Vec<TimeSeries> {
    let job = &result.jobs[job_index];
    let option = |names: [&str; 2]| names.iter().find_map(|name| job.option(&result.global_options, name));
    // Only windows have maxima.
    let has_maxima = matches!(option(["log_window_value", "log_max_value"]), Some("max" | "1")) && log.has_windows;
    let is_histogram = log.content == LogContent::Histograms;
    let (base, by_ns) = base_of(result, job_index, log.has_clock());
    let end_ns = job.reach_ns.map(|(_, end_ns)| end_ns).filter(|_| base == TimeBase::Run(result.number));
    let mut all = Vec::new();
    for mut series in log.series {
        let is_completion = series.quantity == Quantity::Latency(LatencyKind::Completion);
        if is_completion && !seen.insert((result.number, job_index, log.number, series.direction)) {
            continue;
        }
        series.place(base, by_ns);
        series.source.clone_from(&log.file);
        series.has_means = !has_maxima || is_histogram;
        // The last window of a log may reach beyond the end of its job.
        if let Some(end_ns) = end_ns.filter(|_| series.quantity.is_rate() && log.has_windows) {
            series.end_rate_at(end_ns);
            series.intervals.join_short_end();
            series.goes_on_until(end_ns);
        }
        all.push(series);
    }
    all
}

/// What the times of a job's log count from, and by how much they have to be moved for that.
fn base_of(result: &RunResult, job_index: usize, has_clock: bool) -> (TimeBase, i64) {
    let run = result.number;
    let job = &result.jobs[job_index];
    match result.start_ms {
        Some(start_ms) if has_clock => {
            (TimeBase::Run(run), -i64::try_from(start_ms.saturating_mul(NS_PER_MS)).unwrap_or(i64::MAX))
        }
        _ if has_clock => (TimeBase::Wall, 0),
        _ => {
            let (base, start_ns) = result.start_of(job);
            (base, i64::try_from(start_ns).unwrap_or(i64::MAX))
        }
    }
}

/// Results of logs alone, one a folder: in each a job for each prefix and number. `first` is the number of the first result.
pub(crate) fn alone(logs: Vec<PerformanceLog>, first: usize) -> Vec<RunResult> {
    let mut folders: Vec<(String, Vec<PerformanceLog>)> = Vec::new();
    for log in logs {
        match folders.iter_mut().find(|(folder, _)| *folder == log.folder) {
            Some((_, logs)) => logs.push(log),
            None => folders.push((log.folder.clone(), vec![log])),
        }
    }
    let has_folders = folders.len() > 1;
    let result = |(index, (folder, logs)): (usize, (String, Vec<PerformanceLog>))| {
        let name = if has_folders && !folder.is_empty() { folder } else { "logs".to_owned() };
        of_folder(name, u32::try_from(first + index).unwrap_or(u32::MAX), logs)
    };
    folders.into_iter().enumerate().map(result).collect()
}

fn of_folder(name: String, number: u32, mut logs: Vec<PerformanceLog>) -> RunResult {
    logs.sort_by_key(PerformanceLog::rank);
    let starts_ns = logs.iter().filter(|log| log.has_clock()).filter_map(|log| Some(log.reach_ns()?.0));
    let start_ms = starts_ns.min().map(|start_ns| start_ns / NS_PER_MS);
    let mut result = RunResult { name, number, start_ms, ..RunResult::default() };
    // Jobs in the order of their names, whatever the rank of their logs.
    let mut keys: Vec<(String, Option<u32>)> = logs.iter().map(|log| (log.prefix.clone(), log.number)).collect();
    keys.sort();
    keys.dedup();
    let known: HashMap<(String, Option<u32>), usize> = keys.iter().cloned().zip(0..).collect();
    for (prefix, number) in keys {
        let name = number.map_or_else(|| prefix.clone(), |number| format!("{prefix} (job {number})"));
        // Nobody knows which of them began together.
        let group_index = u32::try_from(result.jobs.len()).unwrap_or(u32::MAX);
        result.jobs.push(JobResult { name, group_index, ..JobResult::default() });
    }
    let mut seen = HashSet::new();
    for log in logs {
        let index = known[&(log.prefix.clone(), log.number)];
        for series in placed(&result, index, log, &mut seen) {
            result.jobs[index].series.push(series);
        }
    }
    // The groups have served their purpose: a reader does not see them.
    result.jobs.iter_mut().for_each(|job| job.group_index = 0);
    result
}

#[cfg(test)]
mod tests;
