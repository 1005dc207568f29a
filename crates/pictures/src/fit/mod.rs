//! The page of a fit: the verdict, limits with what was measured, what broken limits mean, the loads, traces, findings. One HTML file without scripts, which
//! loads nothing.
//!
//! Must not know: how a verdict is reached. Start reading at [`page`]. All texts are escaped by the templates.

mod picture;
mod spread;

use crate::draw::definitions_in_page;
use crate::page::{rules, static_page};
use crate::sweep;
use ferrio_insight::limits::{FitBound, FitVerdict, LimitSource};
use ferrio_stats::{Finding, Metric};
use maud::{Markup, html};

const OWN_STYLE: &str = include_str!("fit.css");

/// Columns of the figures of a load that have words, the first ones.
const N_WORDS: usize = 2;

/// What the page shows.
#[derive(Debug, Clone)]
pub struct FitView<'a> {
    /// The verdict in words, which is the heading.
    pub headline: String,
    /// The verdict; `None`: the recipe has no limits.
    pub verdict: Option<FitVerdict>,
    /// What was run and where, a sentence each.
    pub facts: Vec<String>,
    /// The limits, in the order of the loads.
    pub limits: Vec<FitRow<'a>>,
    /// Loads whose jobs did not reach their rates.
    pub missed: Vec<FitMissed>,
    /// The program and what it does to storage, a sentence or more.
    pub about: String,
    pub loads: Vec<FitLoadView<'a>>,
    /// Traces of the program beside the loads.
    pub traces: Vec<FitTraceView<'a>>,
    /// The findings, each with the words for its loads.
    pub findings: Vec<(String, &'a Finding)>,
}

/// The class of a verdict in the style sheet.
const fn class(verdict: FitVerdict) -> &'static str {
    match verdict {
        FitVerdict::Fits => "fits",
        FitVerdict::CantTell => "cant-tell",
        FitVerdict::DoesNotFit => "does-not-fit",
    }
}

/// A load whose jobs did not reach their rates.
#[derive(Debug, Clone)]
pub struct FitMissed {
    /// Whether that is certain, and the storage the reason.
    pub mark: FitVerdict,
    pub verdict: &'static str,
    /// What the jobs did, and why, a sentence or more.
    pub words: String,
}

/// A limit and what the runs tell of it. Latencies are in nanoseconds, rates are I/Os or bytes per second.
#[derive(Debug, Clone)]
pub struct FitRow<'a> {
    /// The figure, the job and the load: `sync.p99 of wal (load small)`.
    pub subject: String,
    /// The unit: limits of one unit share a scale.
    pub metric: Metric,
    pub verdict: FitVerdict,
    /// The limit; `None`: it is no value.
    pub bound: Option<FitBound>,
    /// The same in words: `at most 10.0 ms`.
    pub limit_text: String,
    /// The figure in each run; none: the runs do not have it.
    pub values: &'a [f64],
    /// Their mean, and the same in words.
    pub mean: (f64, String),
    /// Where the true mean is.
    pub interval: Option<[f64; 2]>,
    /// How far from the limit, in words.
    pub distance: String,
    /// What it means for the program, or why the runs do not decide; `None`: the limit holds.
    pub reason: Option<String>,
    pub source: &'a LimitSource,
}

#[derive(Debug, Clone)]
pub struct FitLoadView<'a> {
    pub name: &'a str,
    pub about: &'a str,
    pub jobs: &'a str,
    /// Headings of the columns of its figures.
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
    /// Latencies that limits are about.
    pub spreads: Vec<FitSpread>,
    /// How much more load there may be.
    pub headroom: Option<FitHeadroom>,
}

/// The percentiles of a latency, and the limits of some of them.
#[derive(Debug, Clone)]
pub struct FitSpread {
    /// The job and the kind of I/O.
    pub heading: String,
    /// The percentiles, ascending: which, nanoseconds (of all runs together), and the same in words.
    pub percentiles: Vec<(Metric, f64, String)>,
    /// The limits: of which percentile, nanoseconds, and whether it must not be above.
    pub limits: Vec<(Metric, f64, bool)>,
}

/// How many times the load the storage carries.
#[derive(Debug, Clone)]
pub struct FitHeadroom {
    /// The load may certainly be so many times as large.
    pub fits_times: f64,
    /// It certainly may not be so many times as large; `None`: no limit has broken.
    pub breaks_times: Option<f64>,
    /// The same in words, with what ends it.
    pub words: String,
}

/// A trace of the program beside a load.
#[derive(Debug, Clone)]
pub struct FitTraceView<'a> {
    /// The program and the load.
    pub heading: String,
    /// How the program was driven and traced.
    pub how: &'a str,
    /// Figures: the name, in the trace, in the load.
    pub rows: Vec<[String; 3]>,
    /// Where both differ, a sentence each.
    pub differences: Vec<&'a str>,
}

