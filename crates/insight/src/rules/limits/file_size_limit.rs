//! Files that may not grow as large as the job wants.

use crate::audit_input::{AuditInput, AuditedJob, is_for_files};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::SizeSpec;
use ferrio_stats::{Measured, Severity, TargetKind};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "file-size-limit",
    title: "The files may not grow to their size",
    severity: Severity::Wrong,
    what: "Before a run: the size of each file of a job (size by nrfiles), where the job writes or its files are not there yet, and the \
           largest file that this process may write (RLIMIT_FSIZE, ulimit -f).",
    why: "A write beyond the limit fails with EFBIG, and the kernel ends the job by the signal SIGXFSZ: there will be no figures.",
    example: "--name=a --rw=write --size=1g",
    cure: "Raise the limit (ulimit -f unlimited, LimitFSIZE=infinity), or use smaller files.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let Some(limit_bytes) = case.provenance.limits.file_size_bytes.filter(|_| case.is_before()) else {
        return Vec::new();
    };
    case.jobs.iter().filter_map(|job| of_job(job, limit_bytes)).collect()
}

fn of_job(job: &AuditedJob<'_>, limit_bytes: u64) -> Option<Observation> {
    let Some(SizeSpec::Bytes(size_bytes)) = job.spec.extent.size else { return None };
    let file_bytes = size_bytes / u64::from(job.spec.target.nrfiles.max(1));
    let grows = |place: &&ferrio_stats::TargetPlace| {
        is_for_files(place) && (place.kind == TargetKind::Missing || job.does(DataDirection::Write))
    };
    let place = job.places.iter().find(grows)?;
    if file_bytes <= limit_bytes || !job.engine.targets.are_files() {
        return None;
    }
    let explanation = format!(
        "{} is to have {}, and this process may write no file beyond {}: the write that exceeds it ends the job.",
        place.path,
        text::bytes(file_bytes),
        text::bytes(limit_bytes)
    );
    let evidence = vec![Measured::bytes("size of a file", file_bytes), Measured::bytes("RLIMIT_FSIZE", limit_bytes)];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TargetKind;

    #[test]
    fn a_file_that_would_exceed_the_limit_is_told() {
        let scene = |mix: DirectionMix, limit_bytes: u64| {
            let mut scene = TestRun::new(job("a", mix));
            scene.limits.file_size_bytes = Some(limit_bytes);
            scene
        };
        assert_eq!(scene(DirectionMix::Write, 100 * MIB - 1).before().found(), ["file-size-limit"]);
        assert_eq!(scene(DirectionMix::Write, 100 * MIB).before().found(), Vec::<String>::new());
        // The file is there, and is only read.
        assert_eq!(scene(DirectionMix::Read, MIB).before().found(), Vec::<String>::new());
        let mut missing = scene(DirectionMix::Read, MIB).before();
        missing.places[0].kind = TargetKind::Missing;
        assert_eq!(missing.found(), ["file-size-limit"]);
        missing.jobs[0].target.nrfiles = 100;
        assert_eq!(missing.found(), Vec::<String>::new());
        assert_eq!(scene(DirectionMix::Write, MIB).found(), Vec::<String>::new());
    }
}
