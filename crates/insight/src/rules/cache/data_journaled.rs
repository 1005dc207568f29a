//! Buffered writes to a file system that keeps data in its journal.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::targets::has_mount_option;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::Severity;
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "data-in-journal",
    title: "The journal takes all data first",
    severity: Severity::Note,
    what: "The option `data=journal` among the mount options of the file system (ext3, ext4) of a job that writes through the page cache.",
    why: "Data goes to the journal, and to its place later, which may be after the run. A sync waits for the journal alone: its latency is \
          that of a sequential write, the device writes the data twice, and the second time is in no figure of a short run.",
    example: "--name=a --directory=/mnt/journal --rw=randwrite --bs=4k --size=64m --fsync=32",
    cure: "Mount the file system with data=ordered, or run for longer than the journal lasts, and name the mount option beside the figures.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "write-refused", "target-in-memory"],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    if !job.is_buffered() || !job.does(DataDirection::Write) || !job.moves_data() {
        return None;
    }
    let place = job.places.iter().find(|place| has_mount_option(place, "data=journal"))?;
    let explanation = format!(
        "{} is on a file system that is mounted with data=journal: each block is written to the journal, and once more to its place, \
         which may be after the run.",
        place.path
    );
    Some(Observation::of(job, Vec::new(), explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn data_that_goes_to_the_journal_is_told() {
        let found = |mix: DirectionMix, options: &str| {
            let mut scene = TestRun::new(job("a", mix));
            scene.jobs[0].durability.direct = false;
            scene.places[0].mount_options = Some(options.to_owned());
            scene.found().contains(&"data-in-journal".to_owned())
        };
        assert!(found(DirectionMix::Write, "rw,data=journal"));
        assert!(!found(DirectionMix::Write, "rw,data=ordered"));
        assert!(!found(DirectionMix::Read, "rw,data=journal"));
    }
}
