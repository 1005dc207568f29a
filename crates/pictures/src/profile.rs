//! The page of a profile: a data sheet, the parts with their curves, the courses of long runs, what was not measured, findings. One HTML file without scripts, which
//! loads nothing.
//!
//! Must not know: how a profile is made. Start reading at [`page`]. All texts are escaped by the templates.

use crate::draw::in_page;
use crate::outcome::{ShownLoops, ShownOutcome};
use crate::page::{rules, static_page};
use crate::plot;
use crate::sweep;
use ferrio_formats::RunResult;
use ferrio_stats::Finding;
use maud::{Markup, html};

/// The kind of picture that shows a long run.
const COURSE: &str = "over-time";

/// Columns of the data sheet that have words, the first ones.
const N_WORDS: usize = 2;

/// What the page shows.
pub struct ProfileView<'a> {
    pub title: String,
    /// The figures that most people ask for, in words; empty: there are none.
    pub answer: String,
    /// What was measured and how, a sentence each.
    pub facts: Vec<String>,
    /// Headings of the columns of the data sheet.
    pub columns: Vec<&'static str>,
    /// Its rows; false: the figures cannot be believed.
    pub rows: Vec<(Vec<String>, bool)>,
    pub sections: Vec<ProfilePart<'a>>,
    /// What was not measured, a sentence each.
    pub not_measured: &'a [String],
    /// The findings, each with the words for its parts.
    pub findings: Vec<(String, &'a Finding)>,
}

pub struct ProfilePart<'a> {
    pub title: &'a str,
    pub about: &'a str,
    pub figures: &'a dyn ShownOutcome,
    /// The same beside those of a closed loop, where they are of an open one.
    pub loops: Option<ShownLoops<'a>>,
    pub course: Option<&'a RunResult>,
}

pub fn page(view: &ProfileView<'_>) -> String {
    let content = html! {
        @if !view.answer.is_empty() { p class="answer" { (view.answer) } }
        @for fact in &view.facts { p class="remark" { (fact) } }
        (sheet(view))
        section {
            h2 { "Not measured" }
            ul { @for sentence in view.not_measured { li { (sentence) } } }
        }
        @for part in &view.sections { (section_of(part)) }
        (sweep::findings(&view.findings))
        (rules(view.findings.iter().map(|(_, finding)| *finding)))
    };
    static_page(&view.title, sweep::OWN_STYLE, &content)
}

fn sheet(view: &ProfileView<'_>) -> Markup {
    html! {
        section {
            h2 { "Data sheet" }
            p class="hint" { "Struck-out figures cannot be believed: a finding contradicts them. MB/s: millions of bytes a second. Latencies are from submission to completion; of users who do not wait, from the time at which they came; of syncs, their own." }
            div class="scroll" tabindex="0" role="region" aria-label="Data sheet" {
                table class="stacked sheet" {
                    thead { tr { @for (index, column) in view.columns.iter().enumerate() { th scope="col" class=[(index < N_WORDS).then_some("words")] { (column) } } } }
                    tbody {
                        @for (cells, is_believable) in &view.rows {
                            tr class=[(!is_believable).then_some("hollow")] { @for (index, cell) in cells.iter().enumerate() { td class=[(index < N_WORDS).then_some("words")] data-label=[(index > 0).then(|| view.columns[index])] { (cell) } } }
                        }
                    }
                }
            }
        }
    }
}

fn section_of(part: &ProfilePart<'_>) -> Markup {
    html! {
        section {
            h2 { (part.title) }
            p { (part.about) }
            @if let Some(picture) = part.course.and_then(course) { div class="course" { (picture) } }
            @match &part.loops {
                Some(loops) => (sweep::beside_each_other(loops)),
                None => (sweep::within_part(part.figures)),
            }
        }
    }
}

/// The course of a run as a picture; `None`: it has none.
fn course(result: &RunResult) -> Option<Markup> {
    let kind = plot::KINDS.iter().find(|kind| kind.name == COURSE)?;
    let picture = plot::picture(kind, std::slice::from_ref(result), None).ok()?;
    in_page(&picture).ok()
}
