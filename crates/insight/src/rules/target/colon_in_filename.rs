//! A colon in a file name, which separates two names.

use crate::audit_input::AuditedJob;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity, TargetKind, TargetPlace};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "colon-in-filename",
    title: "The colon in filename has made several targets of one name",
    severity: Severity::Misleading,
    what: "The text of filename, and the targets that it names. It is reported where a colon separates it into several names, and at least one of \
           them was no file or device before the run.",
    why: "A colon separates names (filename=/dev/sda:/dev/sdb). A path that contains one, such as a time, a PCI address or an IPv6 address, \
          becomes two targets, and the I/O goes to other files than meant.",
    example: "--name=a --filename=/data/backup-12:30 --rw=write --size=1g",
    cure: "Write a colon that belongs to a name as `\\:`; to have several targets, make sure that each of them is there.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let names = &job.spec.target.filenames;
    if names.len() < 2 || !job.has_files() {
        return None;
    }
    // Files that the job itself has made or made longer were empty before.
    let was_nothing = |place: &TargetPlace| match place.kind {
        TargetKind::Missing | TargetKind::Other => true,
        TargetKind::File => is_new(job),
        _ => false,
    };
    if !job.places.iter().any(was_nothing) {
        return None;
    }
    let shown: Vec<String> = names.iter().take(4).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > shown.len() { ", ..." } else { "" };
    let explanation = format!(
        "filename={} names {} targets: {}{more}. At least one of them was not there before the run.",
        names.join(":"),
        names.len(),
        shown.join(", ")
    );
    Some(Observation::of(job, vec![Measured::count("targets", names.len() as f64)], explanation))
}

/// Files of the job were made before it began.
fn is_new(job: &AuditedJob<'_>) -> bool {
    job.workers.iter().any(|worker| worker.n_laid_out.is_some_and(|n_files| n_files > 0))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TargetKind;

    fn is_told(names: &[&str], kind: TargetKind, n_laid_out: u64) -> bool {
        let mut job = job("a", DirectionMix::Write);
        job.target.filenames = names.iter().map(|name| (*name).to_owned()).collect();
        let mut scene = TestRun::new(job);
        scene.places[0].kind = kind;
        scene.record.workers[0].n_laid_out = Some(n_laid_out);
        scene.found().contains(&"colon-in-filename".to_owned())
    }

    #[test]
    fn two_names_of_which_one_was_not_there_are_told() {
        assert!(is_told(&["x", "y"], TargetKind::Missing, 0));
        assert!(is_told(&["x", "y"], TargetKind::File, 2));
        assert!(!is_told(&["x", "y"], TargetKind::File, 0), "both were there");
        assert!(!is_told(&["/dev/a", "/dev/b"], TargetKind::Block, 0));
        assert!(!is_told(&["x"], TargetKind::Missing, 0));
    }
}
