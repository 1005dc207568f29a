//! A comparison as text for a terminal.
//!
//! Must not know: how verdicts are reached. Start reading at [`text`].

use ferrio_formats::native::{ColumnLayout, TEXT_WIDTH, wrap};
use ferrio_insight::compare::{ComparedJob, Comparison};
use ferrio_pictures::comparison::words;

const N_COLUMNS: usize = 10;
const HEADINGS: [&str; N_COLUMNS] = ["", "", "base", "new", "change", "", "interval", "n", "p", "verdict"];
/// Columns whose values are on the right.
const ON_THE_RIGHT: std::ops::Range<usize> = 2..9;

/// The comparisons, one below the other.
pub(super) fn text(comparisons: &[Comparison]) -> String {
    comparisons.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(comparison: &Comparison) -> String {
    let mut text = wrap(&format!("Comparison of {}", printable(&words::heading(comparison))), "", TEXT_WIDTH);
    differences(&mut text, comparison);
    findings(&mut text, comparison);
    for job in &comparison.jobs {
        self::job(&mut text, job);
    }
    notes(&mut text, comparison);
    text
}

/// A paragraph with an empty line before it.
fn paragraph(text: &mut String, line: &str) {
    text.push('\n');
    text.push_str(&wrap(&printable(line), "", TEXT_WIDTH));
}

/// An item below a heading.
fn item(text: &mut String, line: &str) {
    text.push_str(&wrap(&format!("- {}", printable(line)), "  ", TEXT_WIDTH));
}

/// Texts of results may hold anything, also what steers a terminal.
fn printable(text: &str) -> String {
    ferrio_units::terminal_text::escape_name(text)
}

fn differences(text: &mut String, comparison: &Comparison) {
    if !comparison.surroundings.is_empty() {
        paragraph(text, "Different machine, storage or program:");
    }
    for fact in &comparison.surroundings {
        let (base, new) =
            (words::or_nothing(fact.base.as_ref(), "unknown"), words::or_nothing(fact.new.as_ref(), "unknown"));
        item(text, &format!("{}: {base} -> {new}", fact.what));
    }
    for line in words::one_sided(comparison) {
        paragraph(text, &line);
    }
    if !comparison.options.is_empty() {
        paragraph(text, "Different options of the jobs:");
    }
    for option in &comparison.options {
        let (base, new) =
            (words::or_nothing(option.base.as_ref(), "not given"), words::or_nothing(option.new.as_ref(), "not given"));
        let other = if option.changes_work { " (other work)" } else { "" };
        item(text, &format!("{}: {base} -> {new}{other}, {}", option.option, words::names(&option.jobs)));
    }
}

fn findings(text: &mut String, comparison: &Comparison) {
    if !comparison.findings.is_empty() {
        paragraph(text, "Findings about the figures:");
    }
    for found in &comparison.findings {
        let (side, finding) = (words::side(found), &found.finding);
        let scope = words::scope(finding);
        item(text, &format!("{} ({}, {side}{scope}): {}", finding.title, finding.severity.word(), finding.explanation));
    }
    let without_audit = words::without_audit(comparison);
    if !without_audit.is_empty() {
        paragraph(text, &without_audit);
    }
}

fn job(text: &mut String, job: &ComparedJob) {
    let renamed = job.new_name.as_ref().map(|name| format!(" (new: {name})")).unwrap_or_default();
    paragraph(text, &format!("{}{renamed}", job.name));
    for (directions, side) in [(&job.only_in_base, "the base"), (&job.only_in_new, "the new result")] {
        for direction in directions {
            item(text, &format!("{direction}: only in {side}"));
        }
    }
    let mut rows: Vec<[String; N_COLUMNS]> = Vec::new();
    if !job.figures.is_empty() {
        rows.push(HEADINGS.map(str::to_owned));
    }
    let mut before = None;
    for figure in &job.figures {
        let direction = if before == Some(figure.direction) { "" } else { figure.direction };
        before = Some(figure.direction);
        rows.push([
            direction.to_owned(),
            figure.metric.name().to_owned(),
            words::value(figure.metric, figure.base),
            words::value(figure.metric, figure.new),
            words::change(figure),
            words::absolute(figure),
            words::interval(figure.change),
            words::n(figure),
            words::p(figure),
            words::verdict(figure),
        ]);
    }
    let layout = ColumnLayout::of(&rows, |column| !ON_THE_RIGHT.contains(&column));
    text.extend(rows.iter().map(|row| layout.line(row)));
    for reason in words::reasons(job) {
        item(text, &reason);
    }
}

fn notes(text: &mut String, comparison: &Comparison) {
    for (names, side) in [(&comparison.only_in_base, "the base"), (&comparison.only_in_new, "the new result")] {
        if !names.is_empty() {
            paragraph(text, &format!("Jobs only in {side}: {}", names.join(", ")));
        }
    }
    for remark in &comparison.remarks {
        paragraph(text, remark);
    }
    paragraph(text, &words::legend(comparison));
    if comparison.jobs.iter().flat_map(|job| &job.figures).any(|figure| !figure.contradicted_by.is_empty()) {
        paragraph(text, words::MARK);
    }
    if words::rests_on_single_runs(comparison) {
        paragraph(text, words::SINGLE_RUNS);
    }
}
