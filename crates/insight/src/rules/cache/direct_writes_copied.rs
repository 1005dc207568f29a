//! Direct writes that btrfs copies into the page cache first.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::asked::is_direct_to_files;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity, TargetPlace};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "direct-writes-copied",
    title: "Direct writes were copied into the page cache first",
    severity: Severity::Misleading,
    what: "The bytes that became dirty in the page cache of the machine during the run (/proc/vmstat), where all jobs that write have \
           direct=1 and their files are on btrfs with checksums. It is reported from 90 % of the written bytes on.",
    why: "Newer kernels do not write from the memory of a program to btrfs where data has checksums, because the program might change it \
          meanwhile. Each write is copied into the page cache, written from there and waited for, so it costs CPU time, and an \
          asynchronous engine has one write in flight, whatever the depth.",
    example: "--name=a --rw=randwrite --direct=1 --ioengine=libaio --iodepth=16 --directory=/mnt/btrfs",
    cure: "Mount with -o nodatasum, or set `chattr +C` on the empty directory, if the files shall have no checksums; else take the figures \
           for those of btrfs with checksums.",
    needs: &[EvidenceKind::PageCache],
    looks_at_reports: false,
    contradicts: &["direct", "buffered"],
    state: MeasuredState::Lasting,
    yields_to: &["direct-not-honoured"],
    find,
};

const SHARE: f64 = 0.9;
const LEAST_BYTES: u64 = 1 << 20;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    of_run(case).into_iter().collect()
}

fn of_run(case: &AuditInput<'_>) -> Option<Observation> {
    let dirtied = case.page_cache()?.machine.value()?.dirtied_bytes;
    let writers: Vec<&AuditedJob<'_>> =
        case.jobs.iter().filter(|job| job.has_files() && job.figures(DataDirection::Write).is_some()).collect();
    // A job on another file system may have made its own pages dirty.
    let is_on_copies = |job: &AuditedJob<'_>| !job.places.is_empty() && job.places.iter().all(has_checksums);
    let is_one = |job: &&AuditedJob<'_>| is_direct_to_files(job) && is_on_copies(job);
    if writers.is_empty() || !writers.iter().all(is_one) {
        return None;
    }
    let written = sum(writers.iter().filter_map(|job| job.figures(DataDirection::Write)).map(|figures| figures.bytes));
    if written < LEAST_BYTES || (dirtied as f64) < written as f64 * SHARE {
        return None;
    }
    let explanation = format!(
        "The jobs wrote {} with direct=1, and {} became dirty in the page cache meanwhile: btrfs copies data with checksums there, and each \
         write waits until it is written.",
        text::bytes(written),
        text::bytes(dirtied)
    );
    let evidence =
        vec![Measured::bytes("written by the jobs", written), Measured::bytes("dirtied in the page cache", dirtied)];
    Some(Observation::of_jobs(writers, evidence, explanation).about(DataDirection::Write))
}

fn has_checksums(place: &TargetPlace) -> bool {
    let options = place.mount_options.as_deref().unwrap_or_default();
    let is_without = options.split(',').any(|option| option == "nodatasum" || option == "nodatacow");
    // A file without copies on write has no checksums (`chattr +C`).
    let may_have = place.now.is_no_cow != Some(true);
    place.file_system.as_deref() == Some("btrfs") && !is_without && may_have
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{CacheCourse, PageCache, Reading};

    #[test]
    fn dirty_pages_of_direct_writes_are_told_on_btrfs_with_checksums() {
        let scene = |kind: &str, options: &str, dirtied_bytes: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            scene.places[0].file_system = Some(kind.to_owned());
            scene.places[0].mount_options = Some(options.to_owned());
            scene.record.evidence.page_cache = Some(PageCache {
                machine: Reading::Value(CacheCourse { dirtied_bytes, ..CacheCourse::default() }),
                files_before: Reading::default(),
                files: Reading::default(),
            });
            scene.found()
        };
        assert_eq!(scene("btrfs", "rw,relatime", 90 * MIB), ["direct-writes-copied"]);
        assert_eq!(scene("btrfs", "rw,relatime", 90 * MIB - 4096), Vec::<String>::new());
        assert_eq!(scene("btrfs", "rw,nodatasum", 100 * MIB), Vec::<String>::new());
        assert_eq!(scene("xfs", "rw,relatime", 100 * MIB), Vec::<String>::new());
    }

    /// The files of a replay are named by its trace: nothing is known of their file system.
    #[test]
    fn unknown_files_are_on_no_file_system_with_checksums() {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        scene.places.clear();
        scene.record.evidence.page_cache = Some(PageCache {
            machine: Reading::Value(CacheCourse { dirtied_bytes: 100 * MIB, ..CacheCourse::default() }),
            files_before: Reading::default(),
            files: Reading::default(),
        });
        assert!(!scene.found().contains(&"direct-writes-copied".to_owned()));
    }

    #[test]
    fn files_without_copies_on_write_have_no_checksums() {
        let is_told = |is_no_cow: Option<bool>| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            scene.places[0].file_system = Some("btrfs".to_owned());
            scene.places[0].now.is_no_cow = is_no_cow;
            scene.record.evidence.page_cache = Some(PageCache {
                machine: Reading::Value(CacheCourse { dirtied_bytes: 100 * MIB, ..CacheCourse::default() }),
                files_before: Reading::default(),
                files: Reading::default(),
            });
            scene.found().contains(&"direct-writes-copied".to_owned())
        };
        assert!(is_told(None) && is_told(Some(false)) && !is_told(Some(true)));
    }
}
