//! Writes that made the file, instead of writing over it.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::extents::{first_written_bytes, makes_files, makes_log};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "first-writes",
    title: "The writes were the first ones to these blocks",
    severity: Severity::Misleading,
    what: "The extents of the files before and after the run: bytes that were unwritten, in holes, or behind the end of the file \
           before, and hold data after. It is reported from 10 % of the written bytes on; of jobs that write new files of their own in order see \
           new-files-written, and of jobs that verify nothing is said.",
    why: "A first write makes the file system allocate blocks or convert extents, and change metadata; file systems serialise that. A \
          second run on the same file overwrites, which is another test with other figures.",
    example: "--name=a --rw=randwrite --size=1g --direct=1 --ioengine=libaio",
    cure: "Run the job once more on the same files and take those figures for overwrites, or let --overwrite=1 write the files first. If \
           the program that you think of writes new files, as a log that grows, the figures are right as they are.",
    needs: &[EvidenceKind::Extents],
    looks_at_reports: false,
    contradicts: &["overwrite"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

pub(crate) const OF_NEW_FILES: FindingRule = FindingRule {
    id: "new-files-written",
    title: "The job has made the files that it wrote",
    severity: Severity::Note,
    what: "The extents of the files before and after the run, as for first-writes, of a job that writes from the beginning of files to their end, \
           and that has made these files. It is reported from 10 % of the written bytes on; not of jobs that sync between their writes, as a log that \
           grows, and not of jobs that verify.",
    why: "To write a new file is to allocate its blocks, too, as for every program that writes new files. A second run on the same files overwrites \
          them, with other figures.",
    example: "--name=a --rw=write --bs=1m --size=1g --direct=1 --ioengine=libaio --iodepth=8",
    cure: "For new files nothing. For the rate of overwrites run the job once more on the same files, or let --overwrite=1 write them first.",
    needs: &[EvidenceKind::Extents],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter(|job| is_of_new_files(job)).filter_map(of_new_files).collect(),
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    // A job that verifies is about the data, and not about the time of the writes.
    let is_measured = |job: &&AuditedJob<'_>| !is_of_new_files(job) && !makes_log(job) && job.spec.verify.is_none();
    case.jobs.iter().filter(is_measured).filter_map(of_job).collect()
}

fn is_of_new_files(job: &AuditedJob<'_>) -> bool {
    makes_files(job) && !makes_log(job) && job.spec.verify.is_none() && !job.spec.layout.overwrite
}

fn of_new_files(job: &AuditedJob<'_>) -> Option<Observation> {
    let written = job.figures(DataDirection::Write)?.bytes;
    let first = first_written_bytes(job)?;
    let explanation = format!(
        "The job has made its files: {} of {} went to blocks that had never been written{}. Writes over the same files have other figures.",
        text::bytes(first),
        text::bytes(written),
        what_they_were(job)
    );
    let evidence =
        vec![Measured::bytes("written by the job", written), Measured::bytes("written for the first time", first)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
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

    /// A file that the job has made, which it writes from its beginning to its end.
    #[test]
    fn to_write_a_new_file_in_order_is_no_mistake() {
        let made = |change: fn(&mut ferrio_spec::JobSpec)| {
            let mut scene = scene(100 * MIB);
            scene.record.workers[0].n_laid_out = Some(1);
            change(&mut scene.jobs[0]);
            scene.found().into_iter().find(|id| id.contains("writ") && id != "latency-without-syncs")
        };
        assert_eq!(made(|_| ()).as_deref(), Some("new-files-written"));
        assert_eq!(made(|job| job.pattern.random = true).as_deref(), Some("first-writes"));
        // The log of a database.
        assert_eq!(made(|job| job.durability.fdatasync_blocks = 1), None);
        assert_eq!(made(|job| job.durability.sync = ferrio_spec::SyncMode::Dsync), None);
    }

    #[test]
    fn extents_that_are_not_known_are_not_guessed() {
        let mut scene = scene(100 * MIB);
        scene.places[0].now.extents = Reading::default();
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
