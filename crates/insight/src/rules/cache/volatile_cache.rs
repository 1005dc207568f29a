//! Writes that may stay in a cache of the device that needs power.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::waits_for_writes;
use crate::on_device::is_direct;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::{DirectionMix, SizeSpec};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "volatile-cache",
    title: "A cache of the device may take all writes, and nothing empties it",
    severity: Severity::Note,
    what: "The options of a job that has not run: it writes with direct=1, at most 1 GiB, in a mix with less than 70 % reads if it reads too, without verify, fsync, fdatasync, sync, end_fsync or the \
           like, and the device says that it has a write-back cache (queue/write_cache). A job that has run is not spoken of: whether the \
           cache took its writes leaves no trace.",
    why: "The option direct avoids the cache of the kernel, not that of the device: a write is complete when it is in the device's memory, and is lost \
          without power until a flush. The latency of a write that is safe is that of a write with a flush.",
    example: "--name=wal --rw=write --bs=4k --direct=1 --size=64m",
    cure: "Add --fdatasync=1 (or --sync=dsync) to measure writes that survive a loss of power, or write several times the size of the cache.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "write-refused"],
    find,
};

/// Caches of drives have up to so much memory.
const CACHE_BYTES: u64 = 1 << 30;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    if !case.is_before() {
        return Vec::new();
    }
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let device = job.places.iter().find_map(|place| case.device(place.device.as_deref()?))?;
    let is_cached = device.write_cache.as_deref() == Some("write back");
    // A job that verifies is there for its verdict, and one that only verifies writes nothing.
    let is_check = job.spec.verify.is_some() || job.spec.is_verify_only();
    let writes = job.does(DataDirection::Write) && !is_mostly_read(job) && !is_check;
    if !writes || !is_cached || !is_direct(job) || waits_for_writes(job) {
        return None;
    }
    let Some(SizeSpec::Bytes(size_bytes)) = job.spec.extent.size else { return None };
    let all_bytes = size_bytes.saturating_mul(u64::from(job.n_clones));
    if all_bytes > CACHE_BYTES {
        return None;
    }
    let explanation = format!(
        "{} has a cache that needs power, nothing flushes it, and the {} of the job may fit into it: the figures may be those of its memory.",
        device.name,
        text::bytes(all_bytes)
    );
    Some(
        Observation::of(job, vec![Measured::bytes("size of the job", all_bytes)], explanation)
            .about(DataDirection::Write),
    )
}

/// A mix of mostly reads, whose figures a cache of writes changes little.
fn is_mostly_read(job: &AuditedJob<'_>) -> bool {
    const LEAST_PERCENT: u32 = 70;
    job.spec.pattern.mix == DirectionMix::ReadWrite && job.spec.pattern.rwmix_read >= LEAST_PERCENT
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{DirectionMix, SizeSpec, SyncMode};

    fn scene(mix: DirectionMix, write_cache: &str) -> TestRun {
        let mut scene = TestRun::new(job("a", mix));
        scene.device.write_cache = Some(write_cache.to_owned());
        scene
    }

    #[test]
    fn a_flush_or_a_cache_that_is_safe_is_enough() {
        assert_eq!(scene(DirectionMix::Write, "write back").before().found(), ["volatile-cache"]);
        assert_eq!(scene(DirectionMix::Write, "write back").found(), Vec::<String>::new());
        assert_eq!(scene(DirectionMix::Write, "write through").before().found(), Vec::<String>::new());
        assert_eq!(scene(DirectionMix::Read, "write back").before().found(), Vec::<String>::new());
        let mut flushed = scene(DirectionMix::Write, "write back").before();
        flushed.jobs[0].durability.sync = SyncMode::Dsync;
        let mut large = scene(DirectionMix::Write, "write back").before();
        large.jobs[0].extent.size = Some(SizeSpec::Bytes(1025 * MIB));
        let mix = |read_percent: u32| {
            let mut mix = scene(DirectionMix::ReadWrite, "write back").before();
            mix.jobs[0].pattern.rwmix_read = read_percent;
            mix
        };
        assert_eq!(mix(69).found(), ["volatile-cache"]);
        let mut verified = scene(DirectionMix::Write, "write back").before();
        verified.jobs[0].verify = Some(ferrio_spec::VerifySpec::of(ferrio_spec::VerifyMethod::Crc32c));
        for scene in [flushed, large, mix(70), verified] {
            assert_eq!(scene.found(), Vec::<String>::new());
        }
    }
}
