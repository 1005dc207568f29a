//! The table of the figures that most readers look for.
//!
//! Must not know: findings, charts. Start reading at [`headline`].

use crate::job_names::job_names;
use ferrio_formats::native::{NOTHING, THIN_MARK, thin_legend};
use ferrio_formats::{CpuFigures, Figures, JobResult, LatencyFigures, RunResult};
use ferrio_stats::{IoKind, Metric};
use ferrio_units::humanize::{counted, thousands};
use maud::{Markup, html};
use std::borrow::Cow;

/// The figures of a row.
const RATES: [Metric; 2] = [Metric::Iops, Metric::Bandwidth];
const LATENCIES: [Metric; 5] = [Metric::MeanLatency, Metric::P50, Metric::P99, Metric::P999, Metric::Max];

/// Columns between the name of a job and its errors.
const N_FIGURES: usize = 10;

/// One row a job and direction, and one for its syncs; clones are one job that opens. Below them the jobs that ran at the same time
/// together.
pub(super) fn headline(result: &RunResult) -> Markup {
    let parts = parts(result);
    let totals = totals(result, &parts);
    let has_responses = parts.iter().flat_map(|part| &part.rows).any(|row| row.response().is_some());
    html! {
        h3 { "Figures" }
        @if parts.iter().all(|part| part.rows.is_empty()) {
            p { "The result has no totals." }
        } @else {
            div class="scrolls" tabindex="0" role="region" aria-label="Table of figures" {
                table class="stacked headline" {
                    caption { span {
                        "Latencies from submission to completion. "
                        @if has_responses { "(response): from the time at which the rate wanted an I/O to start. " }
                        "MB/s: millions of bytes a second."
                    } }
                    thead { tr {
                        th scope="col" { "job" } th scope="col" { "direction" }
                        @for metric in RATES.into_iter().chain(LATENCIES) { th scope="col" { (metric.heading()) } }
                        th scope="col" { "I/Os" } th scope="col" { "CPU user, system" } th scope="col" class="errors" { "errors" }
                    } }
                    @for (index, part) in parts.iter().enumerate() { (self::part(part, &format!("clones-{}-{index}", result.number))) }
                    @if !totals.is_empty() { tbody class="total" { @for row in &totals { (self::row(row, None)) } } }
                }
            }
            @let rows = || parts.iter().flat_map(|part| part.rows.iter().chain(&part.clones)).chain(&totals);
            @if rows().any(|row| row.figures.as_ref().is_some_and(|figures| figures.has_thin_rates())) {
                p class="hint" { (thin_legend()) }
            }
            @if result.ran_together(&result.jobs.iter().collect::<Vec<_>>()).len() > 1 {
                p class="hint" { "Rates of jobs that ran one after the other, or of which it is not known when they ran, are not added." }
            }
        }
    }
}

struct FigureRow<'a> {
    name: String,
    kind: IoKind,
    /// `None`: no I/O.
    figures: Option<Cow<'a, Figures>>,
    cpu: Option<CpuFigures>,
    errors: String,
    has_failed: bool,
}

impl FigureRow<'_> {
    fn response(&self) -> Option<&LatencyFigures> {
        self.figures.as_ref()?.response.as_ref()
    }
}

/// A job, or the clones of one.
struct TablePart<'a> {
    rows: Vec<FigureRow<'a>>,
    /// The rows of each clone; empty: it has none.
    clones: Vec<FigureRow<'a>>,
    n_clones: usize,
    members: Vec<&'a JobResult>,
}

/// The jobs, of which those that follow each other with the same name, group and options are clones of one.
fn parts(result: &RunResult) -> Vec<TablePart<'_>> {
    let is_clone = |one: &JobResult, next: &JobResult| {
        (&one.name, one.group_index, &one.options) == (&next.name, next.group_index, &next.options)
    };
    let mut parts = Vec::new();
    for members in result.jobs.chunk_by(is_clone) {
        let members: Vec<&JobResult> = members.iter().collect();
        match &members[..] {
            [job] => {
                let clones = job.clones.iter().enumerate().flat_map(|(index, clone)| rows(clone, index + 1)).collect();
                parts.push(TablePart { rows: rows(job, 0), clones, n_clones: job.clones.len(), members });
            }
            _ => match joined(result, &members, &members[0].name) {
                Some(joined) => {
                    let clones = members.iter().enumerate().flat_map(|(index, clone)| rows(clone, index + 1)).collect();
                    parts.push(TablePart { rows: joined, clones, n_clones: members.len(), members });
                }
                None => parts.extend(members.iter().map(|job| TablePart {
                    rows: rows(job, 0),
                    clones: Vec::new(),
                    n_clones: 1,
                    members: vec![*job],
                })),
            },
        }
    }
    parts
}

/// The rows of a job; `number`: that of a clone, from 1.
fn rows(job: &JobResult, number: usize) -> Vec<FigureRow<'_>> {
    let name = if number > 0 { format!("{} ({number})", job.name) } else { job.name.clone() };
    let row = |kind, figures: Option<&'_ Figures>| (kind, figures.cloned());
    let kinds: Vec<(IoKind, Option<Figures>)> = job.kinds().map(|(kind, figures)| row(kind, Some(figures))).collect();
    let kinds = if kinds.is_empty() && has_failed(job) { vec![row(IoKind::Read, None)] } else { kinds };
    let of_kind = |(kind, figures): (IoKind, Option<Figures>)| FigureRow {
        name: name.clone(),
        kind,
        figures: figures.map(Cow::Owned),
        cpu: job.cpu,
        errors: errors(&[job]),
        has_failed: has_failed(job),
    };
    kinds.into_iter().map(of_kind).collect()
}

