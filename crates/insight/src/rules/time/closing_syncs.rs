//! Syncs at the end of a job that take a large part of its time.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "closing-syncs-counted",
    title: "Closing syncs are a large part of the time",
    severity: Severity::Note,
    what: "The time of the syncs at the ends of passes and before files are closed (end_fsync, fsync_on_close, end_syncfs), and the time of the job. It is reported from a \
           tenth of it on.",
    why: "Bandwidth and IOPS count that time, as they should where the cost of durable writes is asked for; no latency has it, and the course \
          of the run ends with a time in which nothing is written.",
    example: "--name=a --rw=write --bs=64k --size=1g --end_fsync=1",
    cure: "Take bandwidth as that of writes that are on the storage. For the rate of the writes before it, see the course of the run; for writes that \
           each wait for the storage, use --direct=1 --sync=dsync.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const LEAST_SHARE: f64 = 0.1;
const LEAST_SECS: f64 = 0.1;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let total = job.total.as_ref()?;
    let synced = total.features.times.as_deref()?.closing_syncs_ns as f64 / 1e9;
    let whole = total.total_runtime_ns as f64 / 1e9;
    if synced < LEAST_SECS || synced < LEAST_SHARE * whole {
        return None;
    }
    let latencies = if job.is_buffered() { "; the latencies of the writes are those of memory" } else { "" };
    let when = if job.spec.durability.fsync_on_close { "before files were closed" } else { "at the end" };
    let explanation = format!(
        "The syncs {when} took {} s, {} of the job's time: bandwidth and IOPS count it, and no latency does{latencies}.",
        text::short(synced),
        text::percent(synced, whole)
    );
    let evidence = vec![Measured::seconds("syncs at the end", synced), Measured::seconds("runtime", whole)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TimeCounts;

    #[test]
    fn a_tenth_of_the_time_is_told() {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        let mut synced = |closing_syncs_ns: u64| {
            let stats = scene.stats();
            stats.total_runtime_ns = 10_000_000_000;
            stats.features.times = Some(Box::new(TimeCounts { closing_syncs_ns, ..TimeCounts::default() }));
            scene.found().contains(&"closing-syncs-counted".to_owned())
        };
        assert!(!synced(990_000_000));
        assert!(synced(1_010_000_000));
    }
}
