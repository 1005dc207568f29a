//! Buffered I/O in blocks smaller than a page, for which the kernel moves whole pages.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory, sum};
use crate::measures::cures::past_page_cache;
use crate::on_device::BlockPlaces;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "buffered-below-page",
    title: "The kernel moved whole pages for smaller blocks",
    severity: Severity::Misleading,
    what: "The sizes and places of random I/O through the page cache, and the bytes that the kernel has read and written for the processes of \
           the run (/proc/self/io). It is reported of blocks below 4 KiB, or not in whole pages, for which it moved half as much again as the \
           jobs asked for, or read pages to change a part of them; before a run, of such blocks.",
    why: "The page cache knows whole pages only: a read of 512 bytes reads a page, and a write of 512 bytes reads the page first and writes \
          all of it later. The device moves up to eight times as much as the figures say.",
    example: "--name=a --rw=randread --bs=512 --size=1g --ioengine=psync",
    cure: "Use a --bs of 4k or a multiple of it, or --direct=1, which moves just what the job asks for.",
    needs: &[EvidenceKind::Accounts, EvidenceKind::PartsOfPages],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// The least page of any machine.
const PAGE_BYTES: u64 = 4096;
/// So many times of what the jobs asked for.
const TIMES: f64 = 1.5;
/// Reads for writes, as a share of the written bytes.
const READS_OF_WRITES: f64 = 0.5;
/// Fewer bytes are not worth a word.
const LEAST_BYTES: u64 = 64 << 10;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let affected: Vec<&AuditedJob<'_>> = case.jobs.iter().filter(|job| is_affected(job)).collect();
    if affected.is_empty() {
        return Vec::new();
    }
    if case.is_before() {
        let of_job = |job| Observation { cure: cure(case, &[job]), ..Observation::of(job, Vec::new(), plan(job)) };
        return affected.into_iter().map(of_job).collect();
    }
    let Some(counters) = case.charged().filter(|_| is_alone(case)) else { return Vec::new() };
    let asked = |direction| {
        sum(case
            .jobs
            .iter()
            .filter(|job| job.has_files())
            .filter_map(|job| job.figures(direction))
            .map(|figures| figures.bytes))
    };
    let of_affected =
        |direction| sum(affected.iter().filter_map(|job| job.figures(direction)).map(|figures| figures.bytes));
    let (read, written) = (asked(DataDirection::Read), asked(DataDirection::Write));
    let reads_more =
        of_affected(DataDirection::Read) >= LEAST_BYTES && counters.read_bytes as f64 >= read as f64 * TIMES;
    let reads_first = of_affected(DataDirection::Write) >= LEAST_BYTES
        && counters.read_bytes.saturating_sub(read) as f64 >= written as f64 * READS_OF_WRITES;
    let writes_more =
        of_affected(DataDirection::Write) >= LEAST_BYTES && counters.write_bytes as f64 >= written as f64 * TIMES;
    let (direction, explanation) = match (reads_more && read > 0, reads_first || writes_more) {
        (true, _) => (
            DataDirection::Read,
            format!(
                "The jobs asked for {} and the kernel read {} from storage, {} times as much: each block needs its whole page.",
                text::bytes(read),
                text::bytes(counters.read_bytes),
                text::short(counters.read_bytes as f64 / read as f64)
            ),
        ),
        (false, true) => (
            DataDirection::Write,
            format!(
                "The jobs wrote {}, for which the kernel read {} from storage and made pages of {} dirty: a block is a part of a page, which is \
             read first and written as a whole.",
                text::bytes(written),
                text::bytes(counters.read_bytes.saturating_sub(read)),
                text::bytes(counters.write_bytes)
            ),
        ),
        (false, false) => return Vec::new(),
    };
    let evidence = vec![
        Measured::bytes("read by the jobs", read),
        Measured::bytes("read from storage", counters.read_bytes),
        Measured::bytes("written by the jobs", written),
        Measured::bytes("pages made dirty", counters.write_bytes),
    ];
    let cure = cure(case, &affected);
    vec![Observation { cure, ..Observation::of_jobs(affected, evidence, explanation) }.about(direction)]
}

/// The cure where blocks are too small for direct I/O too, or the engine has none.
fn cure(case: &AuditInput<'_>, jobs: &[&AuditedJob<'_>]) -> Option<String> {
    past_page_cache(case, jobs, ".").map(|way| format!("Use a --bs of 4k or a multiple of it. {way}"))
}

