//! Jobs for which something is missing, so that they cannot start.

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_formats::native::note_text;
use ferrio_stats::{Failure, Severity, StartObstacle};
use ferrio_units::errno_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "cannot-start",
    title: "The job cannot start",
    severity: Severity::Wrong,
    what: "Before a run: what the job needs before its first I/O. It is reported where a trace, a file that must not be made, the directory of a log, a library or the state of \
           an earlier run is missing, where an offset lies behind the end of its file or device, and where a queue is deeper than the system's. What another job or a \
           command of the run may still make is not reported.",
    why: "The run ends with an error, maybe after other jobs have run for hours.",
    example: "--name=a --read_iolog=missing.log",
    cure: "Make what is missing, or correct the option that names it.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let obstacles = case.provenance.obstacles.iter();
    obstacles.filter_map(|obstacle| observation(case, obstacle)).collect()
}

fn observation(case: &AuditInput<'_>, obstacle: &StartObstacle) -> Option<Observation> {
    let job = case.jobs.iter().find(|job| job.index == obstacle.job_index)?;
    Some(Observation::of(job, Vec::new(), sentence(&obstacle.failure)))
}

/// The words of the failure, as the run would have them.
fn sentence(failure: &Failure) -> String {
    let step = || format!("{}: {}", failure.step.name(), errno_text(failure.errno));
    let words = failure.note.as_deref().map_or_else(step, note_text);
    let lines: Vec<&str> = words.lines().map(|line| line.trim_end_matches('.')).collect();
    format!("The run would end with this error: {}.", lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::RunRecord;
    use ferrio_stats::note::FileNote;

    #[test]
    fn each_obstacle_is_told_in_the_words_of_the_run() {
        let mut record = TestRun::new(job("a", DirectionMix::Read)).before().made();
        let told = |record: &RunRecord| audit(record).findings.into_iter().find(|found| found.id == RULE.id);
        assert_eq!(told(&record), None);
        let mut failing = |failure: Failure| {
            record.provenance.as_mut().expect("facts").obstacles = vec![StartObstacle { job_index: 0, failure }];
            told(&record).expect("a finding").explanation
        };
        assert_eq!(
            failing(Failure::new(2, "x.rs:1", "open").explained(FileNote::CreationDisallowed)),
            "The run would end with this error: file creation disallowed by allow_file_create=0."
        );
        assert_eq!(
            failing(Failure::new(2, "x.rs:1", "open")),
            "The run would end with this error: open: No such file or directory."
        );
    }
}
