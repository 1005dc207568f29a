//! The table of the figures that most readers look for, and how exact they are.
//!
//! Must not know: findings, charts. Start reading at [`headline`].

use super::words;
use ferrio_report::native::reason_words;
use ferrio_results::{Figures, JobResult, RunResult};
use ferrio_stats::{Estimate, FiguresOf, JobPrecision};
use ferrio_units::glance::thousands;
use maud::{Markup, html};

/// Percentiles of the table.
const PERCENTILES: [(f64, &str); 3] = [(50.0, "p50"), (99.0, "p99"), (99.9, "p99.9")];

/// Columns between the name of a job and its errors.
const N_FIGURES: usize = 10;

/// Most reasons that are written below a table.
const MOST_REASONS: usize = 8;

/// One row a job and direction, and one for its syncs.
pub(super) fn headline(result: &RunResult) -> Markup {
    let rows: Vec<(&JobResult, FiguresOf, &Figures)> =
        result.jobs.iter().flat_map(|job| job.kinds().map(move |(kind, figures)| (job, kind, figures))).collect();
    let silent: Vec<&JobResult> =
        result.jobs.iter().filter(|job| job.kinds().next().is_none() && has_failed(job)).collect();
    html! {
        h3 { "Figures" }
        @if rows.is_empty() && silent.is_empty() {
            p { "The result has no totals." }
        } @else {
            div class="scrolls" tabindex="0" role="region" aria-label="Table of figures" {
                table {
                    caption { "Latencies from submission to completion. MB/s: millions of bytes a second." }
                    thead { tr {
                        th scope="col" { "job" } th scope="col" { "direction" } th scope="col" { "IOPS" } th scope="col" { "MB/s" }
                        th scope="col" { "mean" }
                        @for (_, name) in PERCENTILES { th scope="col" { (name) } }
                        th scope="col" { "max" } th scope="col" { "I/Os" } th scope="col" { "CPU user, system" } th scope="col" { "errors" }
                    } }
                    tbody {
                        @for (job, kind, figures) in rows { (row(job, kind, figures)) }
                        @for job in silent { tr class="failed" {
                            th scope="row" { (job.name) } td colspan=(N_FIGURES) { "no I/O" } td { (errors(job)) }
                        } }
                    }
                }
            }
        }
    }
}

/// True for a job that ended with an error, or went on after some.
fn has_failed(job: &JobResult) -> bool {
    job.error != 0 || job.n_errors > 0
}

/// What went wrong in a job.
fn errors(job: &JobResult) -> String {
    let n_ios = job.active().fold(0_u64, |sum, (_, figures)| sum.saturating_add(figures.n_ios));
    let failed = (job.error != 0)
        .then(|| format!("failed after {} I/Os: {}", thousands(n_ios), ferrio_units::errno_text(job.error)));
    let tolerated = (job.n_errors > 0).then(|| format!("{} I/Os failed", thousands(job.n_errors)));
    match (failed, tolerated) {
        (None, None) => "none".to_owned(),
        (failed, tolerated) => failed.into_iter().chain(tolerated).collect::<Vec<_>>().join("; "),
    }
}

fn row(job: &JobResult, kind: FiguresOf, figures: &Figures) -> Markup {
    let latency = figures.latency().map(|(_, latency)| latency);
    let percentile = |percent| {
        let value = latency.and_then(|latency| latency.percentile(percent));
        value.map_or_else(|| "-".to_owned(), |value| words::latency(value.latency_ns as f64))
    };
    html! {
        tr class=[has_failed(job).then_some("failed")] {
            th scope="row" { (job.name) }
            td { (kind.name()) }
            td data-value=(figures.ios_per_sec) { (words::rate(figures.ios_per_sec)) }
            @if kind == FiguresOf::Sync {
                td { "-" }
            } @else {
                td data-value=(figures.bytes_per_sec) { (words::bandwidth(figures.bytes_per_sec)) }
            }
            td { (latency.map_or_else(|| "-".to_owned(), |latency| words::latency(latency.mean_ns))) }
            @for (percent, _) in PERCENTILES { td { (percentile(percent)) } }
            td { (latency.map_or_else(|| "-".to_owned(), |latency| words::latency(latency.max_ns as f64))) }
            td { (thousands(figures.n_ios)) }
            td { (format!("{:.1} %, {:.1} %", job.cpu.user_percent, job.cpu.system_percent)) }
            td { (errors(job)) }
        }
    }
}

/// Confidence intervals of the figures.
pub(super) fn precision(result: &RunResult) -> Markup {
    html! {
        @if !result.precision.is_empty() {
            h3 { "Precision" }
            div class="scrolls" tabindex="0" role="region" aria-label="Table of confidence intervals" {
                table {
                    caption { "95 % confidence intervals, from the intervals of the run." }
                    thead { tr {
                        th scope="col" { "job" } th scope="col" { "direction" } th scope="col" { "IOPS" } th scope="col" { "MB/s" }
                        @for (_, name) in PERCENTILES { th scope="col" { (name) } }
                    } }
                    tbody { @for precision in &result.precision { (intervals(precision)) } }
                }
            }
            @for reason in reasons(&result.precision) { p class="hint" { (reason) } }
        }
    }
}

/// The reasons why intervals are missing, each once.
fn reasons(all: &[JobPrecision]) -> Vec<String> {
    let mut reasons = Vec::new();
    for precision in all {
        let estimates = [&precision.ios_per_sec, &precision.p50_ns, &precision.p99_ns, &precision.p999_ns];
        let names = ["rates", "p50", "p99", "p99.9"];
        for (name, estimate) in names.into_iter().zip(estimates) {
            if let Estimate::Unknown(reason) = estimate {
                let text = format!("Unknown for {name} of {}: {}.", precision.job, reason_words(*reason));
                if !reasons.contains(&text) && reasons.len() < MOST_REASONS {
                    reasons.push(text);
                }
            }
        }
    }
    reasons
}

fn intervals(precision: &JobPrecision) -> Markup {
    html! {
        tr {
            th scope="row" { (precision.job) }
            td { (precision.direction) }
            td { (interval(&precision.ios_per_sec, words::rate)) }
            td { (interval(&precision.bytes_per_sec, words::bandwidth)) }
            @for estimate in [&precision.p50_ns, &precision.p99_ns, &precision.p999_ns] { td { (interval(estimate, words::latency)) } }
        }
    }
}

fn interval(estimate: &Estimate, text: fn(f64) -> String) -> String {
    estimate
        .interval()
        .map_or_else(|| "unknown".to_owned(), |interval| format!("{} to {}", text(interval.low), text(interval.high)))
}
