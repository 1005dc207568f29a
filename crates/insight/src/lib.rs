//! Compares the figures of a run with its evidence and reports contradictions as findings. Each rule is one file and
//! one row of [`RULES`].
//!
//! A rule is a function of the record of a run alone: specification of the jobs, provenance, evidence of the probes, figures. The
//! record of a run that has not begun has no figures; rules that need none look at it as well (`ferrio check`). A rule never guesses:
//! where the evidence is missing there is no finding, and the audit names what it could not examine (`unexamined`).
//! Must not know: how evidence is gathered, how findings are shown. Start reading at [`audit()`], then [`RULES`].
#![forbid(unsafe_code)]

pub mod accounts;
mod audit_input;
pub mod compare;
mod course;
pub mod fleet;
pub mod knee;
mod lasting;
pub mod limits;
mod measures;
mod on_device;
mod outside_load;
mod precision;
pub mod repeats;
mod reports;
mod rules;
pub mod scaling;
mod stack;
mod text;
mod unexamined;

pub use ferrio_inference::one_sided_quantile;
pub use lasting::may_overstate;
pub use outside_load::OutsideLoadFigures;
pub use precision::precision;
pub use rules::cpu::tail_waits_for_cpu::RULE as TAIL_WAITS_FOR_CPU;
pub use rules::cpu::waits_for_cpu::cpu_wait_share;
pub use rules::depth::means_fewer_in_flight;
pub use rules::plan::few_samples::RULE as FEW_SAMPLES;
pub use rules::time::rate_fell::share_that_lasts;
pub use rules::time::rate_not_reached::{MissedRate, RULE as RATE_NOT_REACHED, missed_rate};
pub use rules::{FindingRule, MeasuredState, OutsideLoad, RULES};
pub use unexamined::{EvidenceKind, SUBJECTS, Subject};

use audit_input::AuditInput;
use ferrio_stats::{Audit, Finding, RunRecord};
use rules::precedence::{RuleOutcome, standing};

/// All rules: those about a run, and those about repeated runs and about several hosts, which look at no single one.
pub fn all_rules() -> impl Iterator<Item = &'static FindingRule> {
    RULES.iter().chain([&repeats::CHANGED, &repeats::DRIFTS]).chain([
        &fleet::SLOW_HOST,
        &fleet::NOT_TOGETHER,
        &fleet::HOSTS_DIFFER,
        &fleet::SHARE_FILES,
    ])
}

/// The rule of a finding; `None`: this version has none of this name.
pub fn rule_of(finding: &Finding) -> Option<&'static FindingRule> {
    all_rules().find(|rule| rule.id == finding.id)
}

/// What all rules find in a record, the worst first, and what they could not examine.
pub fn audit(record: &RunRecord) -> Audit {
    let n_rules = RULES.len() as u32;
    let case = match AuditInput::of(record) {
        Ok(case) => case,
        Err(reason) => return not_examined(reason.to_string()),
    };
    let found = standing(&case, |rule| !case.is_reported() || reports::can_look(rule, &case));
    let finding = |found: RuleOutcome| found.observations.into_iter().map(|one| found.rule.finding(&case, one));
    let mut findings: Vec<Finding> = found.into_iter().flat_map(finding).collect();
    findings.sort_by_key(|finding| finding.severity);
    let unexamined = if case.is_reported() { reports::unexamined(&case) } else { unexamined::of(&case) };
    let accounts =
        if case.is_before() { accounts::plan_of(&case) } else { Some(accounts::accounts_of(&case, &findings)) };
    // Figures of a text are rounded, so that they say little of options that ask for exact ones.
    let accounts = accounts.filter(|_| !case.lacks_options()).map(Box::new);
    Audit { findings, unexamined, n_rules, accounts }
}

/// The audit of a result that cannot be examined, with the reason.
pub fn not_examined(reason: String) -> Audit {
    Audit {
        findings: Vec::new(),
        unexamined: vec![unexamined::all(reason)],
        n_rules: RULES.len() as u32,
        accounts: None,
    }
}
