//! How exact the figures are.
//!
//! Must not know: findings, charts. Start reading at [`precision`].

use super::headline::PERCENTILES;
use super::words;
use ferrio_report::native::reason_words;
use ferrio_results::RunResult;
use ferrio_stats::{Estimate, JobPrecision};
use maud::{Markup, html};

/// Most reasons that are written below a table.
const MOST_REASONS: usize = 8;

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
