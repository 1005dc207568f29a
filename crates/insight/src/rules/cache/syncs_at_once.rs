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

const CURE_OF_SEVERAL: &str = "Give each job one file (--nrfiles=1 and more --numjobs), so that each sync is that of the file just written; or write with \
                               --direct=1 --sync=dsync.";

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
    // A sync between two writes is that of the file which the second one is for.
    let has_several = job.n_files().is_none_or(|n_files| n_files > 1);
    let why = if has_several {
        "the syncs are those of the files whose turn is next, which had nothing to write, and other files were not made safe"
    } else {
        "the data was not made safe, and these are figures of memory"
    };
    let shown = duration_text(median_ns as f64);
    let explanation = format!(
        "Half of the syncs behind the writes were back within {shown}, in which no device writes anything: {why}."
    );
    let evidence = vec![Measured::seconds("median of the syncs", median_ns as f64 / 1e9)];
    let cure = has_several.then(|| CURE_OF_SEVERAL.to_owned());
    Some(Observation { cure, ..Observation::of(job, evidence, explanation) }.about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::TestRun;

    fn scene(sync_ns: u64) -> TestRun {
        TestRun::synced(sync_ns)
    }

    #[test]
    fn syncs_below_a_microsecond_are_told() {
        assert_eq!(scene(520).found(), ["syncs-at-once"]);
        assert!(scene(520).finding("syncs-at-once").explanation.contains("520 ns"));
        assert_eq!(scene(5_000).found(), Vec::<String>::new());
    }

    #[test]
    fn syncs_of_several_files_have_another_cause() {
        let finding = |n_files: u32| {
            let mut scene = scene(520);
            scene.jobs[0].target.nrfiles = n_files;
            scene.finding("syncs-at-once")
        };
        assert!(finding(1).explanation.contains("figures of memory") && finding(1).cure.contains("LD_PRELOAD"));
        assert!(finding(2).explanation.contains("whose turn is next") && finding(2).cure.contains("--nrfiles=1"));
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
