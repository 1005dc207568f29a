//! Trims of blocks that had been trimmed already.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::ranges::range_bytes;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "range-trimmed-again",
    title: "Most trims were of blocks that had been trimmed before",
    severity: Severity::Misleading,
    what: "The bytes that a job without writes has trimmed, and the size of the range that it trims (size, or its targets). It is reported where \
           the range was trimmed twice or more.",
    why: "After a trim a block holds no data. A second trim of it finds nothing to do, and is as fast as the device can say so: the figures \
          are mostly those of trims that do nothing.",
    example: "--name=a --filename=/dev/sdx --rw=trim --bs=1m --size=1g --runtime=60 --time_based",
    cure: "Trim each block once: leave out time_based and loops, and write the range before each run; or use --rw=trimwrite, which writes \
           each range anew.",
    needs: &[EvidenceKind::Ranges],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

const TIMES: u64 = 2;

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let trimmed_bytes = job.figures(DataDirection::Trim)?.bytes;
    let is_plain = !job.does(DataDirection::Write) && job.has_files() && !job.engine.moves_nothing();
    if !is_plain || job.has_more_files || job.spec.replay.is_set() || job.places.iter().any(is_in_memory) {
        return None;
    }
    let range_bytes = range_bytes(case, job).filter(|bytes| *bytes > 0)?;
    let n_times = trimmed_bytes / range_bytes;
    if n_times < TIMES {
        return None;
    }
    let explanation = format!(
        "The job has trimmed the same {} {n_times} times and written nothing between: {} of its trims were of blocks without data.",
        text::bytes(range_bytes),
        text::percent((trimmed_bytes - range_bytes) as f64, trimmed_bytes as f64)
    );
    let evidence = vec![Measured::bytes("trimmed by the job", trimmed_bytes), Measured::bytes("range", range_bytes)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Trim))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;

    /// Trims of a range of 100 MiB.
    fn scene(mix: DirectionMix, trimmed_bytes: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", mix));
        let trims = &mut scene.stats().directions.0[2];
        (trims.n_issued, trims.n_completed) = (2_000, 2_000);
        (trims.bytes, trims.runtime_ns) = (trimmed_bytes, 10_000_000_000);
        scene
    }

    #[test]
    fn a_second_pass_of_trims_is_told() {
        let is_told = |scene: TestRun| scene.found().contains(&"range-trimmed-again".to_owned());
        assert!(is_told(scene(DirectionMix::Trim, 200 * MIB)));
        assert!(!is_told(scene(DirectionMix::Trim, 200 * MIB - 4096)));
        assert!(!is_told(scene(DirectionMix::TrimWrite, 200 * MIB)), "each range was written again");
        let finding = scene(DirectionMix::Trim, 22_300 * MIB).finding("range-trimmed-again");
        assert!(finding.explanation.starts_with("The job has trimmed the same 100 MiB 223 times"), "{finding:?}");
    }
}
