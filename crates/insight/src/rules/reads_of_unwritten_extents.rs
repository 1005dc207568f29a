//! Reads of blocks that were never written.

use super::{FindingRule, Observation};
use crate::case::{Case, CaseJob, sum};
use crate::text;
use ferrio_spec::SizeSpec;
use ferrio_stats::{ExtentBytes, Measured, Severity, TargetKind};
use ferrio_units::DataDirection;

pub(super) const RULE: FindingRule = FindingRule {
    id: "reads-of-unwritten-extents",
    title: "The files hold no data where they are read",
    severity: Severity::Wrong,
    what: "The extents of the files before the run: bytes that are allocated and unwritten, or in holes. It speaks where at least 5 % \
           of the bytes are, the job reads, and the device has read less than the job.",
    why: "The file system answers reads of such blocks with zeroes and asks no device, also with direct I/O.",
    example: "--name=a --filename=preallocated.dat --rw=randread --direct=1",
    cure: "Write the files first: run the job once with --rw=write --end_fsync=1.",
    find,
};

/// A smaller share changes no figure that anyone would notice.
const SHARE: f64 = 0.05;

fn find(case: &Case<'_>) -> Vec<Observation> {
    case.jobs.iter().filter(|job| explains(job) && is_confirmed(case, job)).map(|job| found(case, job)).collect()
}

/// Sums of a job's file extents; `None` unless the extents of all its files are known.
fn extents(job: &CaseJob<'_>) -> Option<(ExtentBytes, u64)> {
    let mut total = ExtentBytes::default();
    let mut size_bytes = 0;
    for place in job.places {
        let extents = place.before.extents.value().filter(|_| place.kind == TargetKind::File)?;
        total.unwritten_bytes = total.unwritten_bytes.saturating_add(extents.unwritten_bytes);
        total.hole_bytes = total.hole_bytes.saturating_add(extents.hole_bytes);
        size_bytes = place.before.size_bytes.saturating_add(size_bytes);
    }
    (size_bytes > 0).then_some((total, size_bytes))
}

/// A part of the job's files holds no data, and the job reads.
pub(super) fn explains(job: &CaseJob<'_>) -> bool {
    // A mix may read blocks that it has just written.
    let only_reads = job.does(DataDirection::Read) && !job.does(DataDirection::Write);
    only_reads && extents(job).is_some_and(|(extents, size)| extents.without_data_bytes() as f64 >= size as f64 * SHARE)
}

/// After a run the device has read less than the job. Before it the job will read the whole file.
fn is_confirmed(case: &Case<'_>, job: &CaseJob<'_>) -> bool {
    let Some(figures) = job.figures(DataDirection::Read) else {
        let size_bytes = sum(job.places.iter().map(|place| place.before.size_bytes));
        let is_whole = match job.spec.extent.size {
            None | Some(SizeSpec::Percent(100)) => true,
            Some(SizeSpec::Bytes(bytes)) => bytes >= size_bytes,
            Some(SizeSpec::Percent(_)) => false,
        };
        return case.is_before() && is_whole && job.spec.extent.offset == SizeSpec::Bytes(0);
    };
    let names = job.places.iter().filter_map(|place| place.device.as_deref());
    let disks: Vec<_> = names.filter_map(|name| case.record.disks()?.iter().find(|disk| disk.name == name)).collect();
    let device_bytes = sum(disks.iter().map(|disk| disk.counters.sectors[0].saturating_mul(512)));
    !disks.is_empty() && (device_bytes as f64) < figures.bytes as f64 * (1.0 - SHARE / 2.0)
}

fn found(case: &Case<'_>, job: &CaseJob<'_>) -> Observation {
    let (extents, size_bytes) = extents(job).unwrap_or_default();
    let share = text::percent(extents.without_data_bytes() as f64, size_bytes as f64);
    let what = match (extents.unwritten_bytes, extents.hole_bytes) {
        (_, 0) => "is in unwritten extents",
        (0, _) => "is in holes",
        _ => "is in unwritten extents and holes",
    };
    let reach = if case.is_before() { "will never reach the device" } else { "never reached the device" };
    let explanation = format!(
        "These reads {reach}: {share} of the job's files ({} of {}) {what}, and the file system answers with zeroes.",
        text::bytes(extents.without_data_bytes()),
        text::bytes(size_bytes)
    );
    let evidence = vec![
        Measured::bytes("in unwritten extents", extents.unwritten_bytes),
        Measured::bytes("in holes", extents.hole_bytes),
        Measured::bytes("size of the files", size_bytes),
    ];
    Observation::of(job.name, evidence, explanation)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MIB, TestRun, job};
    use super::*;
    use ferrio_spec::DirectionMix;
    use ferrio_stats::Reading;

    fn scene(unwritten_bytes: u64, mix: DirectionMix) -> TestRun {
        let mut scene = TestRun::new(job("a", mix));
        let extents =
            ExtentBytes { unwritten_bytes, written_bytes: 100 * MIB - unwritten_bytes, ..ExtentBytes::default() };
        scene.places[0].before.extents = Reading::Value(extents);
        scene.places[0].now.extents = Reading::Value(extents);
        scene.disk_bytes[0] -= unwritten_bytes.min(scene.disk_bytes[0]);
        scene
    }

    #[test]
    fn a_preallocated_file_is_told_instead_of_a_cache() {
        let scene = scene(100 * MIB, DirectionMix::Read);
        assert_eq!(scene.found(), ["reads-of-unwritten-extents"]);
        let finding = scene.finding("reads-of-unwritten-extents");
        assert!(
            finding.explanation.starts_with("These reads never reached the device: 100 % of the job's files"),
            "{}",
            finding.explanation
        );
        assert!(finding.cure.contains("--rw=write"));
    }

    #[test]
    fn a_part_counts_from_a_twentieth_on() {
        assert_eq!(scene(5 * MIB, DirectionMix::Read).found(), ["reads-of-unwritten-extents"]);
        assert_eq!(scene(5 * MIB - 4096, DirectionMix::Read).found(), Vec::<String>::new());
    }

    /// The job may have read the other part of the file.
    #[test]
    fn a_device_that_has_read_everything_is_believed() {
        let mut scene = scene(50 * MIB, DirectionMix::Read);
        scene.disk_bytes = [100 * MIB, 0];
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn before_the_run_the_whole_file_must_be_meant() {
        assert_eq!(scene(50 * MIB, DirectionMix::Read).before().found(), ["reads-of-unwritten-extents"]);
        let mut half = scene(50 * MIB, DirectionMix::Read).before();
        half.jobs[0].extent.size = Some(SizeSpec::Bytes(50 * MIB));
        assert_eq!(half.found(), Vec::<String>::new());
    }
}
