//! Data from before the run that was written to the device during the run.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::stack::Level;
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use std::collections::BTreeSet;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "earlier-writes",
    title: "Data from before the run was written during it",
    severity: Severity::Misleading,
    what: "The data that waited in the page cache of the machine when the jobs began, and the bytes that the device under their files has \
           written, in runs whose jobs only read. It is reported where the device has written 16 MiB and 10 % of what the jobs have read, or more, and \
           80 % of it had waited.",
    why: "A copy, an installation or the making of the files leaves data that the kernel writes when it sees fit. That write-back \
          shares the device with the jobs, and slows them down by an amount that the next run will not have.",
    example: "--name=a --filename=f --rw=randread --direct=1 --size=1g   (right after `cp` has made f)",
    cure: "Run `sync` before, and leave create_fsync at 1.",
    needs: &[EvidenceKind::PageCache],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected"],
    find,
};

/// Less than this share of what the jobs do has little effect.
const SHARE: f64 = 0.1;
/// Less than this is what a machine does that is left alone.
const LEAST_BYTES: u64 = 16 << 20;
/// At least this share of what the device writes.
const WAITED: f64 = 0.8;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let only_read = |job: &AuditedJob<'_>| !job.does(DataDirection::Write) && !job.does(DataDirection::Trim);
    let waited = case.page_cache().and_then(|cache| cache.machine.value()).map(|course| course.dirty_before_bytes);
    let Some(waited) = waited.filter(|_| !case.is_before() && case.jobs.iter().all(only_read)) else {
        return Vec::new();
    };
    let with_levels = case
        .jobs
        .iter()
        .filter(|job| job.moves_data())
        .filter_map(|job| Some((job, case.levels(job).into_iter().next()?)));
    let jobs: Vec<(&AuditedJob<'_>, Level<'_>)> = with_levels.collect();
    let levels: BTreeSet<&Level<'_>> = jobs.iter().map(|(_, level)| level).collect();
    let on_level = |level: &&Level<'_>| {
        let here: Vec<&AuditedJob<'_>> = jobs.iter().filter(|(_, its)| its == *level).map(|(job, _)| *job).collect();
        of_level(case, waited, level, &here)
    };
    levels.iter().filter_map(on_level).collect()
}

fn of_level(case: &AuditInput<'_>, waited: u64, level: &Level<'_>, jobs: &[&AuditedJob<'_>]) -> Option<Observation> {
    let read = sum(jobs.iter().filter_map(|job| job.figures(DataDirection::Read)).map(|figures| figures.bytes));
    let written = case.level_bytes(level, DataDirection::Write)?;
    // What did not wait is the work of others, but for the journal and the metadata of the file system.
    let has_waited = waited as f64 >= written as f64 * WAITED;
    if written < LEAST_BYTES || (written as f64) < read as f64 * SHARE || !has_waited {
        return None;
    }
    let devices = level.iter().copied().collect::<Vec<_>>().join(" and ");
    let explanation = format!(
        "{} waited in memory when the jobs began, and {devices} has written {} while the jobs read {}.",
        text::bytes(waited),
        text::bytes(written),
        text::bytes(read)
    );
    let evidence = vec![
        Measured::bytes("read by the jobs", read),
        Measured::bytes(&format!("written by {devices}"), written),
        Measured::bytes("waited at the start", waited),
    ];
    Some(Observation::of_jobs(jobs.iter().copied(), evidence, explanation).about(DataDirection::Read))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{CacheCourse, PageCache, Reading};

    fn scene(mix: DirectionMix, waited_mib: u64, written_mib: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", mix));
        let course = CacheCourse { dirty_before_bytes: waited_mib * MIB, ..CacheCourse::default() };
        scene.record.evidence.page_cache = Some(PageCache {
            machine: Reading::Value(course),
            files_before: Reading::default(),
            files: Reading::default(),
        });
        scene.disk_bytes[1] += written_mib * MIB;
        scene
    }

    #[test]
    fn writes_that_had_waited_are_told_beside_reads() {
        // The job reads 100 MiB.
        let finding = scene(DirectionMix::Read, 64, 16).finding("earlier-writes");
        assert_eq!(
            finding.explanation,
            "64 MiB waited in memory when the jobs began, and vda has written 16 MiB while the jobs read 100 MiB."
        );
        for (mix, waited, written) in
            [(DirectionMix::Read, 64, 15), (DirectionMix::Read, 12, 16), (DirectionMix::ReadWrite, 64, 16)]
        {
            assert_eq!(scene(mix, waited, written).found(), Vec::<String>::new(), "{mix:?} {waited} {written}");
        }
    }
}
