//! A depth that a synchronous engine cannot have.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::given::is_inherited;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_spec::SyncMode;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "depth-of-synchronous-engine",
    title: "A synchronous engine has no depth",
    severity: Severity::Misleading,
    what: "The options of a job: iodepth above 1 with an engine that waits for each I/O (sync, psync, vsync, pvsync, pvsync2, mmap, \
           ...), without io_submit_mode=offload, unless [global] has the depth for other jobs, and this one syncs after each write.",
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
        waits && job.spec.queue.iodepth > 1 && !job.spec.submission.offload && !is_beside_deep(case, job)
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

/// A log that waits for each write, beside jobs for which `[global]` has the depth: nobody expects it of the log.
fn is_beside_deep(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> bool {
    let durability = &job.spec.durability;
    let waits = durability.fsync_blocks == 1 || durability.fdatasync_blocks == 1 || durability.sync != SyncMode::None;
    let is_deep =
        |other: &AuditedJob<'_>| !other.engine.is_inline() && other.has_files() && is_inherited(case, other, "iodepth");
    let is_beside = || case.jobs.iter().any(|other| other.index != job.index && is_deep(other));
    waits && is_inherited(case, job, "iodepth") && is_beside()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, place};
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

    #[test]
    fn a_log_beside_deep_jobs_may_have_the_depth_of_all() {
        let is_told = |syncs: u32, is_own: bool| {
            let mut log = job("log", DirectionMix::Write);
            (log.queue.iodepth, log.durability.fdatasync_blocks) = (16, syncs);
            let depth = ("iodepth".to_owned(), "16".to_owned());
            log.given_options.extend(is_own.then(|| depth.clone()));
            let mut data = job("data", DirectionMix::Read);
            "libaio".clone_into(&mut data.engine.name);
            data.queue.iodepth = 16;
            let mut scene = TestRun::new(log);
            scene.add(data, place("/data/b"));
            scene.record.global_options = vec![depth];
            scene.before().found().contains(&super::RULE.id.to_owned())
        };
        assert!(!is_told(1, false));
        assert!(is_told(0, false));
        assert!(is_told(1, true));
    }
}
