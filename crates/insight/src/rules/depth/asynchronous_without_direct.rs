//! An asynchronous engine that waits, because its I/O goes through the page cache.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::is_depth_in_vain;
use crate::measures::cures::past_page_cache;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "asynchronous-without-direct",
    title: "The engine is asynchronous only with direct I/O",
    severity: Severity::Misleading,
    what: "The options of a job: iodepth above 1, direct=0, and an engine whose buffered I/Os are done while they are handed over \
           (libaio).",
    why: "The kernel does a buffered request of libaio within io_submit(), so one I/O is in flight whatever iodepth says.",
    example: "--name=a --ioengine=libaio --iodepth=32 --rw=randread --size=1g",
    cure: "Add --direct=1, or take --ioengine=io_uring, which keeps buffered I/O in flight too.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let is_one = |job: &&AuditedJob<'_>| is_depth_in_vain(job);
    let found = |job: &AuditedJob<'_>| {
        let depth = job.spec.queue.iodepth;
        let explanation = format!(
            "{} does I/O through the page cache while it is handed over: iodepth={depth} has no effect, the depth is 1.",
            job.engine.name
        );
        let cure =
            past_page_cache(case, &[job], ", or take --ioengine=io_uring, which keeps buffered I/O in flight too.");
        Observation { cure, ..Observation::of(job, vec![Measured::count("iodepth", f64::from(depth))], explanation) }
    };
    case.jobs.iter().filter(is_one).map(found).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn three_things_must_come_together() {
        let scene = |engine: &str, direct: bool, iodepth: u32| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            engine.clone_into(&mut scene.jobs[0].engine.name);
            scene.jobs[0].durability.direct = direct;
            scene.jobs[0].queue.iodepth = iodepth;
            scene.found()
        };
        assert_eq!(scene("libaio", false, 32), ["asynchronous-without-direct"]);
        for (engine, direct, depth) in [("libaio", true, 32), ("libaio", false, 1), ("io_uring", false, 32)] {
            assert_eq!(scene(engine, direct, depth), Vec::<String>::new(), "{engine} {direct} {depth}");
        }
    }
}
