//! I/O in a small range again and again, past the page cache.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::asked::waits_for_writes;
use crate::measures::ranges::range_bytes;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "range-read-again",
    title: "A small range was read again and again",
    severity: Severity::Note,
    what: "The bytes that a job with direct I/O has read, and the size of the range that it reads (size, or its files). It is reported where the \
           range has at most 32 MiB and was read ten times or more.",
    why: "Drives, controllers and the hosts of virtual machines have caches of this size and more. After the first time they can answer \
          from memory, and nothing that the kernel counts shows that.",
    example: "--name=a --filename=/dev/sdx --rw=randread --size=1m --direct=1 --runtime=60 --time_based",
    cure: "Read a range that is much larger than the caches below: a larger --size, or the whole device.",
    needs: &[EvidenceKind::Ranges],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "reads-of-unwritten-extents", "device-did-less"],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job, DataDirection::Read)).collect(),
};

pub(crate) const WRITTEN: FindingRule = FindingRule {
    id: "range-written-again",
    title: "A small range was written again and again",
    severity: Severity::Note,
    what: "The bytes that a job with direct I/O and without syncs has written, and the size of the range that it writes (size, or its files). It is reported where the \
           range has at most 32 MiB and was written ten times or more.",
    why: "A cache of the device, of its controller or of the host of a virtual machine holds such a range, and need not write a block that is written anew before its turn comes.",
    example: "--name=a --filename=/data/f --rw=randwrite --size=1m --direct=1 --runtime=60 --time_based",
    cure: "Write a range that is much larger than the caches below: a larger --size, or the whole device; or sync as the program does that you want to know about (--fsync=1).",
    needs: &[EvidenceKind::Ranges],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "device-did-less", "volatile-cache", "lower-device-did-less"],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job, DataDirection::Write)).collect(),
};

const LARGEST_BYTES: u64 = 32 << 20;
const TIMES: u64 = 10;

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>, direction: DataDirection) -> Option<Observation> {
    let is_written = direction == DataDirection::Write;
    let moved_bytes = job.figures(direction)?.bytes;
    if is_written && (waits_for_writes(job) || job.spec.verify.is_some()) {
        return None;
    }
    let is_past_cache = job.spec.durability.direct && job.has_files() && !job.engine.moves_nothing();
    if !is_past_cache || job.has_more_files || job.spec.replay.is_set() || job.places.iter().any(is_in_memory) {
        return None;
    }
    let range_bytes = range_bytes(case, job).filter(|bytes| (1..=LARGEST_BYTES).contains(bytes))?;
    let n_times = moved_bytes / range_bytes;
    if n_times < TIMES {
        return None;
    }
    let done = if is_written { "written" } else { "read" };
    let explanation = format!(
        "The job has {done} the same {} {n_times} times: a cache of that size in or below the device may have answered.",
        text::bytes(range_bytes)
    );
    let moved = if is_written { "written by the job" } else { "read by the job" };
    let evidence = vec![Measured::bytes(moved, moved_bytes), Measured::bytes("range", range_bytes)];
    Some(Observation::of(job, evidence, explanation).about(direction))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{DirectionMix, SizeSpec};

    fn scene(size_bytes: u64, read_bytes: u64) -> Vec<String> {
        let mut job = job("a", DirectionMix::Read);
        job.extent.size = Some(SizeSpec::Bytes(size_bytes));
        let mut scene = TestRun::new(job);
        scene.stats().directions.0[0].bytes = read_bytes;
        scene.disk_bytes[0] = read_bytes;
        scene.found()
    }

    #[test]
    fn a_small_range_that_is_read_ten_times_is_told() {
        assert_eq!(scene(10 * MIB, 100 * MIB), ["range-read-again"]);
        assert_eq!(scene(10 * MIB, 100 * MIB - 1), Vec::<String>::new());
        assert_eq!(scene(32 * MIB, 320 * MIB), ["range-read-again"]);
        assert_eq!(scene(33 * MIB, 1000 * MIB), Vec::<String>::new());
    }
    #[test]
    fn a_small_range_that_is_written_ten_times_is_told() {
        let is_told = |written_bytes: u64, fsync_blocks: u32| {
            let mut job = job("a", DirectionMix::Write);
            job.extent.size = Some(SizeSpec::Bytes(10 * MIB));
            job.durability.fsync_blocks = fsync_blocks;
            let mut scene = TestRun::new(job);
            scene.stats().directions.0[1].bytes = written_bytes;
            scene.disk_bytes[1] = written_bytes;
            scene.found().contains(&"range-written-again".to_owned())
        };
        assert!(is_told(100 * MIB, 0));
        assert!(!is_told(100 * MIB - 1, 0));
        assert!(!is_told(100 * MIB, 1));
    }
}
