//! The page of a sweep: curves, a map of two parameters, latency against throughput, all points, findings. One HTML file without scripts, which
//! loads nothing.
//!
//! Must not know: how a sweep is made. Start reading at [`page`]. All texts are escaped by the templates.

mod curves;
mod frame;
mod loops;
mod map;
mod table;

pub use loops::LoopsView;
pub(crate) use loops::beside_each_other;

use crate::page::{one_finding, rules, static_page};
use ferrio_formats::IoKind;
use ferrio_insight::repeats::RepeatedFigure;
use ferrio_stats::{Finding, Metric};
use maud::{Markup, html};

pub(crate) use frame::value_text;

pub(crate) const OWN_STYLE: &str = include_str!("sweep.css");

/// What the page shows.
#[derive(Debug, Clone)]
pub struct SweepView<'a> {
    /// Its heading.
    pub title: String,
    /// Names of the parameters, each with its values.
    pub axes: Vec<(String, Vec<String>)>,
    /// Number of runs at each point; 0: it differs.
    pub n_repeats: u32,
    /// The points that have runs.
    pub points: Vec<SweptPoint<'a>>,
    /// The findings, each with the words for its points.
    pub findings: Vec<(String, &'a Finding)>,
    /// What the sweep has found, a sentence each: the first thing that a reader wants to know.
    pub answers: Vec<String>,
    /// What else a reader should know, a sentence each.
    pub remarks: Vec<String>,
    /// The open loop beside the points.
    pub loops: Option<LoopsView<'a>>,
}

/// A point of a sweep.
#[derive(Debug, Clone)]
pub struct SweptPoint<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// Index of the value of each parameter.
    pub places: &'a [usize],
    /// No finding contradicts its figures, and no job failed.
    pub is_believable: bool,
    /// Its figures.
    pub figures: &'a [RepeatedFigure],
    /// The jobs and kinds of I/O whose knee it is.
    pub knee_of: Vec<(&'a str, IoKind)>,
}

/// A job and a kind of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SweptSubject<'a> {
    job_index: usize,
    job: &'a str,
    kind: IoKind,
}

impl<'a> SweptPoint<'a> {
    fn is_knee(&self, subject: SweptSubject<'_>) -> bool {
        self.knee_of.contains(&(subject.job, subject.kind))
    }

    fn figure(&self, subject: SweptSubject<'_>, metric: Metric) -> Option<&'a RepeatedFigure> {
        let is_it = |one: &&RepeatedFigure| {
            one.job_index == subject.job_index && one.kind == subject.kind && one.metric == metric
        };
        self.figures.iter().find(is_it)
    }
}

impl<'a> SweepView<'a> {
    /// The jobs with their kinds of I/O.
    fn subjects(&self) -> Vec<SweptSubject<'a>> {
        let mut subjects: Vec<SweptSubject<'a>> = Vec::new();
        for figure in self.points.iter().flat_map(|point| point.figures) {
            let subject = SweptSubject { job_index: figure.job_index, job: &figure.job, kind: figure.kind };
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        subjects.sort_by_key(|subject| (subject.job_index, subject.kind));
        subjects
    }

    /// The options of a point.
    fn options(&self, point: &SweptPoint<'_>) -> Vec<String> {
        let value = |((name, values), place): (&(String, Vec<String>), &usize)| {
            format!("{name}={}", values.get(*place).map_or("", String::as_str))
        };
        self.axes.iter().zip(point.places).map(value).collect()
    }
}

/// The page of a sweep.
pub fn page(view: &SweepView<'_>) -> String {
    let content = html! {
        @for answer in &view.answers { p class="answer" { (answer) } }
        @for remark in &view.remarks { p class="remark" { (remark) } }
        p class="hint" { (table::legend(view)) }
        @if let Some(loops) = &view.loops {
            section {
                h2 { "Closed loop and open loop" }
                (beside_each_other(loops))
            }
        }
        (subjects(view))
        (findings(&view.findings))
        (rules(view.findings.iter().map(|(_, finding)| *finding)))
    };
    static_page(&view.title, OWN_STYLE, &content)
}

/// Curves, maps and tables of all jobs.
fn subjects(view: &SweepView<'_>) -> Markup {
    html! {
        @for subject in view.subjects() {
            section {
                h2 { (subject.job) ": " (subject.kind.name()) }
                (of_subject(view, subject))
            }
        }
        @if view.subjects().is_empty() { p { "No job has done any I/O." } }
    }
}

/// The same for a part of another page, whose only job has no name that matters.
pub(crate) fn within_part(view: &SweepView<'_>) -> Markup {
    html! {
        @for subject in view.subjects() {
            h3 { (subject.kind.name()) }
            (of_subject(view, subject))
        }
    }
}

fn of_subject(view: &SweepView<'_>, subject: SweptSubject<'_>) -> Markup {
    html! {
        (curves::curves(view, subject))
        (map::maps(view, subject))
        (table::table(view, subject))
    }
}

/// Findings, each with the words for its points.
pub(crate) fn findings(findings: &[(String, &Finding)]) -> Markup {
    html! {
        section {
            h2 { "Findings" }
            @for (index, (place, finding)) in findings.iter().enumerate() {
                h3 class="place" { (place) }
                (one_finding(finding, &format!("finding-{}-{}", index + 1, finding.id), ""))
            }
            @if findings.is_empty() { p { "The evidence of the runs contradicts no figure." } }
        }
    }
}

#[cfg(test)]
mod tests;
