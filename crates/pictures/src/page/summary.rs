//! The result in a sentence or two, and the searches for a steady state.
//!
//! Must not know: tables, charts. Start reading at [`sentence`].

use super::headline::thin_mark;
use ferrio_formats::{JobResult, RunResult};
use ferrio_stats::Metric;
use ferrio_stats::{Figures, IoKind, LatencyFigures, Severity};
use ferrio_units::humanize::{duration_text, thousands};
use maud::{Markup, html};

/// How many jobs ran, how much I/O they did, and what speaks against the figures.
pub(super) fn sentence(result: &RunResult) -> String {
    let jobs: Vec<&JobResult> = result.jobs.iter().collect();
    let sets = result.ran_together(&jobs);
    let n_jobs: usize = jobs.iter().map(|job| job.clones.len().max(1)).sum();
    let head = match n_jobs {
        0 => return "No job.".to_owned(),
        1 => "One job".to_owned(),
        _ => format!("{} jobs", thousands(n_jobs as u64)),
    };
    let ran = match (n_jobs, sets.len()) {
        (1, _) => "",
        (_, 1) => ", which ran at the same time",
        _ if jobs.iter().all(|job| job.reach_ns.is_some()) => ", not all at the same time",
        _ => ", and it is not known which ran at the same time",
    };
    let figures = match &sets[..] {
        [set] => work(result, set),
        _ => String::new(),
    };
    let n_failed = jobs.iter().filter(|job| job.error != 0).count();
    let failed = match n_failed {
        0 => String::new(),
        _ if n_jobs == 1 => " It failed.".to_owned(),
        _ => format!(" {} failed.", thousands(n_failed as u64)),
    };
    format!("{head}{ran}{figures}.{failed}{}", findings(result))
}

/// The I/O of jobs that ran at the same time, behind a colon; empty: they did none.
fn work(result: &RunResult, set: &[&JobResult]) -> String {
    let of_kind = |kind: IoKind| {
        let figures = result.figures_together(set, kind).ok()??;
        Some(of_figures(kind, &figures))
    };
    let all: Vec<String> = IoKind::ALL.into_iter().filter_map(of_kind).collect();
    let has_course = set.iter().any(|job| !job.series.is_empty());
    match all.is_empty() {
        false => format!(": {}", all.join("; ")),
        true if has_course => ", of which the course is known and no totals".to_owned(),
        true => ": no I/O".to_owned(),
    }
}

fn of_figures(kind: IoKind, figures: &Figures) -> String {
    let duration = duration_text(figures.runtime_ns as f64);
    let mut parts = vec![format!("{} {}s in {duration}", thousands(figures.n_ios), kind.name())];
    let metrics = [Metric::Iops, Metric::Bandwidth].into_iter();
    for metric in metrics.filter(|metric| *metric == Metric::Iops || kind != IoKind::Sync) {
        let value = metric.of(figures, None).unwrap_or_default();
        parts.push(format!("{}{} {}", metric.unit().digits(value), thin_mark(figures), metric.heading()));
    }
    let p99 = |latency: &LatencyFigures| Metric::P99.of(figures, Some(latency)).map(|value| Metric::P99.text(value));
    parts.extend(figures.latency().and_then(|(_, latency)| p99(latency)).map(|p99| format!("p99 {p99}")));
    parts.extend(figures.response.as_ref().and_then(p99).map(|p99| format!("p99 of responses {p99}")));
    parts.join(", ")
}

/// How many findings there are, by severity; empty: nobody has looked for any.
fn findings(result: &RunResult) -> String {
    let of = |severity: Severity| result.findings().filter(|finding| finding.severity == severity).count();
    let counted = Severity::ALL.into_iter().filter(|severity| of(*severity) > 0);
    let counted: Vec<String> = counted.map(|severity| format!("{} {}", of(severity), severity.word())).collect();
    match result.findings().count() {
        0 => String::new(),
        1 => format!(" One finding speaks about these figures ({}).", counted.join(", ")),
        n => format!(" {n} findings speak about these figures ({}).", counted.join(", ")),
    }
}

/// The searches for a steady state.
pub(super) fn steady(result: &RunResult) -> Markup {
    html! {
        @if !result.steady.is_empty() {
            h3 { "Steady state" }
            @for state in &result.steady {
                p { (state.job) ": " (state.criterion) " over " (state.window_secs) " s was "
                    strong { @if state.is_attained { "reached" } @else { "not reached" } }
                    "; the last window had " (state.measured) "." }
            }
        }
    }
}
