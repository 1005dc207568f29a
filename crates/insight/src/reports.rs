//! Rules that can look at a report of another program, which has options, figures and counters of disks, and nothing about the machine.
//!
//! Must not know: how a report becomes a record. Start reading at [`unexamined`].

use crate::audit_input::AuditInput;
use crate::rules::RULES;
use crate::unexamined::{EvidenceKind, names};
use ferrio_stats::Unexamined;
use ferrio_units::DataDirection;

/// What the report does not tell, and the rules that would need it.
pub(crate) fn unexamined(case: &AuditInput<'_>) -> Vec<Unexamined> {
    let of_machine = Unexamined {
        subject: "the machine, its devices and the course of the run".to_owned(),
        reason: "the report has options, figures and counters of disks alone".to_owned(),
        rules: names(RULES.iter().filter(|rule| !rule.looks_at_reports)),
        ..Unexamined::default()
    };
    let has_moved = case.jobs.iter().any(|job| {
        let data = [DataDirection::Read, DataDirection::Write];
        job.has_files() && !job.engine.moves_nothing() && data.into_iter().any(|of| job.figures(of).is_some())
    });
    let of_disks = (has_moved && case.record.disks().is_none()).then(|| Unexamined {
        subject: "the work of the devices".to_owned(),
        reason: "the report has no bytes of disks".to_owned(),
        rules: names(RULES.iter().filter(|rule| rule.looks_at_reports && rule.needs.contains(&EvidenceKind::Devices))),
        ..Unexamined::default()
    });
    of_disks.into_iter().chain([of_machine]).collect()
}
