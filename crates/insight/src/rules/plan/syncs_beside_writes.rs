//! A sync after each write, with several writes in flight.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::is_depth_in_vain;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "syncs-beside-writes",
    title: "Syncs do not wait for the writes in flight",
    severity: Severity::Note,
    what: "The options fsync=1 or fdatasync=1 with a depth above 1. It is reported where the engine has several writes in flight.",
    why: "A sync makes durable what the device has taken before it. Writes that are still in flight are not covered by the sync behind them, so the figures are not those of durable \
          writes one by one: they can be many times as high.",
    example: "--name=a --rw=write --size=1g --direct=1 --ioengine=libaio --iodepth=16 --fsync=1",
    cure: "Use iodepth=1 and, for several writers, numjobs; or sync=dsync, with which each write is durable when it is done.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let (durability, depth) = (&job.spec.durability, job.spec.queue.iodepth);
    let name = match (durability.fsync_blocks, durability.fdatasync_blocks) {
        (1, _) => "fsync",
        (_, 1) => "fdatasync",
        _ => return None,
    };
    let has_queue = depth > 1 && !job.engine.is_inline() && !is_depth_in_vain(job) && !job.engine.moves_nothing();
    if !has_queue || !job.does(DataDirection::Write) || job.spec.replay.is_set() {
        return None;
    }
    let explanation = format!(
        "With iodepth={depth} up to {} writes {} in flight beside a write when its {name} {} called.",
        depth - 1,
        if case.is_before() { "are" } else { "were" },
        if case.is_before() { "is" } else { "was" }
    );
    Some(Observation::of(job, vec![Measured::count("iodepth", f64::from(depth))], explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn is_told(engine: &str, depth: u32, fsync: u32) -> bool {
        let mut job = job("a", DirectionMix::Write);
        engine.clone_into(&mut job.engine.name);
        (job.queue.iodepth, job.durability.fsync_blocks) = (depth, fsync);
        let is_in = |scene: &TestRun| scene.found().contains(&"syncs-beside-writes".to_owned());
        let scene = TestRun::new(job);
        let after = is_in(&scene);
        assert_eq!(after, is_in(&scene.before()), "the same before and after the run");
        after
    }

    #[test]
    fn a_sync_after_each_write_of_a_queue_is_told() {
        assert!(is_told("libaio", 16, 1) && is_told("io_uring", 2, 1));
        assert!(!is_told("libaio", 1, 1) && !is_told("libaio", 16, 32) && !is_told("psync", 16, 1));
    }
}
