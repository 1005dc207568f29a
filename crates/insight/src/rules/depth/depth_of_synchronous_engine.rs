//! A depth that a synchronous engine cannot have.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "depth-of-synchronous-engine",
    title: "A synchronous engine has no depth",
    severity: Severity::Misleading,
    what: "The options of a job: iodepth above 1 with an engine that waits for each I/O (sync, psync, vsync, pvsync, pvsync2, mmap, \
           ...), without io_submit_mode=offload.",
    why: "One I/O is in flight at a time, whatever iodepth says.",
    example: "--name=a --ioengine=psync --iodepth=32 --rw=randread --direct=1 --size=1g",
    cure: "Take --ioengine=io_uring or --ioengine=libaio, or as many jobs as I/Os shall be in flight (--numjobs).",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let is_one = |job: &&AuditedJob<'_>| {
        let waits = job.engine.waits() && job.engine.is_inline() && job.has_files();
        waits && job.spec.queue.iodepth > 1 && !job.spec.submission.offload
    };
    let found = |job: &AuditedJob<'_>| {
        let depth = job.spec.queue.iodepth;
        let explanation = format!(
            "{} waits for each I/O before it begins the next: iodepth={depth} has no effect, the depth is 1.",
            job.engine.name
        );
        Observation::of(job, vec![Measured::count("iodepth", f64::from(depth))], explanation)
    };
    case.jobs.iter().filter(is_one).map(found).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn a_depth_of_one_or_a_pool_is_right() {
        let scene = |iodepth: u32, offload: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            (scene.jobs[0].queue.iodepth, scene.jobs[0].submission.offload) = (iodepth, offload);
            scene.found()
        };
        assert_eq!(scene(2, false), ["depth-of-synchronous-engine"]);
        assert_eq!(scene(1, false), Vec::<String>::new());
        assert_eq!(scene(2, true), Vec::<String>::new());
    }
}
