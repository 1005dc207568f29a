//! Latencies that include the wait for other I/Os of a batch.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "completions-in-batches",
    title: "Latencies include the wait for other I/Os",
    severity: Severity::Note,
    what: "The number of I/Os for which a job waits before it looks at any (iodepth_batch_complete_min), and its depth. It is reported where that is three quarters of the depth or \
           more, and 4 or more.",
    why: "An I/O that is done waits, unseen, for the others of its batch, and that time is a part of its latency: the fastest are as slow as the slowest of their batch.",
    example: "--name=a --filename=/data/f --size=1g --rw=randread --direct=1 --ioengine=libaio --iodepth=32 --iodepth_batch_complete_min=32",
    cure: "Leave out iodepth_batch_complete_min where latencies matter: --iodepth_batch_complete_max reaps as many together, and waits for one.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["depth-of-synchronous-engine", "asynchronous-without-direct"],
    find: |case| observations(case),
};

const LEAST: u32 = 4;

fn observations(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let queue = &job.spec.queue;
    let least = queue.batch_complete_min;
    let waits = least >= LEAST && least.saturating_mul(4) >= queue.iodepth.saturating_mul(3) && queue.iodepth > 1;
    if !waits || job.engine.is_inline() || job.engine.moves_nothing() {
        return None;
    }
    let explanation = format!(
        "The job looks at its I/Os when {least} of {} are done: until then those that are done wait, and their latencies grow.",
        queue.iodepth
    );
    let evidence = vec![Measured::count("I/Os of a batch", f64::from(least))];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn is_told(engine: &str, depth: u32, least: u32) -> bool {
        let mut queued = job("a", DirectionMix::Read);
        engine.clone_into(&mut queued.engine.name);
        (queued.queue.iodepth, queued.queue.batch_complete_min) = (depth, least);
        TestRun::new(queued).before().found().contains(&RULE.id.to_owned())
    }

    #[test]
    fn a_wait_for_most_of_the_depth_is_told() {
        assert!(is_told("libaio", 16, 12));
        assert!(!is_told("libaio", 16, 11));
        assert!(!is_told("libaio", 4, 3));
        assert!(!is_told("libaio", 1, 1));
        assert!(!is_told("psync", 16, 16));
    }
}
