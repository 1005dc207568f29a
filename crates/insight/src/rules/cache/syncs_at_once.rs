//! Syncs that are back before any device could have answered.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::targets::has_mount_option;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_spec::SyncMode;
use ferrio_spec::engines::Data;
use ferrio_stats::{Figures, Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "syncs-at-once",
    title: "The syncs wait for no device",
    severity: Severity::Wrong,
    what: "The latencies of fsync and fdatasync of a job alone that writes through the page cache, at least a hundred of them. It is reported where \
           half of them or more take less than a microsecond.",
    why: "Such a sync has to write the blocks that wait in memory, and no device does that in less than some microseconds. It did nothing: the files are in memory, below an overlay or a server, or a mount option or a library swallows syncs.",
    example: "--name=a --directory=/overlay --rw=write --bs=4k --size=64m --ioengine=psync --fsync=1",
    cure: "Find out what swallows the syncs: a file system in memory below the files, an overlay mounted with volatile, a library such as \
           libeatmydata (LD_PRELOAD); and measure on the file system of the storage itself (--directory).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &["fsync", "fdatasync"],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "target-in-memory", "sync-without-flush", "write-refused"],
    find: |case: &AuditInput<'_>| {
        // Another job on the same files may have written their blocks just before.
        if case.jobs.len() == 1 { case.jobs.iter().filter_map(of_job).collect() } else { Vec::new() }
    },
};

/// A call of the kernel that looks at a file and finds nothing to do takes about half of this, nanoseconds.
const LEAST_NS: u64 = 1_000;
const LEAST_SYNCS: u64 = 100;
const MEDIAN: f64 = 50.0;

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let durability = &job.spec.durability;
    let every = durability.fsync_blocks > 0 || durability.fdatasync_blocks > 0;
    // With O_SYNC, and for the second of two syncs in a row, nothing is left to do.
    let is_done_before =
        durability.sync != SyncMode::None || job.places.iter().any(|place| has_mount_option(place, "sync"));
    let has_work = !is_done_before && (durability.fsync_blocks == 0 || durability.fdatasync_blocks == 0);
    let is_stored = job.has_files() && job.engine.data == Data::Kept && job.n_clones == 1;
    if !every || !has_work || !is_stored || !job.is_buffered() {
        return None;
    }
    let written = job.figures(DataDirection::Write)?;
    let syncs = job.total.as_ref().and_then(Figures::of_syncs)?;
    let latency = syncs.lat.as_ref().filter(|latency| latency.n_samples >= LEAST_SYNCS)?;
    let median_ns = latency.percentile(MEDIAN)?.latency_ns;
    // More syncs than writes: some find nothing to do.
    if median_ns >= LEAST_NS || latency.n_samples > written.n_completed {
        return None;
    }
    let shown = duration_text(median_ns as f64);
    let explanation = format!(
        "Half of the syncs behind the writes were back within {shown}, in which no device writes anything: the data was not made safe, and \
         these are figures of memory."
    );
    let evidence = vec![Measured::seconds("median of the syncs", median_ns as f64 / 1e9)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LatencyStat;

    /// 25,600 buffered writes of 300 us, each with a sync.
    fn scene(sync_ns: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        (scene.jobs[0].durability.direct, scene.jobs[0].durability.fsync_blocks) = (false, 1);
        let stats = scene.stats();
        stats.n_syncs_issued = 25_600;
        stats.sync = LatencyStat::new(true);
        (0..25_600).for_each(|_| stats.sync.record(sync_ns));
        scene
    }

    #[test]
    fn syncs_below_a_microsecond_are_told() {
        assert_eq!(scene(520).found(), ["syncs-at-once"]);
        assert!(scene(520).finding("syncs-at-once").explanation.contains("520 ns"));
        assert_eq!(scene(5_000).found(), Vec::<String>::new());
    }

    #[test]
    fn a_sync_that_has_nothing_to_do_is_not() {
        let mut direct = scene(520);
        direct.jobs[0].durability.direct = true;
        assert_eq!(direct.found(), Vec::<String>::new());
        let mut memory = scene(520);
        (memory.places[0].file_system, memory.places[0].device) = (Some("tmpfs".to_owned()), None);
        assert_eq!(memory.found(), ["target-in-memory"]);
    }
}
