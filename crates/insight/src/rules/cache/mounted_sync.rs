//! Files on a file system that is mounted with `sync`.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::asked::waits_for_writes;
use crate::measures::targets::has_mount_option;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_spec::SyncMode;
use ferrio_stats::{Severity, TargetKind};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "mounted-sync",
    title: "The file system makes each write wait for the device",
    severity: Severity::Misleading,
    what: "The option `sync` among the mount options of the file system of a job that writes without syncs of its own (sync, fsync, \
           fdatasync).",
    why: "A mount with the option sync makes each write one with O_SYNC: it is back when data and metadata are on the device. The options of \
          the job do not say so, and its figures are not those of the page cache, nor those of the same job on another mount.",
    example: "--name=a --directory=/mnt/sync --rw=write --bs=4k --size=64m",
    cure: "Mount the file system without sync (mount -o remount,async DIR), or add --sync=1, so that the job says what it measures.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "write-refused"],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let is_sync = |place: &&ferrio_stats::TargetPlace| {
        place.kind == TargetKind::File && !is_in_memory(place) && has_mount_option(place, "sync")
    };
    let durability = &job.spec.durability;
    let says_so = durability.sync != SyncMode::None || durability.fsync_blocks == 1 || durability.fdatasync_blocks == 1;
    if !job.does(DataDirection::Write) || !job.moves_data() || says_so {
        return None;
    }
    let place = job.places.iter().find(is_sync)?;
    let beside = if waits_for_writes(job) { ", beside its own syncs" } else { "" };
    let explanation = format!(
        "{} is on a file system that is mounted with sync: each write of the job waits for the device, as with --sync=1{beside}.",
        place.path
    );
    Some(Observation::of(job, Vec::new(), explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{DirectionMix, SyncMode};

    fn scene(mix: DirectionMix, options: &str) -> TestRun {
        let mut scene = TestRun::new(job("a", mix));
        scene.places[0].mount_options = Some(options.to_owned());
        scene
    }

    #[test]
    fn a_mount_with_sync_is_told_of_jobs_that_write() {
        assert_eq!(scene(DirectionMix::Write, "rw,sync,relatime").found(), ["mounted-sync"]);
        assert_eq!(scene(DirectionMix::Write, "rw,sync,relatime").before().found(), ["mounted-sync"]);
        for (mix, options) in [
            (DirectionMix::Write, "rw,relatime"),
            (DirectionMix::Write, "rw,dirsync,sync_commit=1"),
            (DirectionMix::Read, "rw,sync"),
        ] {
            assert_eq!(scene(mix, options).found(), Vec::<String>::new(), "{options}");
        }
        let mut asked = scene(DirectionMix::Write, "rw,sync");
        asked.jobs[0].durability.sync = SyncMode::Sync;
        assert_eq!(asked.found(), Vec::<String>::new());
    }

    /// Its writes are not in memory alone when they are back.
    #[test]
    fn the_latency_is_not_that_of_the_page_cache() {
        let mut buffered = scene(DirectionMix::Write, "rw,sync");
        (buffered.jobs[0].durability.direct, buffered.jobs[0].durability.end_fsync) = (false, true);
        assert_eq!(buffered.found(), ["mounted-sync"]);
    }
}
