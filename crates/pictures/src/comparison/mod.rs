//! The page of comparisons: one HTML file without scripts, which loads nothing.
//!
//! Must not know: how verdicts are reached. Start reading at [`page`]. All texts of results are escaped by the templates.

mod interval;
pub mod words;

use crate::page::{one_finding, rules, static_page};
use ferrio_insight::compare::{ComparedFigure, ComparedJob, Comparison, ComparisonVerdict};
use interval::{PercentScale, picture};
use maud::{Markup, html};

const OWN_STYLE: &str = include_str!("comparison.css");

pub fn page(comparisons: &[Comparison]) -> String {
    let title = match comparisons {
        [comparison] => format!("Comparison of {}", words::heading(comparison)),
        _ => format!("{} comparisons", comparisons.len()),
    };
    let content = html! {
        @for (number, comparison) in comparisons.iter().enumerate() {
            (one(comparison, number, comparisons.len() > 1))
        }
        (rules(comparisons.iter().flat_map(|one| &one.findings).map(|found| &found.finding)))
    };
    static_page(&title, OWN_STYLE, &content)
}

fn one(comparison: &Comparison, number: usize, is_one_of_several: bool) -> Markup {
    let without_audit = words::without_audit(comparison);
    let figures = || comparison.jobs.iter().flat_map(|job| &job.figures);
    let scale = PercentScale::of(figures());
    html! {
        section {
            @if is_one_of_several { h2 { (words::heading(comparison)) } }
            p class="answer" { (words::answer(comparison)) }
            @for job in &comparison.jobs { (self::job(job, &scale)) }
            (surroundings(comparison))
            (options(comparison))
            (findings(comparison, number))
            @if !without_audit.is_empty() { p class="remark" { (without_audit) } }
            (lonely(&comparison.only_in_base, "the base"))
            (lonely(&comparison.only_in_new, "the new result"))
            @for remark in &comparison.remarks { p class="remark" { (remark) } }
            p class="hint" { (words::legend(comparison)) }
            @if figures().any(|figure| scale.cuts(figure)) { p class="hint" { (words::CUT) } }
            @if figures().any(|figure| !figure.contradicted_by.is_empty()) { p class="hint" { (words::MARK) } }
            @if words::rests_on_single_runs(comparison) { p class="remark" { (words::SINGLE_RUNS) } }
        }
    }
}

fn surroundings(comparison: &Comparison) -> Markup {
    html! {
        @for line in words::one_sided(comparison) { p class="hint" { (line) } }
        @if !comparison.surroundings.is_empty() {
            h3 { "Different machine, storage or program" }
            (differences("what", comparison.surroundings.iter().map(|fact| {
                let value = |value| words::or_nothing(value, "unknown").to_owned();
                [fact.what.clone(), value(fact.base.as_ref()), value(fact.new.as_ref()), String::new()]
            })))
        }
    }
}

fn options(comparison: &Comparison) -> Markup {
    html! {
        @if !comparison.options.is_empty() {
            h3 { "Different options of the jobs" }
            (differences("option", comparison.options.iter().map(|option| {
                let value = |value| words::or_nothing(value, "not given").to_owned();
                let other = if option.changes_work { "other work, " } else { "" };
                let jobs = format!("{other}{}", words::names(&option.jobs));
                [option.option.clone(), value(option.base.as_ref()), value(option.new.as_ref()), jobs]
            })))
        }
    }
}

/// A table of names with a value of each side, and a remark.
fn differences(heading: &str, rows: impl Iterator<Item = [String; 4]>) -> Markup {
    html! {
        div class="scrolls" tabindex="0" role="region" aria-label="Table of differences" {
            table class="texts" {
                thead { tr { th scope="col" { (heading) } th scope="col" { "base" } th scope="col" { "new" } th scope="col" {} } }
                tbody { @for [name, base, new, remark] in rows {
                    tr { th scope="row" { (name) } td { (base) } td { (new) } td class="hint" { (remark) } }
                } }
            }
        }
    }
}

fn findings(comparison: &Comparison, number: usize) -> Markup {
    html! {
        @if !comparison.findings.is_empty() { h3 { "Findings about the figures" } }
        @for (index, found) in comparison.findings.iter().enumerate() {
            (one_finding(&found.finding, &format!("finding-{number}-{}", index + 1), words::side(found)))
        }
    }
}

fn job(job: &ComparedJob, scale: &PercentScale) -> Markup {
    html! {
        h3 { (job.name) @if let Some(name) = &job.new_name { " (new: " (name) ")" } }
        @for direction in &job.only_in_base { p { (direction) ": only in the base" } }
        @for direction in &job.only_in_new { p { (direction) ": only in the new result" } }
        @if !job.figures.is_empty() {
            div class="scrolls" tabindex="0" role="region" aria-label=(format!("Figures of {}", job.name)) {
                table class="stacked compared" {
                    thead { tr {
                        th scope="col" { "figure" } th scope="col" { "base" } th scope="col" { "new" }
                        th scope="col" colspan="2" { "change" } th scope="col" { "interval" }
                        th scope="col" { (scale.words()) } th scope="col" { "n" } th scope="col" { "p" } th scope="col" { "verdict" }
                    } }
                    tbody { @for figure in &job.figures { (row(figure, scale)) } }
                }
            }
        }
        @for reason in words::reasons(job) { p class="hint" { (reason) } }
    }
}

fn row(figure: &ComparedFigure, scale: &PercentScale) -> Markup {
    html! {
        tr {
            th scope="row" { (figure.direction) " " (figure.metric.name()) }
            td { (words::value(figure.metric, figure.base)) }
            td { (words::value(figure.metric, figure.new)) }
            td { (words::change(figure)) }
            td { (words::absolute(figure)) }
            td { (words::interval(figure.change)) }
            td class="drawn" { (picture(figure, scale)) }
            td { (words::n(figure)) }
            td { (words::p(figure)) }
            td class=(class(figure.verdict)) title=(figure.reason) { (words::verdict(figure)) }
        }
    }
}

const fn class(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Same => "verdict same",
        ComparisonVerdict::Faster => "verdict faster",
        ComparisonVerdict::Slower => "verdict slower",
        ComparisonVerdict::Unknown => "verdict unknown",
        ComparisonVerdict::Differs => "verdict differs",
    }
}

fn lonely(names: &[String], side: &str) -> Markup {
    html! { @if !names.is_empty() { p { "Jobs only in " (side) ": " (names.join(", ")) } } }
}

#[cfg(test)]
mod tests;
