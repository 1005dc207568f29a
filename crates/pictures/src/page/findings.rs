//! Findings about the figures, before the figures.
//!
//! Must not know: rules. Start reading at [`findings`].

use ferrio_report::native::{closing, measured, unexamined};
use ferrio_results::RunResult;
use ferrio_stats::{Audit, Finding, Severity};
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

fn one(finding: &Finding) -> Markup {
    html! {
        article class=(format!("finding {}", finding.severity.word())) {
            h4 { span class="severity" { (severity(finding.severity)) } ": " (finding.title) }
            @if !finding.jobs.is_empty() { p { "Jobs: " (finding.jobs.join(", ")) } }
            p { (finding.explanation) }
            @if !finding.cure.is_empty() { p { strong { "What to do: " } (finding.cure) } }
            @if !finding.evidence.is_empty() {
                ul { @for value in &finding.evidence { li { (measured(value)) } } }
            }
        }
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Wrong => "A figure is wrong",
        Severity::Misleading => "May be misread",
        Severity::Note => "Good to know",
    }
}
