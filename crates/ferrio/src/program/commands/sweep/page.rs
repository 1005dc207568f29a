//! The page of a sweep, from its outcome.
//!
//! Must not know: how a page is laid out. Start reading at [`page`].

use super::{answers, loops, scaled, table};
use ferrio::sweep::outcome::SweepOutcome;
use ferrio_pictures::sweep::SweepPage;

/// The answers in sentences: the limit, the growth with hosts, the knees.
fn answers(outcome: &SweepOutcome) -> Vec<String> {
    let limit = outcome.limit.iter().map(answers::answer_text);
    limit.chain(scaled::scaling_texts(&outcome.scalings)).chain(answers::knee_texts(outcome)).collect()
}

/// The page; `title` is its heading.
pub(super) fn page(outcome: &SweepOutcome, title: String) -> String {
    let findings = outcome.findings.iter().map(|one| (table::place(one, outcome), &one.finding));
    let remarks = table::unknown(outcome).into_iter().chain(table::missing(outcome));
    ferrio_pictures::sweep::page(&SweepPage {
        title,
        outcome,
        findings: findings.chain(loops::findings(outcome)).collect(),
        answers: answers(outcome),
        remarks: remarks.chain(table::outlier_texts(outcome)).collect(),
    })
}
