//! Tests of which job a log belongs to.

use super::*;
use crate::results::{Figures, together};
use ferrio_units::DataDirection;

const MS: u64 = NS_PER_MS;

fn log(prefix: &str, number: Option<u32>) -> PerformanceLog {
    let mut series = TimeSeries::new(Quantity::Iops, DataDirection::Read, 1);
    series.add_rate(0, 500 * MS, 1000.0, 10);
    series.add_rate(500 * MS, 1000 * MS, 1000.0, 10);
    PerformanceLog {
        file: format!("{prefix}_iops.log"),
        folder: String::new(),
        prefix: prefix.to_owned(),
        number,
        content: LogContent::Values(Quantity::Iops),
        has_windows: true,
        series: vec![series],
    }
}

/// Jobs with the options of their logs.
fn report(jobs: &[(&str, &[(&str, &str)])], global: &[(&str, &str)]) -> RunResult {
    let owned = |options: &[(&str, &str)]| options.iter().map(|(o, v)| ((*o).to_owned(), (*v).to_owned())).collect();
    let job = |(name, options): &(&str, &[(&str, &str)])| JobResult {
        name: (*name).to_owned(),
        options: owned(options),
        ..JobResult::default()
    };
    RunResult { jobs: jobs.iter().map(job).collect(), global_options: owned(global), ..RunResult::default() }
}

/// A job of the report that began at a time and lasted a second, as its JSON says.
fn began(job: &mut JobResult, start_ns: u64) {
    job.reach_ns = Some((start_ns, start_ns + 1000 * MS));
    let figures = Figures { runtime_ns: 1000 * MS, ..Figures::default() };
    job.directions[DataDirection::Read] = Some(figures);
}

/// Names of all jobs with the numbers of their series.
fn named_jobs(results: &[RunResult]) -> Vec<(String, usize)> {
    results.iter().flat_map(|result| &result.jobs).map(|job| (job.name.clone(), job.series.len())).collect()
}