pub fn page(view: &FitView<'_>) -> String {
    let content = html! {
        (definitions_in_page())
        @for fact in &view.facts { p class="remark" { (fact) } }
        (missed(view))
        (limits(view))
        (reasons(view))
        section {
            h2 { "The load" }
            p { (view.about) }
            @for load in &view.loads { (self::load(load)) }
        }
        (traces(view))
        (sweep::findings(&view.findings))
        (rules(view.findings.iter().map(|(_, finding)| *finding)))
    };
    let verdict = view.verdict.map_or("line", class);
    let style = format!("{}{OWN_STYLE}:root {{ --verdict: var(--{verdict}); }}\n", sweep::OWN_STYLE);
    static_page(&view.headline, &style, &content)
}

/// Loads that are not done say more than limits of their latencies.
fn missed(view: &FitView<'_>) -> Markup {
    html! {
        @if !view.missed.is_empty() {
            section {
                h2 { "Rates of the load" }
                @for missed in &view.missed {
                    (picture::verdict(missed.mark, missed.verdict))
                    p { (missed.words) }
                }
            }
        }
    }
}

fn limits(view: &FitView<'_>) -> Markup {
    html! {
        @if !view.limits.is_empty() {
            section {
                h2 { "Limits" }
                (picture::groups(&view.limits))
                p class="hint" {
                    "The thick line is the limit, its arrow points to the good side, and the hatched side is beyond it. Circles are the runs, and the line across the bar is "
                    "the figure: of a percentile, that of the I/Os of all runs together, else the geometric mean of the runs. The bar is where the true figure is: each of its ends is certain "
                    "to 99 %. A limit is decided where it is outside the bar, and a percentile fits after 12 runs at the earliest."
                }
            }
        }
    }
}

/// What limits mean that do not hold, or that are not decided.
fn reasons(view: &FitView<'_>) -> Markup {
    let told = || view.limits.iter().filter_map(|row| Some((row, row.reason.as_ref()?)));
    html! {
        @if told().next().is_some() {
            section {
                h2 { "What this means" }
                @for (row, reason) in told() {
                    p { (reason) }
                    p class="hint" { "Source: " (source(row.source)) ": " (row.source.says) }
                }
            }
        }
    }
}

/// A source with a link. Recipes are files of anybody: only addresses of the web become links.
fn source(source: &LimitSource) -> Markup {
    let is_of_web = ["https://", "http://"].iter().any(|scheme| source.url.starts_with(scheme));
    html! {
        @if is_of_web {
            a href=(source.url) { (source.title) } ", " (source.year)
        } @else {
            (source.title) ", " (source.year) " (" (source.url) ")"
        }
    }
}

fn load(load: &FitLoadView<'_>) -> Markup {
    html! {
        h3 { "Load " (load.name) }
        p { (load.about) }
        @if let Some(headroom) = &load.headroom { (picture::headroom(headroom, load.name)) }
        @if load.rows.is_empty() {
            p { "No job of it has done any I/O." }
        } @else {
            div class="scroll" tabindex="0" role="region" aria-label=(format!("Figures of load {}", load.name)) {
                table {
                    caption { "Percentiles are those of the I/Os of all runs together. Rates are the arithmetic means of the runs, mean latencies the geometric ones. MB/s: millions of bytes a second." }
                    thead { tr { @for (index, column) in load.columns.iter().enumerate() { th scope="col" class=[words_class(index)] { (column) } } } }
                    tbody {
                        @for cells in &load.rows {
                            tr { @for (index, cell) in cells.iter().enumerate() { td class=[words_class(index)] { (cell) } } }
                        }
                    }
                }
            }
        }
        @if !load.spreads.is_empty() { (spread::spreads(&load.spreads)) }
        pre tabindex="0" role="region" aria-label=(format!("Jobs of load {}", load.name)) { (load.jobs.trim()) }
    }
}

fn words_class(column: usize) -> Option<&'static str> {
    (column < N_WORDS).then_some("words")
}

fn traces(view: &FitView<'_>) -> Markup {
    html! {
        @for trace in &view.traces {
            section {
                h2 { (trace.heading) }
                p { (trace.how) }
                @if !trace.rows.is_empty() {
                    div class="scroll" tabindex="0" role="region" aria-label=(trace.heading) {
                        table {
                            thead { tr { th scope="col" { "figure" } th scope="col" { "traced" } th scope="col" { "here" } } }
                            tbody { @for [name, traced, here] in &trace.rows { tr { th scope="row" class="fact" { (name) } td { (traced) } td { (here) } } } }
                        }
                    }
                }
                @if !trace.differences.is_empty() {
                    h3 { "Different" }
                    ul { @for difference in &trace.differences { li { (difference) } } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
