//! Jobs that read, through the page cache, what an earlier job of the same run has left there.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::asked::waits_for_writes;
use crate::measures::cures::past_page_cache;
use crate::measures::ranges::shared_part;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::SizeSpec;
use ferrio_stats::{Measured, Severity, TargetKind};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "cached-by-earlier-job",
    title: "An earlier job leaves in the page cache what a job reads",
    severity: Severity::Misleading,
    what: "Before a run: a job that reads through the page cache, and a job with buffered I/O on the same part of the same file that ends \
           before (stonewall, wait_for). It is reported where the pages stay in the cache between them: with invalidate=0, or where the earlier \
           job writes without a sync; and where they are less than 80 % of the memory.",
    why: "With invalidate=1, the default, the cache of a file is dropped when a job opens it, but pages that wait to be written stay. The \
          later job then reads from memory.",
    example: "--filename=f --size=1g --name=w --rw=write --name=r --rw=read --stonewall",
    cure: "Add --direct=1 to the job that reads, or --end_fsync=1 to the job that writes, and leave invalidate at 1.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected"],
    find,
};

/// As much of the memory may be page cache.
const SHARE: f64 = 0.8;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    // After a run the counters of the device say more.
    if !case.is_before() {
        return Vec::new();
    }
    let readers = case.jobs.iter().filter(|job| job.is_buffered() && job.does(DataDirection::Read));
    readers.filter_map(|reader| case.jobs.iter().find_map(|earlier| between(case, earlier, reader))).collect()
}

fn between(case: &AuditInput<'_>, earlier: &AuditedJob<'_>, reader: &AuditedJob<'_>) -> Option<Observation> {
    let is_earlier = earlier.group < reader.group || reader.spec.grouping.wait_for.as_deref() == Some(earlier.name);
    let name = shared_part(earlier, reader).filter(|_| is_earlier && earlier.is_buffered())?;
    let is_stored = !reader.places.is_empty() && !reader.places.iter().any(is_in_memory);
    let Some(SizeSpec::Bytes(left_bytes)) = earlier.spec.extent.size.filter(|_| is_stored) else { return None };
    let memory_bytes = case.provenance.limits.memory_bytes.unwrap_or(case.provenance.memory_bytes);
    if left_bytes as f64 >= memory_bytes as f64 * SHARE {
        return None;
    }
    let reason = reason(earlier, reader)?;
    let explanation = format!(
        "{} leaves up to {} of {name} in the page cache, and {} reads that: {reason}.",
        earlier.name,
        text::bytes(left_bytes),
        reader.name
    );
    let evidence = vec![Measured::bytes("used before", left_bytes), Measured::bytes("memory", memory_bytes)];
    let cure = past_page_cache(case, &[reader], ", for the job that reads; and leave invalidate at 1.");
    Some(Observation { cure, ..Observation::of(reader, evidence, explanation) }.about(DataDirection::Read))
}

/// Why the pages stay in the cache when the later job opens the file.
fn reason(earlier: &AuditedJob<'_>, reader: &AuditedJob<'_>) -> Option<&'static str> {
    // The cache of a device is written back before it is dropped.
    let is_file = reader.places.iter().all(|place| place.kind != TargetKind::Block);
    let is_dirty = earlier.does(DataDirection::Write) && !waits_for_writes(earlier);
    match () {
        () if !reader.spec.layout.invalidate => Some("with invalidate=0 nothing drops the cache between them"),
        () if is_file && is_dirty => Some("pages that were not written back yet cannot be dropped"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job, place};
    use ferrio_spec::{DirectionMix, JobSpec};
    use ferrio_stats::TargetKind;

    fn on_file(name: &str, mix: DirectionMix, is_last: bool) -> JobSpec {
        let mut job = job(name, mix);
        job.target.filenames = vec!["f".to_owned()];
        (job.durability.direct, job.grouping.stonewall) = (false, is_last);
        job
    }

    /// A job that writes with a sync, and one that reads after it.
    fn scene(change: fn(&mut [JobSpec])) -> TestRun {
        let mut scene = TestRun::new(on_file("w", DirectionMix::Write, false));
        scene.add(on_file("r", DirectionMix::Read, true), place("/data/f"));
        scene.jobs[0].durability.end_fsync = true;
        change(&mut scene.jobs);
        scene.before()
    }

    fn is_told(scene: &TestRun) -> bool {
        scene.found().contains(&"cached-by-earlier-job".to_owned())
    }

    #[test]
    fn pages_that_stay_in_the_cache_are_told() {
        let finding = scene(|jobs| jobs[0].durability.end_fsync = false).finding("cached-by-earlier-job");
        assert_eq!(finding.jobs, ["r"]);
        assert_eq!(
            finding.explanation,
            "w leaves up to 100 MiB of f in the page cache, and r reads that: pages that were not written back yet cannot be dropped."
        );
        let kept = scene(|jobs| jobs[1].layout.invalidate = false).finding("cached-by-earlier-job");
        assert!(kept.explanation.ends_with("nothing drops the cache between them."), "{kept:?}");
    }

    #[test]
    fn pages_that_are_dropped_or_not_read_are_not() {
        let right: [fn(&mut [JobSpec]); 5] = [
            |_| {},
            |jobs| (jobs[0].durability.end_fsync, jobs[1].durability.direct) = (false, true),
            |jobs| (jobs[0].durability.direct, jobs[1].layout.invalidate) = (true, false),
            |jobs| (jobs[0].durability.end_fsync, jobs[1].grouping.stonewall) = (false, false),
            |jobs| (jobs[0].durability.end_fsync, jobs[1].target.filenames) = (false, vec!["g".to_owned()]),
        ];
        for (index, change) in right.into_iter().enumerate() {
            assert!(!is_told(&scene(change)), "{index}");
        }
        let mut small = scene(|jobs| jobs[0].durability.end_fsync = false);
        small.limits.memory_bytes = Some(125 * MIB);
        assert!(!is_told(&small));
        let mut device = scene(|jobs| jobs[0].durability.end_fsync = false);
        device.places[1].kind = TargetKind::Block;
        assert!(!is_told(&device));
    }
}