fn attached(result: RunResult, logs: Vec<PerformanceLog>) -> Vec<(String, usize)> {
    let mut results = vec![result];
    let left = attach(&mut results, &[String::new()], logs);
    assert_eq!(results[0].remarks.is_empty(), left.is_empty());
    results.extend(alone(left, 1));
    named_jobs(&results)
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
fn logs_of_clones_belong_to_their_group() {
    let x = [("write_bw_log", "x")];
    let grouped = [("group_reporting", "1")];
    let clones = || vec![log("x", Some(1)), log("x", Some(2))];
    assert_eq!(attached(report(&[("a", &x)], &grouped), clones()), named(&[("a", 2)]));
    let two = attached(report(&[("a", &x), ("b", &x)], &grouped), clones());
    assert_eq!(two, named(&[("a", 0), ("b", 0), ("x (job 1)", 1), ("x (job 2)", 1)]));
}

#[test]
fn two_runs_stay_two() {
    let of_folder = |folder: &str| PerformanceLog { folder: folder.to_owned(), ..log("x", Some(1)) };
    let results = alone(vec![of_folder("before"), of_folder("after"), of_folder("after")], 0);
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    assert_eq!((names, named_jobs(&results)), (vec!["before", "after"], named(&[("x (job 1)", 1), ("x (job 1)", 2)])));
    assert_eq!(alone(vec![of_folder("one"), of_folder("one")], 0).len(), 1);
    // With their reports: each log goes to the report beside it, or to the one whose options name it.
    let x = [("write_bw_log", "x")];
    let mut reports = [report(&[("a", &x)], &[]), report(&[("b", &x)], &[])];
    let folders = ["before".to_owned(), "after".to_owned()];
    let left = attach(&mut reports, &folders, vec![of_folder("after"), of_folder("before")]);
    assert!(left.is_empty() && named_jobs(&reports) == named(&[("a", 1), ("b", 1)]));
    let y = [("write_bw_log", "y")];
    let mut reports = [report(&[("a", &x)], &[]), report(&[("b", &y)], &[])];
    let left = attach(&mut reports, &[String::new(), String::new()], vec![log("y", Some(1)), log("x", Some(1))]);
    assert!(left.is_empty() && named_jobs(&reports) == named(&[("a", 1), ("b", 1)]));
    // A log that could be of either is of neither.
    let mut reports = [report(&[("a", &x)], &[]), report(&[("b", &x)], &[])];
    assert_eq!(attach(&mut reports, &[String::new(), String::new()], vec![log("x", Some(1))]).len(), 1);
}

#[test]
fn a_log_that_outlasts_its_job_is_of_another_run() {
    let mut one = report(&[("a", &[])], &[]);
    began(&mut one.jobs[0], 0);
    let mut long = log("x", Some(1));
    long.series[0].add_rate(1000 * MS, 9000 * MS, 1000.0, 10);
    assert_eq!(attached(one.clone(), vec![long]), named(&[("a", 0), ("x (job 1)", 1)]));
    assert_eq!(attached(one, vec![log("x", Some(1))]), named(&[("a", 1)]));
}

#[test]
fn jobs_lie_where_they_ran() {
    let mut results = [report(&[("a", &[]), ("b", &[])], &[])];
    began(&mut results[0].jobs[0], 0);
    began(&mut results[0].jobs[1], 1000 * MS);
    attach(&mut results, &[String::new()], vec![log("x", Some(1)), log("x", Some(2))]);
    let all: Vec<&TimeSeries> = results[0].jobs.iter().flat_map(|job| &job.series).collect();
    // One after the other: their rates are never added.
    let sum = together(&all, 100).expect("one run");
    assert_eq!(sum.intervals.reach_ns(), Some((0, 2000 * MS)));
    assert!(sum.filled().all(|(_, bin)| bin.mean() == Some(1000.0)), "{sum:?}");
    // Logs alone do not say when their jobs began.
    let unknown = alone(vec![log("x", Some(1)), log("x", Some(2))], 0);
    let all: Vec<&TimeSeries> = unknown[0].jobs.iter().flat_map(|job| &job.series).collect();
    assert_eq!(together(&all, 100), Err(crate::NotTogether::UnknownStart));
}

#[test]
fn the_last_window_ends_with_its_job() {
    let mut results = [report(&[("a", &[])], &[])];
    began(&mut results[0].jobs[0], 0);
    let mut last = log("x", Some(1));
    // The job ended at 1,000 ms, and the log's last window at 1,250, with the I/Os of half of it.
    last.series[0] = TimeSeries::new(Quantity::Iops, DataDirection::Read, 1);
    last.series[0].add_rate(0, 750 * MS, 1000.0, 10);
    last.series[0].add_rate(750 * MS, 1250 * MS, 500.0, 10);
    attach(&mut results, &[String::new()], vec![last]);
    let series = &results[0].jobs[0].series[0];
    assert_eq!(series.intervals.reach_ns(), Some((0, 1000 * MS)));
    assert!(series.filled().all(|(_, bin)| bin.mean() == Some(1000.0) && bin.max <= 1000.0), "{series:?}");
}

#[test]
fn better_logs_of_a_latency_come_first_and_maxima_are_known() {
    let quantity = Quantity::Latency(LatencyKind::Completion);
    let of_latency = |content, has_windows| {
        let mut series = TimeSeries::new(quantity, DataDirection::Read, MS);
        series.add(0, 5.0, 10);
        PerformanceLog { content, has_windows, series: vec![series], ..log("x", Some(1)) }
    };
    let windows = || of_latency(LogContent::Values(quantity), true);
    let maxima = [("log_window_value", "max")];
    let mut results = [report(&[("a", &maxima)], &[])];
    attach(&mut results, &[String::new()], vec![windows(), of_latency(LogContent::Histograms, false)]);
    assert_eq!((results[0].jobs[0].series.len(), results[0].jobs[0].series[0].has_means), (1, true));
    let mut results = [report(&[("a", &maxima)], &[])];
    attach(&mut results, &[String::new()], vec![windows()]);
    assert!(!results[0].jobs[0].series[0].has_means);
}
