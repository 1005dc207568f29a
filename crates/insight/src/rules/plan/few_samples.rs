//! A percentile that rests on a handful of I/Os.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::counted;

pub const RULE: FindingRule = FindingRule {
    id: "few-samples",
    title: "The 99th percentile rests on few I/Os",
    severity: Severity::Note,
    what: "The number of latencies of a direction; of syncs, where a job has them between its writes. It is reported below 1,000: fewer than ten I/Os took longer than the 99th percentile.",
    why: "A percentile is the value of the slowest few I/Os, and with fewer than ten of them chance decides.",
    example: "--name=a --rw=randread --number_ios=100 --size=1g",
    cure: "Run longer, or look at the median.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const LEAST: u64 = 1000;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs
        .iter()
        .flat_map(|job| DataDirection::ALL.into_iter().filter_map(move |direction| of_job(job, direction)))
        .collect()
}

fn of_job(job: &AuditedJob<'_>, direction: DataDirection) -> Option<Observation> {
    let n_samples = job.figures(direction)?.clat.n_samples;
    // Turns of work have a length of their own, and no I/O decides it.
    if job.engine.moves_nothing() || n_samples == 0 || !job.spec.reporting.clat_percentiles {
        return None;
    }
    let (word, n_samples) = match sync_latencies(job).filter(|_| direction == DataDirection::Write) {
        // A buffered write waits for nothing: the syncs alone count.
        Some(syncs) if job.is_buffered() && (n_samples < LEAST || has_syncs_between(job)) => syncs,
        Some(syncs) if n_samples >= LEAST && has_syncs_between(job) => syncs,
        _ => (direction.name(), n_samples),
    };
    if n_samples >= LEAST {
        return None;
    }
    let beyond = match n_samples / 100 {
        0 => "none lies".to_owned(),
        1 => "one lies".to_owned(),
        n_beyond => format!("{n_beyond} lie"),
    };
    let latencies = counted(n_samples, &format!("{word} latency"), &format!("{word} latencies"));
    let explanation = format!("Of {latencies} {beyond} beyond the 99th percentile: chance decides what it says.");
    let evidence = vec![Measured::count(&format!("{word} latencies"), n_samples as f64)];
    Some(Observation::of(job, evidence, explanation).about(direction))
}

/// The syncs of a job, by their name, and how many latencies they have.
fn sync_latencies(job: &AuditedJob<'_>) -> Option<(&'static str, u64)> {
    let durability = &job.spec.durability;
    let n_syncs = job.total.as_ref()?.sync.n_samples;
    let word = match (durability.fsync_blocks > 0, durability.fdatasync_blocks > 0) {
        (true, false) => "fsync",
        (false, true) => "fdatasync",
        _ => "sync",
    };
    (n_syncs > 0).then_some((word, n_syncs))
}

/// Syncs come again and again between the writes, and not only at the end.
fn has_syncs_between(job: &AuditedJob<'_>) -> bool {
    let durability = &job.spec.durability;
    durability.fsync_blocks > 0 || durability.fdatasync_blocks > 0 || durability.sync_file_range.is_some()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LatencyStat;

    #[test]
    fn a_thousand_latencies_are_enough() {
        let scene = |n_samples: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let clat = &mut scene.stats().directions.0[0].clat;
            *clat = LatencyStat::new(true);
            (0..n_samples).for_each(|_| clat.record(300_000));
            scene.found()
        };
        assert_eq!(scene(999), ["few-samples"]);
        assert_eq!(scene(1000), Vec::<String>::new());
    }

    /// A buffered write is a copy to memory; the job waits for the device in the sync after it.
    #[test]
    fn syncs_are_named_where_the_job_waits_in_them() {
        let scene = |n_syncs: u64, direct: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            (scene.jobs[0].durability.direct, scene.jobs[0].durability.fdatasync_blocks) = (direct, 1);
            let stats = scene.stats();
            (stats.sync, stats.n_syncs_issued) = (LatencyStat::new(true), n_syncs);
            (0..n_syncs).for_each(|_| stats.sync.record(300_000));
            let clat = &mut stats.directions.0[1].clat;
            *clat = LatencyStat::new(true);
            (0..n_syncs).for_each(|_| clat.record(300_000));
            scene
        };
        let explanation = |n_syncs, direct| scene(n_syncs, direct).finding("few-samples").explanation;
        let expected = "Of 300 fdatasync latencies 3 lie beyond the 99th percentile: chance decides what it says.";
        assert_eq!(explanation(300, false), expected);
        assert!(explanation(1, false).starts_with("Of 1 fdatasync latency none lies "));
        assert!(explanation(300, true).starts_with("Of 300 write latencies 3 lie "));
        assert!(!scene(1000, false).found().contains(&"few-samples".to_owned()));
    }

    /// A job may have enough writes and few syncs.
    #[test]
    fn few_syncs_among_many_writes_are_told() {
        for direct in [true, false] {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            (scene.jobs[0].durability.direct, scene.jobs[0].durability.fdatasync_blocks) = (direct, 100);
            let stats = scene.stats();
            stats.sync = LatencyStat::new(true);
            (0..256).for_each(|_| stats.sync.record(300_000));
            assert!(scene.finding("few-samples").explanation.starts_with("Of 256 fdatasync latencies 2 lie "));
            // A sync at the end alone has no percentiles.
            scene.jobs[0].durability.fdatasync_blocks = 0;
            scene.jobs[0].durability.end_fsync = true;
            assert!(!scene.found().contains(&"few-samples".to_owned()));
        }
    }

    #[test]
    fn turns_of_work_have_no_percentile_to_doubt() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let clat = &mut scene.stats().directions.0[0].clat;
        *clat = LatencyStat::new(true);
        (0..10).for_each(|_| clat.record(300_000));
        assert_eq!(scene.found(), ["few-samples"]);
        "cpuio".clone_into(&mut scene.jobs[0].engine.name);
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
