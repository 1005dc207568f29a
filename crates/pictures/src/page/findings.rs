//! Findings about the figures, before the figures.
//!
//! Must not know: rules. Start reading at [`findings`].

use ferrio_report::native::{closing, measured, unexamined};
use ferrio_results::RunResult;
use ferrio_stats::{Audit, Finding};
use maud::{Markup, html};

/// All findings, or what it means that there are none.
pub(super) fn findings(result: &RunResult) -> Markup {
    html! {
        h3 { "Findings" }
        @match result.findings.as_deref() {
            None => p { "The figures have not been audited: ferrio does that in its own runs (ferrio run)." },
            Some(findings) => {
                @for finding in findings { (one(finding)) }
                @if let Some(sentence) = closing(&audit(result)) { p { (sentence) } }
                @for part in &result.unexamined { p class="unexamined" { (unexamined(part)) } }
            },
        }
    }
}

fn audit(result: &RunResult) -> Audit {
    Audit {
        findings: result.findings.clone().unwrap_or_default(),
        unexamined: result.unexamined.clone(),
        n_rules: result.n_rules,
    }
}

/// A finding, with the words and in the order of the terminal.
fn one(finding: &Finding) -> Markup {
    let jobs = if finding.jobs.is_empty() { String::new() } else { format!(" ({})", finding.jobs.join(", ")) };
    let anchor = format!("finding-{}", finding.id);
    html! {
        article class=(format!("finding {}", finding.severity.word())) id=(anchor) {
            h4 { span class="severity" { (finding.severity.word().to_uppercase()) } ": " (finding.title) (jobs) }
            p { (finding.explanation) }
            @if !finding.evidence.is_empty() {
                p { "Measured:" }
                ul { @for value in &finding.evidence { li { (measured(value)) } } }
            }
            @if !finding.cure.is_empty() { p { strong { "To do: " } (finding.cure) } }
            p class="rule" { a href=(format!("#{anchor}")) { (finding.id) } ", described in " (finding.page) }
        }
    }
}
