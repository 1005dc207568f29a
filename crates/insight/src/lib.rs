//! Compares the figures of a run with its evidence and reports contradictions as findings. Each rule is one file and
//! one row of [`RULES`].
//!
//! A rule is a function of the record of a run alone: specification of the jobs, provenance, evidence of the probes, figures. The
//! record of a run that has not begun has no figures; rules that need none look at it as well (`ferrio check`). A rule never guesses:
//! where the evidence is missing there is no finding.
//! Must not know: how evidence is gathered, how findings are shown. Start reading at [`find`], then [`RULES`].
#![forbid(unsafe_code)]

mod case;
pub mod compare;
mod course;
mod on_device;
mod precision;
mod rules;
mod stack;
mod statistics;
mod text;

pub use precision::precision;
pub use rules::{FindingRule, RULES};

use case::Case;
use ferrio_stats::{Finding, RunRecord};

/// Findings of all rules about a record, the worst first.
pub fn find(record: &RunRecord) -> Vec<Finding> {
    let Some(case) = Case::of(record) else { return Vec::new() };
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule.look_at(&case)).collect();
    findings.sort_by_key(|finding| finding.severity);
    findings
}