/// The kernel counts all processes of the run together, so other I/O of the run would be taken for that of these jobs.
fn is_alone(case: &AuditInput<'_>) -> bool {
    case.jobs.iter().all(|job| {
        let is_other = job.spec.verify.is_some() || job.spec.layout.pre_read || job.spec.replay.is_set();
        !is_other && (job.total.is_none() || is_affected(job) || job.spec.durability.direct || !job.has_files())
    })
}

/// The rule is about the job, and could not tell its I/O from that of others.
pub(crate) fn is_blind(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> bool {
    is_affected(job) && case.charged().is_some() && !is_alone(case)
}

/// Random I/O through the page cache that is not in whole pages. Neighbours of sequential I/O use the rest of a page.
fn is_affected(job: &AuditedJob<'_>) -> bool {
    let is_in_parts = |direction| job.does(direction) && !BlockPlaces::of(job, direction).are_whole(PAGE_BYTES);
    let is_stored = !job.places.is_empty() && !job.places.iter().any(is_in_memory);
    job.is_buffered()
        && job.spec.pattern.random
        && is_stored
        && [DataDirection::Read, DataDirection::Write].into_iter().any(is_in_parts)
}

fn plan(job: &AuditedJob<'_>) -> String {
    let smallest = [DataDirection::Read, DataDirection::Write].into_iter().filter(|direction| job.does(*direction));
    let smallest = smallest.map(|direction| job.spec.pattern.block_size[direction].min_bytes).min().unwrap_or(0);
    format!(
        "Blocks of {} through the page cache are not whole pages: the kernel will move a page of 4 KiB or more for each part of one.",
        text::bytes(smallest)
    )
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{BlockRange, DirectionMix, JobSpec};
    use ferrio_stats::{IoCounters, ProcessIo, Reading};

    /// Random I/O of 100 MiB in blocks of 512 bytes, for which the kernel read and wrote so many MiB.
    fn scene(mix: DirectionMix, read_mib: u64, written_mib: u64, change: fn(&mut JobSpec)) -> TestRun {
        let mut job = job("a", mix);
        job.pattern.random = true;
        job.durability.direct = false;
        job.pattern.block_size.0 = [BlockRange { min_bytes: 512, max_bytes: 512 }; 3];
        change(&mut job);
        let mut scene = TestRun::new(job);
        let counters =
            IoCounters { read_bytes: read_mib * MIB, write_bytes: written_mib * MIB, ..IoCounters::default() };
        let io = ProcessIo { total: Reading::Value(counters), workers: Vec::new() };
        scene.record.evidence.process_io = Some(io);
        scene
    }

    fn is_told(scene: &TestRun) -> bool {
        scene.found().contains(&"buffered-below-page".to_owned())
    }

    #[test]
    fn half_as_much_again_is_told() {
        assert!(is_told(&scene(DirectionMix::Read, 150, 0, |_| ())));
        assert!(!is_told(&scene(DirectionMix::Read, 149, 0, |_| ())));
        assert!(is_told(&scene(DirectionMix::Write, 50, 100, |_| ())), "reads for writes");
        assert!(is_told(&scene(DirectionMix::Write, 0, 150, |_| ())));
        assert!(!is_told(&scene(DirectionMix::Write, 49, 149, |_| ())));
        let finding = scene(DirectionMix::Read, 800, 0, |_| ()).finding("buffered-below-page");
        assert!(
            finding.explanation.contains("asked for 100 MiB and the kernel read 800 MiB from storage, 8 times"),
            "{finding:?}"
        );
    }

    #[test]
    fn whole_pages_direct_and_sequential_io_are_left_alone() {
        let whole: fn(&mut JobSpec) =
            |job| job.pattern.block_size.0 = [BlockRange { min_bytes: 4096, max_bytes: 4096 }; 3];
        for change in [whole, |job| job.durability.direct = true, |job| job.pattern.random = false] {
            assert!(!is_told(&scene(DirectionMix::Read, 800, 0, change)));
            assert!(!is_told(&scene(DirectionMix::Read, 800, 0, change).before()));
        }
        assert!(is_told(&scene(DirectionMix::Read, 0, 0, |_| ()).before()));
    }
}
