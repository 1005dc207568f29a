//! Rules that can look at a report of another program, which has options, figures and counters of disks, and nothing about the machine. A
//! report in text has no options, or few of them.
//!
//! Must not know: how a report becomes a record. Start reading at [`unexamined`].

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, RULES};
use crate::unexamined::{EvidenceKind, names};
use ferrio_stats::{DiskGap, Unexamined};
use ferrio_units::DataDirection;

/// The rule looks at reports, and this one has what it needs.
pub(crate) fn can_look(rule: &FindingRule, case: &AuditInput<'_>) -> bool {
    rule.looks_at_reports && !(case.lacks_options() && rule.needs.contains(&EvidenceKind::Options))
}

/// What the report does not tell, and the rules that would need it.
pub(crate) fn unexamined(case: &AuditInput<'_>) -> Vec<Unexamined> {
    let lack = |subject: &str, reason: String, is_one: &dyn Fn(&FindingRule) -> bool| Unexamined {
        subject: subject.to_owned(),
        reason,
        rules: names(RULES.iter().filter(|rule| is_one(rule))),
        ..Unexamined::default()
    };
    let of_machine = lack(
        "the machine, its devices and the course of the run",
        "the report has options, figures and counters of disks alone".to_owned(),
        &|rule| !rule.looks_at_reports,
    );
    let has_moved = case.jobs.iter().any(|job| {
        let data = [DataDirection::Read, DataDirection::Write];
        job.has_files() && !job.engine.moves_nothing() && data.into_iter().any(|of| job.figures(of).is_some())
    });
    let of_disks = (has_moved && case.record.disks().is_none()).then(|| {
        let gap = case.reported().and_then(|facts| facts.disk_gap).unwrap_or(DiskGap::NoDisk);
        lack("the work of the devices", gap.to_string(), &|rule| {
            rule.looks_at_reports && rule.needs.contains(&EvidenceKind::Devices)
        })
    });
    let of_options = case.lacks_options().then(|| {
        let reason = "text and terse output do not have them".to_owned();
        lack("the options of the jobs", reason, &|rule| {
            rule.looks_at_reports && rule.needs.contains(&EvidenceKind::Options)
        })
    });
    of_disks.into_iter().chain(of_options).chain([of_machine]).collect()
}
