//! The page of a sweep: curves, a map of two parameters, latency against throughput, all points, findings. One HTML file without scripts, which
//! loads nothing.
//!
//! Must not know: how a sweep is made. Start reading at [`page`]. All texts are escaped by the templates.

mod curves;
mod loops;
mod map;
mod table;

pub(crate) use loops::beside_each_other;

use crate::outcome::{ShownOutcome, ShownParameter, ShownPoint, ShownSubject};
use crate::page::{one_finding, rules, static_page};
use ferrio_stats::Finding;
use maud::{Markup, html};

pub(crate) const OWN_STYLE: &str = include_str!("sweep.css");

pub struct SweepPage<'a> {
    pub title: String,
    /// The points with their figures.
    pub outcome: &'a dyn ShownOutcome,
    /// The findings, each with the words for its points.
    pub findings: Vec<(String, &'a Finding)>,
    /// What the sweep has found, a sentence each: the first thing that a reader wants to know.
    pub answers: Vec<String>,
    /// What else a reader should know, a sentence each.
    pub remarks: Vec<String>,
}

/// An outcome and what is read of it once.
struct ReadOutcome<'a> {
    outcome: &'a dyn ShownOutcome,
    parameters: Vec<ShownParameter>,
    points: Vec<&'a dyn ShownPoint>,
    marks_knees: bool,
}

impl<'a> ReadOutcome<'a> {
    fn of(outcome: &'a dyn ShownOutcome) -> Self {
        Self { outcome, parameters: outcome.parameters(), points: outcome.points(), marks_knees: true }
    }

    /// The jobs with their kinds of I/O.
    fn subjects(&self) -> Vec<ShownSubject<'a>> {
        ShownSubject::of_points(self.points.iter().copied())
    }

    fn is_knee(&self, point: &dyn ShownPoint, subject: ShownSubject<'_>) -> bool {
        self.marks_knees && self.outcome.is_knee(point.number(), subject.job, subject.kind)
    }

    fn options(&self, point: &dyn ShownPoint) -> Vec<String> {
        let value = |(parameter, place): (&ShownParameter, &usize)| {
            format!("{}={}", parameter.name, parameter.values.get(*place).map_or("", String::as_str))
        };
        self.parameters.iter().zip(point.places()).map(value).collect()
    }
}

pub fn page(page: &SweepPage<'_>) -> String {
    let view = ReadOutcome::of(page.outcome);
    let content = html! {
        @for answer in &page.answers { p class="answer" { (answer) } }
        @for remark in &page.remarks { p class="remark" { (remark) } }
        p class="hint" { (table::legend(page.outcome)) }
        @if let Some(loops) = page.outcome.loops() {
            section {
                h2 { "Closed loop and open loop" }
                (beside_each_other(&loops))
            }
        }
        (subjects(&view))
        (findings(&page.findings))
        (rules(page.findings.iter().map(|(_, finding)| *finding)))
    };
    static_page(&page.title, OWN_STYLE, &content)
}

/// Curves, maps and tables of all jobs.
fn subjects(view: &ReadOutcome<'_>) -> Markup {
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

/// The same for a part of another page, whose only job has no name that matters, and which marks no knees.
pub(crate) fn within_part(outcome: &dyn ShownOutcome) -> Markup {
    let view = ReadOutcome { marks_knees: false, ..ReadOutcome::of(outcome) };
    html! {
        @for subject in view.subjects() {
            h3 { (subject.kind.name()) }
            (of_subject(&view, subject))
        }
    }
}

fn of_subject(view: &ReadOutcome<'_>, subject: ShownSubject<'_>) -> Markup {
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
