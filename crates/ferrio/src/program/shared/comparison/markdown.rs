//! A comparison as Markdown, for the page of a pull request.
//!
//! Must not know: how verdicts are reached. Start reading at [`markdown`]. Texts of results become code, in which nothing has a
//! meaning but the backtick, or have all signs with a meaning escaped.

use ferrio_insight::compare::{ComparedJob, Comparison, ComparisonVerdict};
use ferrio_pictures::comparison::words;

/// The comparisons, one below the other.
pub(super) fn markdown(comparisons: &[Comparison]) -> String {
    comparisons.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(comparison: &Comparison) -> String {
    let mut lines =
        vec![format!("### Comparison of {} with {}", codes(&comparison.new.results), codes(&comparison.base.results))];
    differences(&mut lines, comparison);
    findings(&mut lines, comparison);
    for job in &comparison.jobs {
        self::job(&mut lines, job);
    }
    for (names, side) in [(&comparison.only_in_base, "the base"), (&comparison.only_in_new, "the new result")] {
        if !names.is_empty() {
            lines.push(format!("\nJobs only in {side}: {}", codes(names)));
        }
    }
    let remarks = comparison.remarks.iter().map(|remark| format!("\n{}", escaped(remark)));
    lines.extend(remarks);
    let mut legend = vec![words::legend(comparison)];
    if comparison.jobs.iter().flat_map(|job| &job.figures).any(|figure| !figure.contradicted_by.is_empty()) {
        legend.push(words::MARK.to_owned());
    }
    if words::rests_on_single_runs(comparison) {
        legend.push(words::SINGLE_RUNS.to_owned());
    }
    lines.push(format!("\n<sub>{}</sub>", escaped(&legend.join(" "))));
    lines.join("\n") + "\n"
}

fn differences(lines: &mut Vec<String>, comparison: &Comparison) {
    if !comparison.surroundings.is_empty() {
        lines.push("\n**Different machine, storage or program**\n\n| | base | new |\n|---|---|---|".to_owned());
    }
    for fact in &comparison.surroundings {
        let value = |value| code(words::or_nothing(value, "unknown"));
        lines.push(format!(
            "| {} | {} | {} |",
            escaped(&fact.what),
            value(fact.base.as_ref()),
            value(fact.new.as_ref())
        ));
    }
    lines.extend(words::one_sided(comparison).iter().map(|line| format!("\n{}", escaped(line))));
    if !comparison.options.is_empty() {
        lines.push(
            "\n**Different options of the jobs**\n\n| option | base | new | jobs |\n|---|---|---|---|".to_owned(),
        );
    }
    for option in &comparison.options {
        let value = |value| code(words::or_nothing(value, "not given"));
        let (name, jobs) = (code(&option.option), code(&words::names(&option.jobs)));
        let other = if option.changes_work { " (other work)" } else { "" };
        lines.push(format!(
            "| {name}{other} | {} | {} | {jobs} |",
            value(option.base.as_ref()),
            value(option.new.as_ref())
        ));
    }
}

fn findings(lines: &mut Vec<String>, comparison: &Comparison) {
    if !comparison.findings.is_empty() {
        lines.push("\n**Findings about the figures**\n".to_owned());
    }
    for found in &comparison.findings {
        let (side, finding) = (words::side(found), &found.finding);
        let (title, explanation) = (escaped(&finding.title), escaped(&finding.explanation));
        let scope = escaped(&words::scope(finding));
        lines.push(format!("- **{title}** ({}, {side}{scope}): {explanation}", finding.severity.word()));
    }
    let without_audit = words::without_audit(comparison);
    if !without_audit.is_empty() {
        lines.push(format!("\n{without_audit}"));
    }
}

fn job(lines: &mut Vec<String>, job: &ComparedJob) {
    let renamed = job.new_name.as_ref().map(|name| format!(" (new: {})", code(name))).unwrap_or_default();
    lines.push(format!("\n#### {}{renamed}\n", code(&job.name)));
    for (directions, side) in [(&job.only_in_base, "the base"), (&job.only_in_new, "the new result")] {
        lines.extend(directions.iter().map(|direction| format!("- {direction}: only in {side}")));
    }
    if !job.figures.is_empty() {
        lines.push(
            "| | base | new | change | | interval | n | p | verdict |\n|---|--:|--:|--:|--:|--:|--:|--:|---|"
                .to_owned(),
        );
    }
    for figure in &job.figures {
        let (base, new) = (words::value(figure.metric, figure.base), words::value(figure.metric, figure.new));
        let (change, absolute) = (words::change(figure), words::absolute(figure));
        let (interval, verdict) = (words::interval(figure.change), words::verdict(figure));
        let is_change = !matches!(figure.verdict, ComparisonVerdict::Same | ComparisonVerdict::Unknown);
        let verdict = if is_change { format!("**{verdict}**") } else { verdict };
        let name = format!("{} {}", figure.direction, figure.metric.name());
        let (n, p) = (words::n(figure), escaped(&words::p(figure)));
        lines.push(format!("| {name} | {base} | {new} | {change} | {absolute} | {interval} | {n} | {p} | {verdict} |"));
    }
    for reason in words::reasons(job) {
        lines.push(format!("\n{}", escaped(&reason)));
    }
}

fn codes(texts: &[String]) -> String {
    texts.iter().map(|text| code(text)).collect::<Vec<_>>().join(", ")
}

/// A text of a result as code. In a table a bar ends the cell also there, unless it is escaped.
fn code(text: &str) -> String {
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    format!("`{}`", text.replace('`', "'").replace('|', "\\|"))
}

/// A text of a result, whose signs mean themselves.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A name behind it would be told of it: a space of no width parts them.
            '@' => escaped.push_str("@\u{200b}"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => escaped.extend(['\\', letter]),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_mean_themselves() {
        assert_eq!(code("a|b`c\nd"), "`a\\|b'c d`");
        assert_eq!(escaped("<b>*x*</b> @all"), "&lt;b&gt;\\*x\\*&lt;/b&gt; @\u{200b}all");
    }
}
