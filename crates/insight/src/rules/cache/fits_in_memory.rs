//! Buffered reads of files that the page cache can hold, more than once.

use crate::case::{Case, CaseJob, is_in_memory};
use crate::rules::{FindingRule, Observation};
use crate::text;
use ferrio_spec::SizeSpec;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "fits-in-memory",
    title: "The page cache can hold what is read again and again",
    severity: Severity::Misleading,
    what: "Before a run: the size of what a job reads through the page cache, where it reads it more than once (time_based, loops, io_size \
           above size), and the memory of the machine or of the control group. It speaks below 80 % of that memory.",
    why: "With invalidate=1, the default, the first pass over the data comes from the device, and later ones come from memory (with \
          invalidate=0 perhaps the first one too). The figures are a mixture of both, and depend on how long the run is.",
    example: "--name=a --rw=randread --size=1g --runtime=60 --time_based",
    cure: "Add --direct=1, or read much more than the memory holds.",
    yields_to: &[],
    find,
};

/// As much of the memory may be page cache.
const SHARE: f64 = 0.8;

fn find(case: &Case<'_>) -> Vec<Observation> {
    // After a run the counters of the device say more.
    if !case.is_before() {
        return Vec::new();
    }
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &Case<'_>, job: &CaseJob<'_>) -> Option<Observation> {
    if !job.is_buffered()
        || !job.does(DataDirection::Read)
        || job.places.iter().any(is_in_memory)
        || job.places.is_empty()
    {
        return None;
    }
    let Some(SizeSpec::Bytes(size_bytes)) = job.spec.extent.size else { return None };
    let io_bytes = match job.spec.extent.io_size {
        Some(SizeSpec::Bytes(bytes)) => bytes,
        _ => size_bytes,
    };
    let limits = &job.spec.limits;
    // A job with a number of I/Os may end in its first pass.
    let repeats = limits.time_based && limits.runtime_us > 0 || limits.loops > 1 || io_bytes > size_bytes;
    if !repeats || job.spec.extent.number_ios > 0 || job.spec.replay.is_set() {
        return None;
    }
    let all_bytes = size_bytes.saturating_mul(u64::from(job.n_clones));
    let memory_bytes = case.provenance.limits.memory_bytes.unwrap_or(case.provenance.memory_bytes);
    if all_bytes as f64 >= memory_bytes as f64 * SHARE {
        return None;
    }
    let first = if job.spec.layout.invalidate {
        "only the first pass comes from the device"
    } else {
        "the device may be asked for nothing"
    };
    let explanation = format!(
        "The job reads {} more than once through the page cache, and there are {} of memory: {first}.",
        text::bytes(all_bytes),
        text::bytes(memory_bytes)
    );
    let evidence = vec![Measured::bytes("data that is read", all_bytes), Measured::bytes("memory", memory_bytes)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Read))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{DirectionMix, SizeSpec};

    /// Reads 100 MiB for a minute, or once.
    fn scene(direct: bool, time_based: bool) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        job.durability.direct = direct;
        (job.limits.runtime_us, job.limits.time_based) = (60_000_000, time_based);
        TestRun::new(job).before()
    }

    #[test]
    fn three_things_must_come_together() {
        assert_eq!(scene(false, true).found(), ["fits-in-memory"]);
        assert_eq!(scene(true, true).found(), Vec::<String>::new());
        assert_eq!(scene(false, false).found(), Vec::<String>::new());
        let mut large = scene(false, true);
        // The machine has 16 GiB.
        large.jobs[0].extent.size = Some(SizeSpec::Bytes(14 << 30));
        assert_eq!(large.found(), Vec::<String>::new());
        let mut group = scene(false, true);
        group.limits.memory_bytes = Some(125 * MIB);
        assert_eq!(group.found(), Vec::<String>::new());
        group.limits.memory_bytes = Some(126 * MIB);
        assert_eq!(group.found(), ["fits-in-memory"]);
    }

    #[test]
    fn every_way_to_read_again_counts() {
        let mut loops = scene(false, false);
        loops.jobs[0].limits.loops = 2;
        assert_eq!(loops.found(), ["fits-in-memory"]);
        let mut io_size = scene(false, false);
        io_size.jobs[0].extent.io_size = Some(SizeSpec::Bytes(100 * MIB));
        assert_eq!(io_size.found(), Vec::<String>::new());
        io_size.jobs[0].extent.io_size = Some(SizeSpec::Bytes(100 * MIB + 1));
        let finding = io_size.finding("fits-in-memory");
        assert!(finding.explanation.ends_with("only the first pass comes from the device."), "{finding:?}");
        io_size.jobs[0].layout.invalidate = false;
        let finding = io_size.finding("fits-in-memory");
        assert!(finding.explanation.ends_with("the device may be asked for nothing."), "{finding:?}");
    }
}
