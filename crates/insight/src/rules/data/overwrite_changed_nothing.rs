//! `overwrite=1` on files that were there in full.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity, TargetKind, TargetPlace};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "overwrite-changed-nothing",
    title: "overwrite=1 has changed nothing",
    severity: Severity::Note,
    what: "The option overwrite of a job that writes files, and the number of files that were made or made longer before the job. It \
           is reported where there was none.",
    why: "With overwrite=1 the files are written before the job begins, so that the job overwrites. Where an earlier run has written \
          them, every run overwrites, with and without the option: it is not a different test.",
    example: "--name=a --rw=randwrite --size=1g --direct=1 --overwrite=1",
    cure: "Compare with a run on files that have not been written: remove them first, and leave --overwrite=1 out.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let is_file = |place: &TargetPlace| place.kind == TargetKind::File;
    let is_asked_for = job.spec.layout.overwrite && !job.spec.extent.file_append && job.does(DataDirection::Write);
    if !is_asked_for || job.places.is_empty() || !job.places.iter().all(is_file) || job.workers.is_empty() {
        return None;
    }
    if job.workers.iter().any(|worker| worker.n_laid_out != Some(0)) {
        return None;
    }
    let size_bytes = sum(job.places.iter().map(|place| place.before.size_bytes));
    let explanation = format!(
        "The files ({}) were there in full before, so nothing was written in advance: without overwrite=1 this would have been the \
         same test.",
        text::bytes(size_bytes)
    );
    Some(Observation::of(job, vec![Measured::bytes("size of the files", size_bytes)], explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn files_that_were_there_need_no_writing_in_advance() {
        let scene = |overwrite: bool, n_laid_out: Option<u64>| {
            let mut job = job("a", DirectionMix::Write);
            job.layout.overwrite = overwrite;
            let mut scene = TestRun::new(job);
            scene.record.workers[0].n_laid_out = n_laid_out;
            scene
        };
        assert_eq!(scene(true, Some(0)).found(), ["overwrite-changed-nothing"]);
        for (overwrite, n_laid_out) in [(true, Some(1)), (true, None), (false, Some(0))] {
            assert_eq!(scene(overwrite, n_laid_out).found(), Vec::<String>::new());
        }
        assert_eq!(scene(true, Some(0)).before().found(), Vec::<String>::new());
    }
}
