//! Findings about the figures, before the figures.
//!
//! Must not know: rules. Start reading at [`findings`].

use ferrio_formats::native::{closing, in_brackets, measured, n_shown, of_less_weight, unexamined};
use ferrio_formats::{JobResult, RunResult};
use ferrio_insight::{FindingRule, rule_of};
use ferrio_stats::{Finding, IoKind};
use maud::{Markup, html};

/// All findings, or what it means that there are none.
pub(super) fn findings(result: &RunResult) -> Markup {
    html! {
        h3 { "Findings" }
        @match &result.audit {
            None => p { "The figures have not been audited: ferrio does that in its own runs (ferrio run)." },
            Some(audit) => {
                @let article = |index: usize, finding: &Finding| {
                    let is_first = audit.findings[..index].iter().all(|other| other.id != finding.id);
                    let number = if is_first { String::new() } else { format!("-{}", index + 1) };
                    one(finding, &format!("finding-{}-{}{number}", result.number, finding.id), "")
                };
                @let (shown, others) = audit.findings.split_at(n_shown(audit));
                @for (index, finding) in shown.iter().enumerate() { (article(index, finding)) }
                @if let Some(line) = of_less_weight(others) {
                    details {
                        summary { (line) }
                        @for (index, finding) in others.iter().enumerate() { (article(shown.len() + index, finding)) }
                    }
                }
                @if has_figures(result) {
                    @if let Some(sentence) = closing(audit) { p { (sentence) } }
                } @else if audit.findings.is_empty() {
                    p { "There are no figures that could be judged." }
                }
                @let (of_machine, of_run): (Vec<_>, Vec<_>) = audit.unexamined.iter().partition(|part| part.is_of_machine);
                @for part in of_run { p class="unexamined" { (unexamined(part)) } }
                @if !of_machine.is_empty() {
                    details class="unexamined" {
                        summary { "Not examined in any run on this machine" }
                        @for part in of_machine { p { (unexamined(part)) } }
                    }
                }
            },
        }
    }
}

/// A job has done an I/O, or the result does not tell its jobs.
fn has_figures(result: &RunResult) -> bool {
    let has_some =
        |job: &JobResult| IoKind::ALL.into_iter().any(|kind| job.get(kind).is_some_and(|figures| figures.n_ios > 0));
    result.jobs.is_empty() || result.jobs.iter().any(has_some)
}

/// A finding, with the words and in the order of the terminal; `anchor` is its own on the page, `side` says which result it is about, where
/// there are two.
pub(crate) fn one(finding: &Finding, anchor: &str, side: &str) -> Markup {
    let scope = in_brackets(&finding.scope());
    let side = if side.is_empty() { String::new() } else { format!(", {side}") };
    html! {
        article class=(format!("finding {}", finding.severity.word())) id=(anchor) {
            h4 { span class="severity" { (finding.severity.word().to_uppercase()) (side) } ": " (finding.title) (scope) }
            p { (finding.explanation) }
            @if !finding.evidence.is_empty() {
                @let measured: Vec<String> = finding.evidence.iter().map(measured).collect();
                p { "Measured: " (measured.join(", ")) "." }
            }
            @if !finding.cure.is_empty() { p { strong { "To do: " } (finding.cure) } }
            p class="rule" {
                "[" a href=(format!("#{anchor}")) { (finding.id) } "]"
                @if let Some(rule) = rule_of(finding) { " " a href=(format!("#rule-{}", rule.id)) { "what this rule looks at" } }
            }
        }
    }
}

/// The documents of the rules of some findings, each once: a page has no other files that it could lead to.
pub(crate) fn rules<'a>(findings: impl Iterator<Item = &'a Finding>) -> Markup {
    let mut rules: Vec<&FindingRule> = findings.filter_map(rule_of).collect();
    rules.sort_by_key(|rule| rule.id);
    rules.dedup_by_key(|rule| rule.id);
    html! {
        @if !rules.is_empty() {
            section {
                h2 { "Rules of the findings" }
                @for rule in rules {
                    article id=(format!("rule-{}", rule.id)) {
                        h3 { (rule.id) ": " (rule.title) }
                        p { (rule.what) }
                        p { (rule.why) }
                        p { strong { "To do: " } (rule.cure) }
                        p class="rule" { code { "ferrio help " (rule.id) } ". A run with this finding: " code { (rule.command()) } }
                    }
                }
            }
        }
    }
}