/// The rows of several jobs together; `None`: it is unknown which of them ran at the same time.
fn joined<'a>(result: &'a RunResult, jobs: &[&'a JobResult], name: &str) -> Option<Vec<FigureRow<'a>>> {
    let mut all = Vec::new();
    for kind in IoKind::ALL {
        let Some(figures) = result.figures_together(jobs, kind).ok()? else { continue };
        all.push(FigureRow {
            name: name.to_owned(),
            kind,
            figures: Some(Cow::Owned(figures)),
            cpu: None,
            errors: errors(jobs),
            has_failed: jobs.iter().any(|job| has_failed(job)),
        });
    }
    Some(all)
}

/// Rows of the jobs that ran at the same time together, where these are several ones.
fn totals<'a>(result: &'a RunResult, parts: &[TablePart<'a>]) -> Vec<FigureRow<'a>> {
    let jobs: Vec<&JobResult> = result.jobs.iter().collect();
    let mut all = Vec::new();
    for set in result.ran_together(&jobs) {
        let is_of_set =
            |part: &&TablePart<'_>| part.members.iter().all(|job| set.iter().any(|one| std::ptr::eq(*one, *job)));
        let n_parts = parts.iter().filter(is_of_set).count();
        if n_parts < 2 {
            continue;
        }
        let n_jobs: usize = set.iter().map(|job| job.clones.len().max(1)).sum();
        let name = if set.len() == jobs.len() {
            format!("all {n_jobs} jobs")
        } else {
            format!("{n_jobs} jobs: {}", job_names(&set))
        };
        all.extend(joined(result, &set, &name).unwrap_or_default());
    }
    all
}

/// True for a job that ended with an error, or went on after some.
fn has_failed(job: &JobResult) -> bool {
    job.error != 0 || job.n_errors > 0
}

/// What went wrong in some jobs.
fn errors(jobs: &[&JobResult]) -> String {
    let sum = |value: &dyn Fn(&JobResult) -> u64| jobs.iter().fold(0_u64, |sum, job| sum.saturating_add(value(job)));
    let n_ios = || sum(&|job| job.active().fold(0_u64, |sum, (_, figures)| sum.saturating_add(figures.n_ios)));
    let n_failed = sum(&|job| u64::from(job.error != 0));
    let n_errors = sum(&|job| job.n_errors);
    let failed = match (jobs, n_failed) {
        (_, 0) => None,
        ([job], _) => {
            Some(format!("failed after {}: {}", counted(n_ios(), "I/O", "I/Os"), ferrio_units::errno_text(job.error)))
        }
        _ => Some(format!("{} of {} jobs failed", thousands(n_failed), thousands(jobs.len() as u64))),
    };
    let tolerated = (n_errors > 0).then(|| format!("{} failed", counted(n_errors, "I/O", "I/Os")));
    match (failed, tolerated) {
        (None, None) => "none".to_owned(),
        (failed, tolerated) => failed.into_iter().chain(tolerated).collect::<Vec<_>>().join("; "),
    }
}

/// The rows of a job; those of its clones are shown when its button is pressed.
fn part(part: &TablePart<'_>, id: &str) -> Markup {
    let opens = (!part.clones.is_empty()).then_some((id, part.n_clones));
    html! {
        tbody { @for (index, row) in part.rows.iter().enumerate() { (self::row(row, opens.filter(|_| index == 0))) } }
        @if !part.clones.is_empty() {
            tbody id=(id) class="clones" { @for row in &part.clones { (self::row(row, None)) } }
        }
    }
}

/// A row, and one below it for its response latencies; `opens`: the part of the table that its button opens, and how many clones it has.
fn row(row: &FigureRow<'_>, opens: Option<(&str, usize)>) -> Markup {
    html! {
        tr class=[row.has_failed.then_some("failed")] {
            th scope="row" {
                (row.name)
                @if let Some((id, n_clones)) = opens {
                    " " button type="button" class="opens" aria-expanded="true" aria-controls=(id) { (n_clones) " clones" }
                }
            }
            @match &row.figures {
                Some(figures) => (cells(row.kind, figures, row.cpu)),
                None => td colspan=(N_FIGURES) { "no I/O" },
            }
            td class="errors" { (row.errors) }
        }
        @if let Some(response) = row.response() {
            tr {
                th scope="row" { (row.name) }
                td { (row.kind.name()) " (response)" } td {} td {}
                (latency_cells(Some(response)))
                td {} td {} td class="errors" {}
            }
        }
    }
}

/// The cells from the direction to the use of the CPU.
fn cells(kind: IoKind, figures: &Figures, cpu: Option<CpuFigures>) -> Markup {
    html! {
        td { (kind.name()) }
        @for metric in RATES {
            // Syncs move no data.
            @match metric.of(figures, None).filter(|_| metric == Metric::Iops || kind != IoKind::Sync) {
                Some(value) => td data-value=(value) { (metric.unit().digits(value)) (thin_mark(figures)) },
                None => td { (NOTHING) },
            }
        }
        (latency_cells(figures.latency().map(|(_, latency)| latency)))
        td { (thousands(figures.n_ios)) }
        td { (cpu.map_or_else(|| NOTHING.to_owned(), |cpu| format!("{:.1} %, {:.1} %", cpu.user_percent, cpu.system_percent))) }
    }
}

/// The mark of rates that rest on little.
pub(super) fn thin_mark(figures: &Figures) -> &'static str {
    if figures.has_thin_rates() { THIN_MARK } else { "" }
}

/// The cells from the mean to the longest latency.
fn latency_cells(latency: Option<&LatencyFigures>) -> Markup {
    let value = |metric: Metric| metric.of(&Figures::default(), latency);
    html! { @for metric in LATENCIES { td { (metric.cell_or(value(metric), NOTHING)) } } }
}
