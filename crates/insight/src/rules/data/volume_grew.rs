//! Writes for which the volume below had to get more room.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::extents::{makes_log, prepares};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity, StorageLayer};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "volume-grew",
    title: "The volume grew under the writes",
    severity: Severity::Misleading,
    what: "The room that its file system has allocated for the file behind a loop device, before and after the run. It is reported where that \
           has grown by at least 10 % of what the jobs have written; jobs that verify, those that make a file and sync between their writes, and those that write in order what a later job uses do not count.",
    why: "A sparse file gets its blocks at the first write to each, which costs its file system allocations and metadata. A second run on \
          the same blocks overwrites, which is another test with other figures.",
    example: "--name=a --filename=/dev/loop0 --rw=write --direct=1   (after `truncate -s 1g image; losetup /dev/loop0 image`)",
    cure: "Write all of the device once before the run, or make its file with `fallocate` and write it.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["first-writes", "new-files-written"],
    find,
};

const SHARE: f64 = 0.1;
const LEAST_BYTES: u64 = 1 << 20;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.record.storage_layers().iter().filter_map(|layer| of_layer(case, layer)).collect()
}

fn of_layer(case: &AuditInput<'_>, layer: &StorageLayer) -> Option<Observation> {
    let backing = layer.backing.as_ref()?;
    let is_above = |job: &&AuditedJob<'_>| {
        let mut layers = job.places.iter().flat_map(|place| case.layers_of(place));
        // A new log is new on the volume, too; a job that verifies is about the data; and one that fills it for others is the cure.
        let is_new_on_purpose = makes_log(job) || job.spec.verify.is_some() || prepares(case, job);
        job.figures(DataDirection::Write).is_some() && !is_new_on_purpose && layers.any(|its| its.name == layer.name)
    };
    let jobs: Vec<&AuditedJob<'_>> = case.jobs.iter().filter(is_above).collect();
    let written = sum(jobs.iter().filter_map(|job| job.figures(DataDirection::Write)).map(|figures| figures.bytes));
    let grown = backing.allocated_bytes.saturating_sub(backing.allocated_before_bytes).min(written);
    if grown < LEAST_BYTES || (grown as f64) < written as f64 * SHARE {
        return None;
    }
    let explanation = format!(
        "{}, the file behind {}, has grown by {} while the jobs wrote {}: its file system allocated the blocks during the run. A second \
         run on the same blocks will have other figures.",
        backing.path,
        layer.name,
        text::bytes(grown),
        text::bytes(written)
    );
    let evidence = vec![Measured::bytes("written by the jobs", written), Measured::bytes("allocated for them", grown)];
    Some(Observation::of_jobs(jobs, evidence, explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{BackingFile, ExtentBytes, LayerKind, Reading};

    fn scene(mix: DirectionMix, grown_bytes: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", mix));
        let mut over = layer("loop0", LayerKind::Loop, &["sda"]);
        over.bytes = Some([100 * MIB; 2]);
        over.backing = Some(BackingFile {
            path: "/image".to_owned(),
            allocated_before_bytes: MIB,
            allocated_bytes: MIB + grown_bytes,
            ..BackingFile::default()
        });
        let mut disk = layer("sda", LayerKind::Disk, &[]);
        disk.bytes = Some([100 * MIB; 2]);
        scene.layers(vec![layer("/data", LayerKind::FileSystem, &["loop0"]), over, disk]);
        scene
    }

    #[test]
    fn a_tenth_of_the_written_bytes_is_told() {
        assert_eq!(scene(DirectionMix::Write, 10 * MIB).found(), ["volume-grew"]);
        assert_eq!(scene(DirectionMix::Write, 10 * MIB - 512).found(), Vec::<String>::new());
        assert_eq!(scene(DirectionMix::Read, 100 * MIB).found(), Vec::<String>::new());
    }

    #[test]
    fn logs_verifications_and_preparations_are_new_on_purpose() {
        let mut log = scene(DirectionMix::Write, 100 * MIB);
        log.jobs[0].durability.fdatasync_blocks = 1;
        assert!(log.found().contains(&"volume-grew".to_owned()), "it overwrites its file");
        log.record.workers[0].n_laid_out = Some(1);
        assert!(!log.found().contains(&"volume-grew".to_owned()));
        let mut filled = scene(DirectionMix::Write, 100 * MIB);
        filled.jobs[0].target.filenames = vec!["f".to_owned()];
        let mut test = job("test", DirectionMix::Read);
        test.target.filenames = vec!["f".to_owned()];
        let place = filled.places[0].clone();
        filled.add(test, place);
        assert!(filled.found().contains(&"volume-grew".to_owned()), "both at once");
        filled.jobs[1].grouping.stonewall = true;
        assert!(!filled.found().contains(&"volume-grew".to_owned()));
        let mut verified = scene(DirectionMix::Write, 100 * MIB);
        verified.jobs[0].verify = Some(ferrio_spec::VerifySpec::of(ferrio_spec::VerifyMethod::Crc32c));
        assert!(!verified.found().contains(&"volume-grew".to_owned()));
    }

    #[test]
    fn new_blocks_of_the_files_are_the_better_reason() {
        let mut scene = scene(DirectionMix::Write, 100 * MIB);
        scene.places[0].before.extents = Reading::Value(ExtentBytes::default());
        assert_eq!(scene.found(), ["first-writes"]);
    }
}
