//! How exact the figures are.
//!
//! Must not know: findings, charts. Start reading at [`precision`].

use ferrio_formats::RunResult;
use ferrio_formats::native::reason_words;
use ferrio_stats::{Estimate, JobPrecision, Metric};
use maud::{Markup, html};

/// The figures of a row.
const SHOWN: [Metric; 5] = [Metric::Iops, Metric::Bandwidth, Metric::P50, Metric::P99, Metric::P999];
/// More jobs than this are counted instead of named.
const MOST_JOBS: usize = 5;

/// Confidence intervals of the figures.
pub(super) fn precision(result: &RunResult) -> Markup {
    html! {
        @if !result.precision.is_empty() {
            h3 { "Precision" }
            div class="scrolls" tabindex="0" role="region" aria-label="Table of confidence intervals" {
                table class="stacked precise" {
                    caption { span { "95 % confidence intervals, from the intervals of the run." } }
                    thead { tr {
                        th scope="col" { "job" } th scope="col" { "direction" }
                        @for metric in SHOWN { th scope="col" { (metric.heading()) } }
                    } }
                    tbody { @for precision in &result.precision { (intervals(precision)) } }
                }
            }
            @for reason in reasons(&result.precision) { p class="hint" { (reason) } }
        }
    }
}

/// The figures without an interval, and why: those of all jobs that lack the same figures for the same reason are one line.
fn reasons(all: &[JobPrecision]) -> Vec<String> {
    let mut lines: Vec<(Missing, Vec<&JobPrecision>)> = Vec::new();
    for precision in all {
        for missing in missing(precision) {
            match lines.iter_mut().find(|(known, _)| *known == missing) {
                Some((_, of)) => of.push(precision),
                None => lines.push((missing, vec![precision])),
            }
        }
    }
    let line = |((reason, figures), of): (Missing, Vec<&JobPrecision>)| {
        format!("Unknown for {}{}: {reason}.", figures.join(", "), whose(&of, all))
    };
    lines.into_iter().map(line).collect()
}

/// A reason, and the figures without an interval for it.
type Missing = (&'static str, Vec<&'static str>);

fn missing(precision: &JobPrecision) -> Vec<Missing> {
    let mut missing: Vec<Missing> = Vec::new();
    // Both rates lack an interval for one reason.
    for metric in SHOWN.into_iter().filter(|metric| *metric != Metric::Bandwidth) {
        let Some(Estimate::Unknown(reason)) = metric.precision(precision) else { continue };
        let words = reason_words(reason);
        let figure = if metric.is_latency() { metric.name() } else { "rates" };
        match missing.iter_mut().find(|(known, _)| *known == words) {
            Some((_, figures)) => figures.push(figure),
            None => missing.push((words, vec![figure])),
        }
    }
    missing
}

/// The jobs of some lines of the table, with the direction where it is not all of the job; empty: all jobs.
fn whose(of: &[&JobPrecision], all: &[JobPrecision]) -> String {
    if of.len() == all.len() {
        return String::new();
    }
    let n_of = |job_index: u32| of.iter().filter(|one| one.job_index == job_index).count();
    let n_all = |job_index: u32| all.iter().filter(|one| one.job_index == job_index).count();
    let name = |one: &&JobPrecision| {
        let is_whole = n_of(one.job_index) == n_all(one.job_index);
        if is_whole { one.job.clone() } else { format!("{}: {}", one.job, one.direction) }
    };
    let mut names: Vec<(u32, String)> = of.iter().map(|one| (one.job_index, name(one))).collect();
    names.dedup();
    match names.len() {
        n_jobs if n_jobs > MOST_JOBS => format!(" of {n_jobs} jobs"),
        _ => format!(" of {}", names.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ")),
    }
}

fn intervals(precision: &JobPrecision) -> Markup {
    html! {
        tr {
            th scope="row" { (precision.job) }
            td { (precision.direction) }
            @for metric in SHOWN { td { (interval(metric, precision)) } }
        }
    }
}

fn interval(metric: Metric, precision: &JobPrecision) -> String {
    let text = |value| metric.unit().digits(value);
    let told = metric.precision(precision).and_then(|told| told.interval().copied());
    told.map_or_else(|| "unknown".to_owned(), |interval| format!("{} to {}", text(interval.low), text(interval.high)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::ImprecisionReason;

    fn of_job(job_index: u32, direction: &str) -> JobPrecision {
        let short = Estimate::Unknown(ImprecisionReason::TooFewIntervals);
        let few = Estimate::Unknown(ImprecisionReason::TooFewSamples);
        JobPrecision {
            job_index,
            job: format!("job{job_index}"),
            direction: direction.to_owned(),
            confidence_percent: 95.0,
            interval_ns: 1,
            n_intervals: 1,
            autocorrelation: None,
            n_effective: None,
            ios_per_sec: short,
            bytes_per_sec: short,
            p50_ns: short,
            p99_ns: few,
            p999_ns: few,
            mean_ns: short,
        }
    }

    #[test]
    fn what_many_jobs_lack_for_one_reason_is_one_line() {
        let few = |of: &str| format!("Unknown for p99, p99.9{of}: there were too few I/Os.");
        let short = |of: &str| format!("Unknown for rates, p50{of}: the run is too short to tell how they vary.");
        let all: Vec<JobPrecision> = (0..100).map(|index| of_job(index, "read")).collect();
        assert_eq!(reasons(&all), [short(""), few("")]);
        let known = Estimate::Interval(ferrio_stats::Confidence { value: 1.0, low: 1.0, high: 1.0 });
        let exact =
            JobPrecision { ios_per_sec: known, p50_ns: known, p99_ns: known, p999_ns: known, ..of_job(100, "read") };
        let with_exact: Vec<JobPrecision> = all.iter().cloned().chain([exact.clone()]).collect();
        assert_eq!(reasons(&with_exact), [short(" of 100 jobs"), few(" of 100 jobs")]);
        let write = JobPrecision { job_index: 1, direction: "write".to_owned(), ..exact };
        let mixed = [of_job(0, "read"), of_job(0, "write"), of_job(1, "read"), write];
        assert_eq!(reasons(&mixed), [short(" of job0, job1: read"), few(" of job0, job1: read")]);
    }
}
