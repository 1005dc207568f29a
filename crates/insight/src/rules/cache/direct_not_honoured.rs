//! Direct I/O that the file system does through the page cache.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::asked::is_direct_to_files;
use crate::measures::targets::has_mount_option;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity, TargetPlace};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "direct-not-honoured",
    title: "Direct I/O went through the page cache",
    severity: Severity::Wrong,
    what: "What the kernel says about direct I/O on the files of a job with direct=1 (STATX_DIOALIGN, and data=journal among the mount \
           options of ext4), and how much of the files the page cache holds after the run beyond what it held before. It is reported from \
           10 % of the bytes of the jobs on.",
    why: "Some file systems take O_DIRECT and read and write through the page cache all the same. The figures are then those of buffered \
          I/O: reads may come from memory, and writes may end there.",
    example: "--name=a --rw=randread --direct=1 --directory=/mnt/ext4-with-data-journal",
    cure: "Use a file system that does direct I/O on these files, or take the figures for those of buffered I/O.",
    needs: &[EvidenceKind::PageCache],
    looks_at_reports: false,
    contradicts: &["direct", "buffered"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const SHARE: f64 = 0.1;
const LEAST_BYTES: u64 = 1 << 20;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let by_kernel: Vec<Observation> = case.jobs.iter().filter_map(of_job).collect();
    if by_kernel.is_empty() { in_cache(case).into_iter().collect() } else { by_kernel }
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let place = job.places.iter().find(|place| refuses(place)).filter(|_| is_direct_to_files(job))?;
    let kind = place.file_system.as_deref().unwrap_or("the file system");
    let reason = if journals_data(place) { " mounted with data=journal" } else { "" };
    let explanation = format!(
        "{kind}{reason} does no direct I/O on {}: with direct=1 it refuses to open the file, or reads and writes go through the page \
         cache as if direct=1 were not given.",
        place.path
    );
    let mut found = Observation::of(job, Vec::new(), explanation);
    if journals_data(place) {
        found.cure = Some("Mount the file system without data=journal.".to_owned());
    }
    Some(found)
}

fn refuses(place: &TargetPlace) -> bool {
    place.now.direct_align_bytes.or(place.before.direct_align_bytes) == Some(0) || journals_data(place)
}

fn journals_data(place: &TargetPlace) -> bool {
    place.file_system.as_deref() == Some("ext4") && has_mount_option(place, "data=journal")
}

/// The page cache holds more of the files than before, though no job goes through it.
fn in_cache(case: &AuditInput<'_>) -> Option<Observation> {
    let cache = case.page_cache()?;
    let grown = cache.files.value()?.cached_bytes.saturating_sub(cache.files_before.value()?.cached_bytes);
    let with_files: Vec<&AuditedJob<'_>> = case.jobs.iter().filter(|job| job.has_files()).collect();
    // The figures of the cache are those of all files together.
    if !with_files.iter().all(|job| is_direct_to_files(job) && !job.spec.layout.pre_read) {
        return None;
    }
    let directions = [DataDirection::Read, DataDirection::Write];
    let figures = with_files.iter().flat_map(|job| directions.map(|direction| job.figures(direction)));
    let done = sum(figures.flatten().map(|figures| figures.bytes));
    let size = sum(with_files.iter().flat_map(|job| job.places).map(|place| place.now.size_bytes));
    let least = (done.min(size) as f64 * SHARE) as u64;
    if grown < LEAST_BYTES.max(least) || is_grown_by_others(case, &with_files, size) {
        return None;
    }
    let explanation = format!(
        "The page cache holds {} more of the files than before the run, though every job has direct=1: the file system reads and writes \
         through it.",
        text::bytes(grown)
    );
    let evidence =
        vec![Measured::bytes("read and written by the jobs", done), Measured::bytes("more in the page cache", grown)];
    Some(Observation::of_jobs(with_files, evidence, explanation))
}

