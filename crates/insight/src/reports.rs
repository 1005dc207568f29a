//! Rules that can look at a report of another program, which has options, figures and counters of disks, and nothing about the machine.
//!
//! Must not know: how a report becomes a record. Start reading at [`EXAMINE_REPORTS`].

use crate::case::Case;
use crate::rules::RULES;
use ferrio_stats::Unexamined;
use ferrio_units::DataDirection;

/// The rules that rest on nothing else. A rule that takes a fact that is not there for its absence must not be here.
const EXAMINE_REPORTS: &[&str] = &[
    "asynchronous-without-direct",
    "depth-not-reached",
    "depth-of-synchronous-engine",
    COUNTS_OF_DISKS,
    "effect-of-parallelism",
    "few-samples",
    "job-failed",
    "jobs-share-blocks",
    "latency-without-syncs",
    "no-io",
    "ramp-outlasts-job",
    "rate-not-reached",
    "runtime-without-time-based",
    "syncs-never-due",
    "unsynced-writes",
    "verification-cost",
];

/// The one that compares the jobs with the counters of the disks.
const COUNTS_OF_DISKS: &str = "device-did-less";

/// Whether a rule looks at reports.
pub(crate) fn examines(rule: &str) -> bool {
    EXAMINE_REPORTS.contains(&rule)
}

/// What the report does not tell, and the rules that would need it.
pub(crate) fn unexamined(case: &Case<'_>) -> Vec<Unexamined> {
    let of_machine = Unexamined {
        subject: "the machine, its devices and the course of the run".to_owned(),
        reason: "the report has options, figures and counters of disks alone".to_owned(),
        rules: RULES.iter().filter(|rule| !examines(rule.id)).map(|rule| rule.id.to_owned()).collect(),
        ..Unexamined::default()
    };
    let has_moved = case.jobs.iter().any(|job| {
        let data = [DataDirection::Read, DataDirection::Write];
        job.has_files() && !job.engine.moves_nothing() && data.into_iter().any(|of| job.figures(of).is_some())
    });
    let of_disks = (has_moved && case.record.disks().is_none()).then(|| Unexamined {
        subject: "the work of the devices".to_owned(),
        reason: "the report has no bytes of disks".to_owned(),
        rules: vec![COUNTS_OF_DISKS.to_owned()],
        ..Unexamined::default()
    });
    of_disks.into_iter().chain([of_machine]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_that_of_a_rule() {
        assert!(EXAMINE_REPORTS.iter().all(|name| RULES.iter().any(|rule| rule.id == *name)));
    }
}
