//! The figures of a comparison as text, for pages and for a terminal.
//!
//! Must not know: tables, markup. Start reading at [`value`].

use ferrio_formats::native::NOTHING;
use ferrio_insight::compare::{
    ComparedFigure, ComparedFinding, ComparedJob, Comparison, ComparisonBasis, ComparisonVerdict, FigureChange,
};
use ferrio_stats::{Finding, Metric};
use ferrio_units::humanize::three_digits;

/// A figure with its unit.
pub fn value(metric: Metric, value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| metric.text(value))
}

/// A difference with its sign and unit.
fn difference(metric: Metric, difference: f64) -> String {
    let size = value(metric, Some(difference.abs()));
    let is_nothing = size.bytes().all(|byte| !(b'1'..=b'9').contains(&byte));
    let sign = if is_nothing {
        ""
    } else if difference < 0.0 {
        "-"
    } else {
        "+"
    };
    format!("{sign}{size}")
}

pub fn percent(percent: f64) -> String {
    match percent.abs() {
        size if size < 0.05 => "0.0 %".to_owned(),
        size if size < 1000.0 => format!("{percent:+.1} %"),
        _ => format!("{}{} %", if percent < 0.0 { "-" } else { "+" }, three_digits(percent.abs())),
    }
}

/// The change in percent.
pub fn change(figure: &ComparedFigure) -> String {
    figure.change.map_or_else(|| NOTHING.to_owned(), |change| percent(change.percent))
}

/// The change in the unit of the figure.
pub fn absolute(figure: &ComparedFigure) -> String {
    figure.change.map_or_else(|| NOTHING.to_owned(), |change| difference(figure.metric, change.absolute))
}

/// An interval that reaches so far says nothing, percent.
const MOST_PERCENT: f64 = 10_000.0;

pub fn interval(change: Option<FigureChange>) -> String {
    let ends = change.and_then(|change| change.interval_percent);
    match ends {
        None => NOTHING.to_owned(),
        Some([_, high]) if high > MOST_PERCENT => "not known".to_owned(),
        Some([low, high]) => format!("{} to {}", percent(low), percent(high)),
    }
}

/// Figures that the answer names of a kind, at most.
const MOST_NAMED: usize = 3;

/// What the comparison says, in a sentence or two: the first thing that a reader wants to know.
pub fn answer(comparison: &Comparison) -> String {
    let figures = || comparison.jobs.iter().flat_map(|job| job.figures.iter().map(move |figure| (job, figure)));
    let named = |verdict: ComparisonVerdict| {
        let of_it: Vec<String> = figures()
            .filter(|(_, figure)| figure.verdict == verdict)
            .map(|(job, figure)| changed(job, figure))
            .collect();
        let more = of_it.len().saturating_sub(MOST_NAMED);
        let listed = of_it.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let listed = if more > 0 { format!("{listed} and {more} more") } else { listed };
        (!of_it.is_empty()).then_some(listed)
    };
    let (slower, faster) = (named(ComparisonVerdict::Slower), named(ComparisonVerdict::Faster));
    let n_unknown = figures().filter(|(_, figure)| figure.verdict == ComparisonVerdict::Unknown).count();
    let doubt = if figures().any(|(_, figure)| !figure.contradicted_by.is_empty()) {
        " A finding contradicts some of these figures."
    } else {
        ""
    };
    let answer = match (slower, faster, named(ComparisonVerdict::Differs)) {
        (Some(slower), Some(faster), _) => format!("Slower and faster. Slower: {slower}. Faster: {faster}."),
        (Some(slower), None, _) => format!("Slower: {slower}."),
        (None, Some(faster), _) => format!("Faster: {faster}."),
        (None, None, Some(differs)) => format!("Different: {differs}."),
        _ if figures().next().is_none() => "Nothing to compare: the results have no figure in common.".to_owned(),
        _ if n_unknown == 0 => "No difference: all figures are the same.".to_owned(),
        _ => format!("Can't tell: none of {} figures differs for certain.", figures().count()),
    };
    format!("{answer}{doubt}")
}

/// A figure with its change and the interval: `db read iops -10.7 % (-17.0 % to -3.9 %)`.
fn changed(job: &ComparedJob, figure: &ComparedFigure) -> String {
    let name = format!("{} {} {} {}", job.name, figure.direction, figure.metric.name(), change(figure));
    match figure.change.and_then(|change| change.interval_percent) {
        Some(_) => format!("{name} ({})", interval(figure.change)),
        None => name,
    }
}

/// The verdict, with a mark where a finding contradicts the figure.
pub fn verdict(figure: &ComparedFigure) -> String {
    let mark = if figure.contradicted_by.is_empty() { "" } else { " (!)" };
    format!("{}{mark}", figure.verdict.words())
}

/// What is compared, in a line.
pub fn heading(comparison: &Comparison) -> String {
    format!("{} (base) and {} (new)", comparison.base.results.join(", "), comparison.new.results.join(", "))
}

pub fn side(finding: &ComparedFinding) -> &'static str {
    match (finding.in_base, finding.in_new) {
        (true, true) => "on both sides",
        (true, false) => "in the base only",
        _ => "in the new result only",
    }
}

