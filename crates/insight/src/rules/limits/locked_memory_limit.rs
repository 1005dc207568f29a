//! More locked memory than the process may have.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::engines::options::io_uring::FIXEDBUFS;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "locked-memory-limit",
    title: "The jobs lock more memory than the process may",
    severity: Severity::Wrong,
    what: "Before a run: the memory that the jobs of a group lock (lockmem of each process; the registered buffers of fixedbufs, iodepth \
           times the block size, of all workers together), and the memory that may be locked (RLIMIT_MEMLOCK), where the process has no \
           privilege to exceed it.",
    why: "The kernel refuses the lock with ENOMEM or EPERM, and the job ends: there will be no figures.",
    example: "--name=a --ioengine=io_uring --fixedbufs --iodepth=256 --bs=128k --rw=randread --size=1g --direct=1",
    cure: "Raise the limit (ulimit -l unlimited, LimitMEMLOCK=infinity), or leave out fixedbufs and lockmem.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let Some(limit_bytes) = case.provenance.limits.locked_bytes.filter(|_| case.is_before()) else {
        return Vec::new();
    };
    case.groups().into_values().filter_map(|jobs| of_group(&jobs, limit_bytes)).collect()
}

fn of_group(jobs: &[&AuditedJob<'_>], limit_bytes: u64) -> Option<Observation> {
    // The kernel counts registered buffers for the user, and other locked memory for the process.
    let registered = sum(jobs.iter().map(|job| registered_bytes(job)));
    let locks = |job: &&&AuditedJob<'_>| job.spec.worker.lockmem_bytes > limit_bytes;
    let locked = jobs.iter().find(locks).map(|job| job.spec.worker.lockmem_bytes);
    let (needed, option) = match locked {
        Some(bytes) => (bytes, "lockmem"),
        None => (registered, FIXEDBUFS.name()),
    };
    if needed <= limit_bytes {
        return None;
    }
    let is_one = |job: &&&AuditedJob<'_>| match locked {
        Some(_) => job.spec.worker.lockmem_bytes > limit_bytes,
        None => registered_bytes(job) > 0,
    };
    let explanation = format!(
        "{option} locks {} of memory, and this process may lock {}: the kernel will refuse it.",
        text::bytes(needed),
        text::bytes(limit_bytes)
    );
    let evidence = vec![Measured::bytes("memory to lock", needed), Measured::bytes("RLIMIT_MEMLOCK", limit_bytes)];
    let jobs = jobs.iter().filter(is_one).copied();
    Some(Observation::of_jobs(jobs, evidence, explanation))
}

/// Memory of buffers that the job registers with the kernel.
fn registered_bytes(job: &AuditedJob<'_>) -> u64 {
    if job.spec.engine.options.get(&FIXEDBUFS) { job.buffer_bytes() } else { 0 }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job, place};
    use ferrio_spec::engines::options::io_uring::FIXEDBUFS;
    use ferrio_spec::{BlockRange, DirectionMix, JobSpec};
    use ferrio_units::PerDirection;

    /// Buffers of 8 MiB.
    fn registering(name: &str) -> JobSpec {
        let mut job = job(name, DirectionMix::Read);
        "io_uring".clone_into(&mut job.engine.name);
        (job.queue.iodepth, job.queue.low) = (128, 128);
        job.pattern.block_size = PerDirection::all(BlockRange::one(65_536));
        job.engine.options.set(&FIXEDBUFS, true);
        job
    }

    #[test]
    fn registered_buffers_of_all_jobs_count_together() {
        let mut scene = TestRun::new(registering("a")).before();
        scene.limits.locked_bytes = Some(8 * MIB);
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.limits.locked_bytes = Some(8 * MIB - 1);
        assert_eq!(scene.found(), ["locked-memory-limit"]);
        scene.limits.locked_bytes = Some(16 * MIB - 1);
        scene.add(registering("b"), place("/data/b"));
        let mut scene = scene.before();
        assert_eq!(scene.finding("locked-memory-limit").jobs, ["a", "b"]);
        scene.jobs[1].grouping.stonewall = true;
        assert_eq!(scene.found(), Vec::<String>::new());
        (scene.jobs[1].grouping.stonewall, scene.limits.locked_bytes) = (false, None);
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn locked_memory_counts_for_each_process() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
        scene.limits.locked_bytes = Some(MIB);
        scene.jobs[0].worker.lockmem_bytes = MIB;
        scene.jobs[0].numjobs = 4;
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.jobs[0].worker.lockmem_bytes = MIB + 1;
        let finding = scene.finding("locked-memory-limit");
        assert!(finding.explanation.starts_with("lockmem locks 1"), "{finding:?}");
    }
}
