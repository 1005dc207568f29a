//! More files at a time than the process may open.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::humanize::{counted, thousands};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "open-file-limit",
    title: "The job opens more files than the process may",
    severity: Severity::Wrong,
    what: "Before a run: the files that each clone of a job has open at a time (nrfiles or the names in filename, at most openfiles), and \
           the open files that the process may have (RLIMIT_NOFILE). ferrio raises the limit by itself as far as the kernel lets it; the rule speaks \
           where that is not enough.",
    why: "The open that exceeds the limit fails with EMFILE, and ends the job: there will be no figures.",
    example: "--name=a --rw=randread --nrfiles=100000 --size=1g",
    cure: "Raise the hard limit (ulimit -Hn, LimitNOFILE=), or keep fewer files open at a time with --openfiles.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let Some(limit) = case.provenance.limits.open_files.filter(|_| case.is_before()) else { return Vec::new() };
    case.jobs.iter().filter_map(|job| of_job(job, limit)).collect()
}

fn of_job(job: &AuditedJob<'_>, limit: u64) -> Option<Observation> {
    let target = &job.spec.target;
    let n_files = u64::from(target.nrfiles).max(target.filenames.len() as u64);
    let n_open = if target.openfiles == 0 { n_files } else { n_files.min(target.openfiles.into()) };
    if n_open <= limit || !job.has_files() || !job.engine.targets.are_opened_by_run() {
        return None;
    }
    let explanation = format!(
        "The job has {} open at a time, and this process may have {}: the open that exceeds it ends the job.",
        counted(n_open, "file", "files"),
        thousands(limit)
    );
    let evidence =
        vec![Measured::count("files of the job", n_open as f64), Measured::count("RLIMIT_NOFILE", limit as f64)];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn files_beyond_the_limit_are_told() {
        let scene = |nrfiles, openfiles| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            (scene.jobs[0].target.nrfiles, scene.jobs[0].target.openfiles) = (nrfiles, openfiles);
            scene.limits.open_files = Some(1024);
            scene
        };
        assert_eq!(scene(1025, 0).found(), ["open-file-limit"]);
        for right in [scene(1024, 0), scene(5000, 1000)] {
            assert_eq!(right.found(), Vec::<String>::new());
        }
        let mut unlimited = scene(1025, 0);
        unlimited.limits.open_files = None;
        assert_eq!(unlimited.found(), Vec::<String>::new());
    }
}
