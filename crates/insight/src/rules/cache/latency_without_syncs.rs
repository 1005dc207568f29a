//! Write latencies of a job that waits in its syncs.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::asked::{waits_at_end, waits_in_syncs};
use crate::measures::targets::has_mount_option;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_spec::SyncMode;
use ferrio_stats::{Figures, LatencyFigures, Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "latency-without-syncs",
    title: "The latency of the writes is that of the page cache",
    severity: Severity::Note,
    what: "The latencies of a job that writes through the page cache and waits for the device in syncs: those of fsync, fdatasync and \
           sync_file_range take longer than all its writes, or it syncs only when it ends or closes a file.",
    why: "The write returns when the data is in memory. What a program waits for until its data is safe is the write and the sync \
          behind it.",
    example: "--name=log --rw=write --bs=4k --size=4m --ioengine=psync --fdatasync=1",
    cure: "Read the latencies of the row sync, or write with --direct=1 --sync=dsync, so that each write waits for the device.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "closing-syncs-counted"],
    find,
};

const PERCENT: f64 = 99.0;
/// There is no row of syncs: those at the end have no latencies.
const CURE_OF_CLOSING: &str = "Take bandwidth and runtime, which count these syncs. For the latency of a write that is safe add --fdatasync=1, or write \
                               with --direct=1 --sync=dsync.";

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let is_stored = !job.places.iter().any(|place| is_in_memory(place) || has_mount_option(place, "sync"));
    if !job.is_buffered() || !is_stored || job.spec.durability.sync != SyncMode::None || !waits_in_syncs(job) {
        return None;
    }
    let writes = Figures::of(job.figures(DataDirection::Write)?)?;
    let (_, write) = writes.latency()?;
    let shown_ns = write.percentile(PERCENT)?.latency_ns;
    let p99 = |what: &str, ns: u64| Measured::seconds(&format!("p{PERCENT} of {what}"), ns as f64 / 1e9);
    let syncs = job.total.as_ref().and_then(Figures::of_syncs);
    let Some(sync) = syncs.as_ref().and_then(|syncs| syncs.lat.as_ref()) else {
        // Syncs between the writes that were never due are none.
        if !waits_at_end(job) {
            return None;
        }
        let explanation = format!(
            "99 of 100 writes took no more than {}: the time until they were in memory. The job waits for the device only in \
             the syncs at its end, which no latency holds; the bandwidth and the runtime do.",
            duration_text(shown_ns as f64)
        );
        let evidence = vec![p99("the writes", shown_ns)];
        let found = Observation::of(job, evidence, explanation).about(DataDirection::Write);
        return Some(Observation { cure: Some(CURE_OF_CLOSING.to_owned()), ..found });
    };
    let synced_ns = sync.percentile(PERCENT)?.latency_ns;
    if total_ns(sync) < total_ns(write) {
        return None;
    }
    let explanation = format!(
        "99 of 100 writes took no more than {}: the time until they were in memory. The syncs that waited for the device took \
         up to {} (99 of 100).",
        duration_text(shown_ns as f64),
        duration_text(synced_ns as f64)
    );
    let evidence = vec![p99("the writes", shown_ns), p99("the syncs", synced_ns)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

fn total_ns(latency: &LatencyFigures) -> f64 {
    latency.mean_ns * latency.n_samples as f64
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn scene(sync_ns: u64) -> TestRun {
        TestRun::synced(sync_ns)
    }

    #[test]
    fn syncs_that_take_longer_than_the_writes_are_told() {
        assert_eq!(scene(1_700_000).found(), ["latency-without-syncs"]);
        let explanation = scene(1_700_000).finding("latency-without-syncs").explanation;
        assert!(explanation.contains("300 us") && explanation.contains("1.70 ms"), "{explanation}");
        assert_eq!(scene(200_000).found(), Vec::<String>::new());
        let mut direct = scene(1_700_000);
        direct.jobs[0].durability.direct = true;
        assert_eq!(direct.found(), Vec::<String>::new());
    }

    #[test]
    fn a_closing_sync_is_in_no_latency() {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        scene.jobs[0].durability.direct = false;
        scene.jobs[0].durability.fsync_blocks = 100_000;
        assert!(!scene.found().contains(&"latency-without-syncs".to_owned()), "no sync was due");
        scene.jobs[0].durability.end_fsync = true;
        assert_eq!(scene.found(), ["latency-without-syncs"]);
        let cure = scene.finding("latency-without-syncs").cure;
        assert!(!cure.contains("row sync") && cure.contains("--fdatasync=1"), "{cure}");
        assert_eq!(scene.before().found(), Vec::<String>::new());
    }
}
