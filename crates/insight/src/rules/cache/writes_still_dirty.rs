//! Writes that were in the page cache when the run ended.

use crate::audit_input::AuditInput;
use crate::measures::cures::written_back;
use crate::measures::page_cache::WaitingWrites;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "writes-still-dirty",
    title: "Writes waited in memory when the run ended",
    severity: Severity::Wrong,
    what: "What the page cache holds of the files after the run and had not written yet. It is reported from 10 % of the written bytes on.",
    why: "A buffered write is done when it is in memory. What is written to the device after the run is in no figure.",
    example: "--name=a --rw=write --size=1g --ioengine=psync",
    cure: "Add --direct=1, or --end_fsync=1 so that the time of the write-back counts.",
    needs: &[EvidenceKind::PageCache],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    WaitingWrites::of(case).map(|found| observation(case, found)).into_iter().collect()
}

fn observation(case: &AuditInput<'_>, found: WaitingWrites<'_, '_>) -> Observation {
    let WaitingWrites { writers, written_bytes: written, distinct_bytes: distinct, waiting_bytes: waiting } = found;
    let share = text::percent(waiting as f64, distinct as f64);
    let explanation = if distinct < written {
        format!(
            "{share} of the blocks ({} of {}) were in memory only when the run ended, and the page cache has taken each of them {} times: these \
             are writes to memory.",
            text::bytes(waiting),
            text::bytes(distinct),
            text::short(written as f64 / distinct as f64)
        )
    } else {
        format!(
            "{share} of the written bytes ({} of {}) were in memory only when the run ended: the time to write them is in no figure.",
            text::bytes(waiting),
            text::bytes(written)
        )
    };
    let evidence =
        vec![Measured::bytes("written by the jobs", written), Measured::bytes("waiting in the page cache", waiting)];
    let cure = written_back(case, &writers);
    Observation { cure, ..Observation::of_jobs(writers, evidence, explanation) }.about(DataDirection::Write)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{FileCache, PageCache, Reading};

    fn scene(dirty_bytes: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        scene.jobs[0].durability.direct = false;
        let files = FileCache { n_files: 1, dirty_bytes, ..FileCache::default() };
        scene.record.evidence.page_cache = Some(PageCache {
            machine: Reading::default(),
            files_before: Reading::default(),
            files: Reading::Value(files),
        });
        scene
    }

    /// 100 MiB are written to blocks of 10 MiB, of which a tenth waits.
    #[test]
    fn blocks_that_are_written_again_count_once() {
        let mut scene = scene(MIB);
        scene.jobs[0].extent.size = Some(ferrio_spec::SizeSpec::Bytes(10 * MIB));
        let finding = scene.finding("writes-still-dirty");
        let expected = "10 % of the blocks (1 MiB of 10 MiB) were in memory only when the run ended, and the page cache has taken each of \
                        them 10 times";
        assert!(finding.explanation.starts_with(expected), "{}", finding.explanation);
    }

    #[test]
    fn a_tenth_that_waits_is_told() {
        assert_eq!(scene(10 * MIB).found(), ["writes-still-dirty"]);
        // That the device did less is the same said with less.
        let mut less = scene(100 * MIB);
        less.disk_bytes = [0, 0];
        assert_eq!(less.found(), ["writes-still-dirty"]);
        assert_eq!(scene(10 * MIB - 4096).found(), Vec::<String>::new());
        let finding = scene(100 * MIB).finding("writes-still-dirty");
        assert!(
            finding.explanation.starts_with("100 % of the written bytes (100 MiB of 100 MiB)"),
            "{}",
            finding.explanation
        );
    }

    #[test]
    fn a_cache_that_was_not_asked_says_nothing() {
        let mut scene = scene(0);
        scene.record.evidence = ferrio_stats::Evidence::default();
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
