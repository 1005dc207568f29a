//! Jobs that were stopped by signals for a part of their time.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "stopped-by-signal",
    title: "The job was stopped for a while",
    severity: Severity::Misleading,
    what: "The time for which the process of a job, or ferrio as a whole, was stopped by a signal, as the supervisor has seen it ten times a \
           second. It is reported from a fiftieth of the job's time and a fifth of a second on.",
    why: "The time counts, and nothing was done in it: rates are too low, and an I/O that was in flight has the stop in its latency. The \
          storage has no part in it.",
    example: "--name=a --rw=randread --size=1g --time_based --runtime=10 (and kill -STOP of its process)",
    cure: "Repeat the run without stops: no Ctrl-Z, no SIGSTOP, no container that is frozen meanwhile.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Transient,
    yields_to: &[],
    find,
};

const LEAST_SHARE: f64 = 0.02;
const LEAST_SECS: f64 = 0.2;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let total = job.total.as_ref()?;
    let stopped = total.features.times.as_deref()?.stopped_ns as f64 / 1e9;
    let whole = total.total_runtime_ns as f64 / 1e9;
    if stopped < LEAST_SECS || stopped < LEAST_SHARE * whole {
        return None;
    }
    let explanation = format!(
        "A signal stopped the job for {} s, {} of its time: nothing was done in it, and it counts.",
        text::short(stopped),
        text::percent(stopped, whole)
    );
    Some(Observation::of(
        job,
        vec![Measured::seconds("stopped", stopped), Measured::seconds("runtime", whole)],
        explanation,
    ))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TimeCounts;

    #[test]
    fn a_fiftieth_of_the_time_is_told() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let mut stopped = |stopped_ns: u64| {
            let stats = scene.stats();
            stats.total_runtime_ns = 10_000_000_000;
            stats.features.times = Some(Box::new(TimeCounts { stopped_ns, ..TimeCounts::default() }));
            scene.found()
        };
        assert_eq!(stopped(190_000_000), Vec::<String>::new());
        assert_eq!(stopped(210_000_000), ["stopped-by-signal"]);
        let explanation = scene.finding("stopped-by-signal").explanation;
        assert!(explanation.starts_with("A signal stopped the job for 0.21 s, 2 % of its time:"), "{explanation}");
    }
}
