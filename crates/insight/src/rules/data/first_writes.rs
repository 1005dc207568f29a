//! Writes that made the file, instead of writing over it.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::extents::first_written_bytes;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "first-writes",
    title: "The writes were the first ones to these blocks",
    severity: Severity::Misleading,
    what: "The extents of the files before and after the run: bytes that were unwritten, in holes, or behind the end of the file \
           before, and hold data after. It is reported from 10 % of the written bytes on.",
    why: "A first write makes the file system allocate blocks or convert extents, and change metadata; file systems serialise that. A \
          second run on the same file overwrites, which is another test with other figures.",
    example: "--name=a --rw=randwrite --size=1g --direct=1 --ioengine=libaio",
    cure: "Run the job once more on the same files and take those figures for overwrites, or let --overwrite=1 write the files first. If \
           the program that you think of writes new files, as a log that grows, the figures are right as they are.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &["overwrite"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let written = job.figures(DataDirection::Write)?.bytes;
    let first = first_written_bytes(job)?;
    let explanation = format!(
        "{} of the written bytes ({} of {}) went to blocks that had never been written{}: each such write also allocates or converts \
         extents. On the same files a second run will have other figures.",
        text::percent(first as f64, written as f64),
        text::bytes(first),
        text::bytes(written),
        what_they_were(job)
    );
    let evidence =
        vec![Measured::bytes("written by the job", written), Measured::bytes("written for the first time", first)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

/// What most of the blocks were before, if that is known.
fn what_they_were(job: &AuditedJob<'_>) -> &'static str {
    let extents = || job.places.iter().filter_map(|place| place.before.extents.value());
    let unwritten = sum(extents().map(|extents| extents.unwritten_bytes));
    let holes = sum(extents().map(|extents| extents.hole_bytes));
    let grown = sum(job.places.iter().map(|place| place.now.size_bytes.saturating_sub(place.before.size_bytes)));
    match unwritten.max(holes).max(grown) {
        0 => "",
        most if most == unwritten => " (unwritten extents, as fallocate leaves them)",
        most if most == holes => " (holes of the files)",
        _ => " (behind the ends of the files)",
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{ExtentBytes, Reading};

    fn scene(unwritten_bytes: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        let written_bytes = 100 * MIB - unwritten_bytes;
        scene.places[0].before.extents =
            Reading::Value(ExtentBytes { unwritten_bytes, written_bytes, ..ExtentBytes::default() });
        scene
    }

    #[test]
    fn conversion_of_unwritten_extents_is_told() {
        assert_eq!(scene(100 * MIB).found(), ["first-writes"]);
        assert_eq!(scene(10 * MIB).found(), ["first-writes"]);
        let explanation = scene(100 * MIB).finding("first-writes").explanation;
        assert!(
            explanation.contains("never been written (unwritten extents, as fallocate leaves them): "),
            "{explanation}"
        );
        assert_eq!(scene(10 * MIB - 4096).found(), Vec::<String>::new());
    }

    #[test]
    fn extents_that_are_not_known_are_not_guessed() {
        let mut scene = scene(100 * MIB);
        scene.places[0].now.extents = Reading::default();
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
