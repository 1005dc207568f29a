//! Reads of blocks that were never written.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::extents::{self, LEAST_SHARE};
use crate::measures::ranges::range_bytes;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_spec::SizeSpec;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "reads-of-unwritten-extents",
    title: "The files hold no data where they are read",
    severity: Severity::Wrong,
    what: "The extents of the files before the run (after it, where an earlier job writes them), or of the file behind a loop device: bytes that are allocated and unwritten, or in \
           holes. It is reported where at least 5 % of the bytes are, the job reads, and the device has read less than the job.",
    why: "The file system answers reads of such blocks with zeroes and asks no device, also with direct I/O.",
    example: "--name=a --filename=preallocated.dat --rw=randread --direct=1",
    cure: "If the files hold nothing that somebody needs, write them first: run the job once with --rw=write --bs=1m --end_fsync=1, \
           without a runtime. Otherwise let the test make files of its own (--directory=DIR in the place of --filename).",
    needs: &[EvidenceKind::Extents, EvidenceKind::ReadsOfThreads],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs
        .iter()
        .filter(|job| extents::holds_no_data(case, job) && is_confirmed(case, job))
        .map(|job| found(case, job))
        .collect()
}

/// After a run the device has read less than the job. Before it the job will read the whole file.
fn is_confirmed(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> bool {
    let Some(figures) = job.figures(DataDirection::Read) else {
        let size_bytes = extents::of_files(case, job).map_or(0, |(_, size_bytes)| size_bytes);
        let is_whole = match job.spec.extent.size {
            None | Some(SizeSpec::Percent(100)) => true,
            Some(SizeSpec::Bytes(bytes)) => bytes >= size_bytes,
            Some(SizeSpec::Percent(_)) => false,
        };
        let reads_it_all = is_whole && job.spec.extent.offset == SizeSpec::Bytes(0);
        return case.is_before() && (reads_it_all || job.part.is_some());
    };
    let is_short = |bytes: u64| (bytes as f64) < figures.bytes as f64 * (1.0 - LEAST_SHARE / 2.0);
    let is_of_loop = job.places.iter().any(|place| extents::loop_of(case, place).is_some());
    if let Some(own) = job.own_reads(case).filter(|_| !is_of_loop) {
        return is_short(own.most);
    }
    // The disk below a loop device may have read for others, but it has no more than its data for this job: the rest came from holes.
    if is_of_loop
        && let (Some((extents, size_bytes)), Some(range_bytes)) = (extents::of_files(case, job), range_bytes(case, job))
        && let data_bytes = size_bytes.saturating_sub(extents.without_data_bytes())
        && data_bytes as f64 <= range_bytes.min(figures.bytes) as f64 * (1.0 - LEAST_SHARE)
    {
        return true;
    }
    // The loop device itself has read everything, from nothing.
    let depth = usize::from(job.places.iter().any(|place| extents::loop_of(case, place).is_some()));
    let levels = case.levels(job);
    let device_bytes = levels.get(depth).and_then(|level| case.level_bytes(level, DataDirection::Read));
    device_bytes.is_some_and(is_short)
}

fn found(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Observation {
    let (extents, size_bytes) = extents::of_files(case, job).unwrap_or_default();
    let share = text::percent(extents.without_data_bytes() as f64, size_bytes as f64);
    let what = match (extents.unwritten_bytes, extents.hole_bytes) {
        (_, 0) => "is in unwritten extents",
        (0, _) => "is in holes",
        _ => "is in unwritten extents and holes",
    };
    let place = job.places.iter().find_map(|place| extents::loop_of(case, place)?.backing.as_ref());
    let of_part = if job.part.is_some() { "the part that the job reads of " } else { "" };
    let files =
        place.map_or("the job's files".to_owned(), |backing| format!("{}, the file behind the device,", backing.path));
    let reach = if case.is_before() { "will never reach the device" } else { "never reached the device" };
    let explanation = format!(
        "These reads {reach}: {share} of {of_part}{files} ({} of {}) {what}, and the file system answers with zeroes.",
        text::bytes(extents.without_data_bytes()),
        text::bytes(size_bytes)
    );
    let evidence = vec![
        Measured::bytes("in unwritten extents", extents.unwritten_bytes),
        Measured::bytes("in holes", extents.hole_bytes),
        Measured::bytes("size of the files", size_bytes),
    ];
    Observation::of(job, evidence, explanation).about(DataDirection::Read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{MIB, TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{ExtentBytes, LayerKind, Reading, TargetKind};

    fn scene(unwritten_bytes: u64, mix: DirectionMix) -> TestRun {
        let mut scene = TestRun::new(job("a", mix));
        let extents =
            ExtentBytes { unwritten_bytes, written_bytes: 100 * MIB - unwritten_bytes, ..ExtentBytes::default() };
        scene.places[0].before.extents = Reading::Value(extents);
        scene.places[0].now.extents = Reading::Value(extents);
        scene.disk_bytes[0] -= unwritten_bytes.min(scene.disk_bytes[0]);
        scene
    }

    /// Preallocated when the run began, and written by the job before.
    #[test]
    fn what_an_earlier_job_has_written_is_data() {
        let told = |is_later: bool, mix: DirectionMix| {
            let on_file = |name: &str, mix: DirectionMix, is_later: bool| {
                let mut job = job(name, mix);
                job.target.filenames = vec!["f".to_owned()];
                job.grouping.stonewall = is_later;
                job
            };
            let mut scene = TestRun::new(on_file("w", mix, false));
            let place = scene.places[0].clone();
            scene.add(on_file("r", DirectionMix::Read, is_later), place);
            scene.disk_bytes[0] = 0;
            for place in &mut scene.places {
                let extents = ExtentBytes { unwritten_bytes: 100 * MIB, ..ExtentBytes::default() };
                place.before.extents = Reading::Value(extents);
                let extents = ExtentBytes { written_bytes: 100 * MIB, ..ExtentBytes::default() };
                place.now.extents = Reading::Value(extents);
            }
            scene.found()
        };
        let id = "reads-of-unwritten-extents".to_owned();
        let found = told(true, DirectionMix::Write);
        assert!(!found.contains(&id) && found.contains(&"device-did-less".to_owned()), "{found:?}");
        assert!(told(false, DirectionMix::Write).contains(&id) && told(true, DirectionMix::Read).contains(&id));
    }

    /// Extents that were allocated beforehand are unwritten until the page cache writes to them.
    #[test]
    fn what_an_earlier_job_has_left_in_the_page_cache_is_data() {
        let on_file = |name: &str, mix: DirectionMix, is_later: bool| {
            let mut job = job(name, mix);
            job.target.filenames = vec!["f".to_owned()];
            (job.grouping.stonewall, job.durability.direct) = (is_later, false);
            job
        };
        let mut scene = TestRun::new(on_file("w", DirectionMix::Write, false));
        let place = scene.places[0].clone();
        scene.add(on_file("r", DirectionMix::Read, true), place);
        scene.disk_bytes = [0, 0];
        for place in &mut scene.places {
            let extents = ExtentBytes { unwritten_bytes: 100 * MIB, ..ExtentBytes::default() };
            (place.before.extents, place.now.extents) = (Reading::Value(extents), Reading::Value(extents));
        }
        let id = "reads-of-unwritten-extents".to_owned();
        assert!(scene.found().contains(&id), "{:?}", scene.found());
        let waiting = ExtentBytes { delayed_bytes: 100 * MIB, ..ExtentBytes::default() };
        for place in &mut scene.places {
            place.now.extents = Reading::Value(waiting);
        }
        let found = scene.found();
        assert!(!found.contains(&id) && found.contains(&"device-did-less".to_owned()), "{found:?}");
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
    fn others_that_read_meanwhile_do_not_hide_it() {
        let mut scene = scene(100 * MIB, DirectionMix::Read);
        scene.disk_bytes = [500 * MIB, 0];
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.record.workers[0].stats.features.own_read_bytes = Some(0);
        assert_eq!(scene.found(), ["reads-of-unwritten-extents"]);
    }

    /// A job that reads 100 MiB of a loop device, whose file has a hole.
    #[test]
    fn behind_a_loop_device_the_part_of_the_job_decides() {
        let found = |hole_bytes: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            (scene.places[0].kind, scene.places[0].layer) = (TargetKind::Block, Some("loop0".to_owned()));
            scene.places[0].device = Some("loop0".to_owned());
            let extents = ExtentBytes { hole_bytes, written_bytes: 100 * MIB - hole_bytes, ..ExtentBytes::default() };
            scene.part = Some(ferrio_stats::BackingPart { size_bytes: 100 * MIB, extents });
            let mut top = layer("loop0", LayerKind::Loop, &["vda"]);
            let backing = ferrio_stats::BackingFile { path: "/image".to_owned(), ..Default::default() };
            (top.bytes, top.backing) = (Some([100 * MIB, 0]), Some(backing));
            // The disk has read much for others.
            let mut disk = layer("vda", LayerKind::Disk, &[]);
            disk.bytes = Some([120 * MIB, 0]);
            scene.layers(vec![top, disk]);
            scene.found()
        };
        assert_eq!(found(100 * MIB), ["reads-of-unwritten-extents"]);
        assert_eq!(found(0), Vec::<String>::new());
    }

    /// The file behind the device is looked at once, before the first job.
    #[test]
    fn what_an_earlier_job_has_written_to_a_loop_device_is_data() {
        let told = |is_later: bool| {
            let on_loop = |name: &str, mix: DirectionMix, is_later: bool| {
                let mut job = job(name, mix);
                job.target.filenames = vec!["/dev/loop0".to_owned()];
                job.grouping.stonewall = is_later;
                job
            };
            let mut scene = TestRun::new(on_loop("w", DirectionMix::Write, false));
            (scene.places[0].kind, scene.places[0].layer) = (TargetKind::Block, Some("loop0".to_owned()));
            scene.places[0].device = Some("loop0".to_owned());
            let place = scene.places[0].clone();
            scene.add(on_loop("r", DirectionMix::Read, is_later), place);
            "loop0".clone_into(&mut scene.device.name);
            scene.device.size_bytes = Some(100 * MIB);
            let extents = ExtentBytes { hole_bytes: 100 * MIB, ..ExtentBytes::default() };
            let backing = ferrio_stats::BackingFile {
                path: "/image".to_owned(),
                size_bytes: 100 * MIB,
                extents: Reading::Value(extents),
                ..Default::default()
            };
            let mut top = layer("loop0", LayerKind::Loop, &["vda"]);
            (top.bytes, top.backing) = (Some([100 * MIB; 2]), Some(backing));
            let mut disk = layer("vda", LayerKind::Disk, &[]);
            disk.bytes = Some([0, 100 * MIB]);
            scene.layers(vec![top, disk]);
            scene.found().contains(&"reads-of-unwritten-extents".to_owned())
        };
        assert!(told(false) && !told(true));
    }

    #[test]
    fn before_the_run_the_whole_file_must_be_meant() {
        assert_eq!(scene(50 * MIB, DirectionMix::Read).before().found(), ["reads-of-unwritten-extents"]);
        let mut half = scene(50 * MIB, DirectionMix::Read).before();
        half.jobs[0].extent.size = Some(SizeSpec::Bytes(50 * MIB));
        assert_eq!(half.found(), Vec::<String>::new());
    }
}