/// Number of results of both sides that have the figure.
pub fn n(figure: &ComparedFigure) -> String {
    let [base, new] = figure.n;
    format!("{base}, {new}")
}

/// The probability with which chance makes such a change.
pub fn p(figure: &ComparedFigure) -> String {
    match figure.p {
        None => NOTHING.to_owned(),
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) if p < 0.1 => format!("{p:.3}"),
        Some(p) => format!("{p:.2}"),
    }
}

/// What verdicts without an interval rest on, or why there are none, each with the figures that it is about: sentences.
pub fn reasons(job: &ComparedJob) -> Vec<String> {
    let mut reasons: Vec<(&'static str, &str, Vec<String>)> = Vec::new();
    for figure in &job.figures {
        let has_interval = figure.change.is_some_and(|change| change.interval_percent.is_some());
        let verdict = match figure.verdict {
            ComparisonVerdict::Unknown => "Can't tell",
            ComparisonVerdict::Differs => "Different",
            _ => continue,
        };
        if has_interval {
            continue;
        }
        let name = format!("{} {}", figure.direction, figure.metric.name());
        match reasons.iter_mut().find(|known| known.0 == verdict && known.1 == figure.reason) {
            Some((_, _, names)) => names.push(name),
            None => reasons.push((verdict, &figure.reason, vec![name])),
        }
    }
    let sentence =
        |(verdict, reason, names): (&str, &str, Vec<String>)| format!("{verdict} ({}): {reason}.", names.join(", "));
    reasons.into_iter().map(sentence).collect()
}

/// Facts that only one side tells, a sentence for each side.
pub fn one_sided(comparison: &Comparison) -> Vec<String> {
    let sides = [("The base", &comparison.known_of_base), ("The new result", &comparison.known_of_new)];
    let known = sides.into_iter().filter(|(_, facts)| !facts.is_empty());
    known.map(|(side, facts)| format!("{side} alone has these facts: {}.", facts.join("; "))).collect()
}

/// Why there may be more findings than are told; empty if both sides were audited.
pub fn without_audit(comparison: &Comparison) -> String {
    let side = match (comparison.base.is_audited, comparison.new.is_audited) {
        (true, true) => return String::new(),
        (true, false) => "The new result has",
        (false, true) => "The base has",
        (false, false) => "The results have",
    };
    format!("{side} not been audited: ferrio run examines figures.")
}

pub fn or_nothing<'a>(value: Option<&'a String>, nothing: &'a str) -> &'a str {
    value.map_or(nothing, |value| if value.is_empty() { "set" } else { value })
}

/// The names of jobs, of which many are not all told.
pub fn names(jobs: &[String]) -> String {
    const MOST: usize = 4;
    match jobs.len().checked_sub(MOST) {
        None | Some(0) => jobs.join(", "),
        Some(others) => format!("{} and {others} more", jobs[..MOST].join(", ")),
    }
}

/// The jobs and the direction of a finding behind a comma, of which many jobs are not all told; empty: all of them.
pub fn scope(finding: &Finding) -> String {
    let jobs = vec![names(&finding.jobs)];
    let shown = Finding { jobs: if finding.jobs.is_empty() { Vec::new() } else { jobs }, ..finding.clone() };
    let scope = shown.scope();
    if scope.is_empty() { scope } else { format!(", {scope}") }
}

/// What the mark means.
pub const MARK: &str = "(!): a finding above says that the figure is wrong.";

/// What the columns mean.
pub fn legend(comparison: &Comparison) -> String {
    let (confidence, threshold) = (comparison.confidence_percent, comparison.threshold_percent);
    let is_repeated = comparison.base.results.len() > 1 || comparison.new.results.len() > 1;
    let means = if is_repeated {
        "Base, new: of rates the arithmetic mean of the results, of latencies the geometric one. "
    } else {
        ""
    };
    format!(
        "{means}Interval: covers the true change with a probability of {confidence} %. n: results of the base and of the new side. p: the \
         probability with which chance makes such a change. Same: the whole interval is within +-{threshold} %. Can't tell: the \
         interval reaches to both sides of no change and beyond {threshold} %, or there is none."
    )
}

/// Said where figures rest on single runs.
pub const SINGLE_RUNS: &str = "One run on each side does not show how much runs differ from each other, so a figure that differs is \
called neither faster nor slower. Repeated runs show it: run each side three times or more, and give ferrio compare A1 A2 \
A3 --against B1 B2 B3.";

/// Said where a bar does not fit.
pub const CUT: &str = "A bar with a point at its end goes on beyond the scale.";

/// True if a verdict rests on single runs.
pub fn rests_on_single_runs(comparison: &Comparison) -> bool {
    let is_single = comparison.base.results.len() == 1 && comparison.new.results.len() == 1;
    let is_of_two = |figure: &ComparedFigure| figure.basis != ComparisonBasis::SameResult;
    is_single && comparison.jobs.iter().flat_map(|job| &job.figures).any(is_of_two)
}
