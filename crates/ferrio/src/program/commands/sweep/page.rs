//! The page of a sweep, from its outcome.
//!
//! Must not know: how a page is laid out. Start reading at [`page`].

use super::{answers, loops, table};
use ferrio::sweep::outcome::SweepOutcome;
use ferrio_pictures::sweep::SweepPage;

/// The page; `title` is its heading.
pub(super) fn page(outcome: &SweepOutcome, title: String) -> String {
    let findings = outcome.findings.iter().map(|one| (table::place(one, outcome), &one.finding));
    let remarks = table::unknown(outcome).into_iter().chain(table::missing(outcome));
    ferrio_pictures::sweep::page(&SweepPage {
        title,
        outcome,
        findings: findings.chain(loops::findings(outcome)).collect(),
        answers: outcome.limit.iter().map(answers::answer_text).chain(answers::knee_texts(outcome)).collect(),
        remarks: remarks.chain(table::outlier_texts(outcome)).collect(),
    })
}