/// Every read of the jobs was one of storage, on files that the kernel reads directly, or again and again: the pages are those of another program.
fn is_grown_by_others(case: &AuditInput<'_>, jobs: &[&AuditedJob<'_>], size: u64) -> bool {
    const ALL: f64 = 0.98;
    let read = sum(jobs.iter().filter_map(|job| job.figures(DataDirection::Read)).map(|figures| figures.bytes));
    let only_read = jobs.iter().all(|job| !job.does(DataDirection::Write) && !job.does(DataDirection::Trim));
    let charged = case.charged().map_or(0, |charged| charged.read_bytes);
    let mut places = jobs.iter().flat_map(|job| job.places);
    let is_direct = places.all(|place| place.now.direct_align_bytes.is_some_and(|bytes| bytes > 0));
    only_read && charged as f64 >= ALL * read as f64 && (is_direct || read > size.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{FileCache, IoCounters, PageCache, ProcessIo, Reading};

    #[test]
    fn a_file_without_direct_io_is_told() {
        let scene = |align: Option<u32>, direct: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            scene.places[0].before.direct_align_bytes = align;
            scene.places[0].now.direct_align_bytes = align;
            scene.jobs[0].durability.direct = direct;
            scene.found()
        };
        assert_eq!(scene(Some(0), true), ["direct-not-honoured"]);
        assert_eq!(scene(Some(512), true), Vec::<String>::new());
        assert_eq!(scene(None, true), Vec::<String>::new());
        assert_eq!(scene(Some(0), false), Vec::<String>::new());
    }

    #[test]
    fn a_journal_of_data_is_told_before_the_file_is_there() {
        let mut scene = TestRun::new(job("a", DirectionMix::Write)).before();
        scene.places[0].mount_options = Some("rw,nodelalloc,data=journal".to_owned());
        assert_eq!(scene.found(), ["direct-not-honoured"]);
        scene.places[0].mount_options = Some("rw,data=ordered".to_owned());
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn pages_that_came_during_the_run_are_evidence() {
        let scene = |before: u64, after: u64, direct: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.jobs[0].durability.direct = direct;
            // The device has read nothing: the one cause has one finding.
            scene.disk_bytes = if direct { [0, 0] } else { [100 * MIB, 0] };
            let cache = |cached_bytes| Reading::Value(FileCache { cached_bytes, ..FileCache::default() });
            scene.record.evidence.page_cache =
                Some(PageCache { machine: Reading::default(), files_before: cache(before), files: cache(after) });
            scene.found()
        };
        assert_eq!(scene(0, 10 * MIB, true), ["direct-not-honoured"]);
        assert_eq!(scene(0, 10 * MIB - 4096, true), ["device-did-less"]);
        assert_eq!(scene(95 * MIB, 100 * MIB, true), ["device-did-less"]);
        assert_eq!(scene(0, 100 * MIB, false), Vec::<String>::new());
    }

    /// 100 MiB are read from a file of as many bytes, which another program reads through the page cache.
    #[test]
    fn pages_of_another_program_are_no_evidence() {
        let is_told = |charged: u64, align: Option<u32>, size: u64, mix: DirectionMix| {
            let mut scene = TestRun::new(job("a", mix));
            let now = &mut scene.places[0].now;
            (now.direct_align_bytes, now.size_bytes) = (align, size);
            let cache = |cached_bytes| Reading::Value(FileCache { cached_bytes, ..FileCache::default() });
            scene.record.evidence.page_cache =
                Some(PageCache { machine: Reading::default(), files_before: cache(0), files: cache(size) });
            let total = IoCounters { read_bytes: charged, ..IoCounters::default() };
            scene.record.evidence.process_io = Some(ProcessIo { total: Reading::Value(total), workers: vec![] });
            scene.found().contains(&"direct-not-honoured".to_owned())
        };
        assert!(!is_told(100 * MIB, Some(512), 100 * MIB, DirectionMix::Read));
        assert!(is_told(97 * MIB, Some(512), 100 * MIB, DirectionMix::Read), "some reads came from memory");
        assert!(is_told(100 * MIB, None, 100 * MIB, DirectionMix::Read), "they may have come through it");
        assert!(!is_told(100 * MIB, None, 49 * MIB, DirectionMix::Read));
        assert!(is_told(100 * MIB, Some(512), 100 * MIB, DirectionMix::Write));
    }
}
