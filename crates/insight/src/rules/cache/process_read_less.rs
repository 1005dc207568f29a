//! Reads of an overlay file system that no device has served, where the devices cannot be seen.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::cures::past_page_cache;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{LayerKind, Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "process-read-less",
    title: "The kernel has read less for the process than the jobs have read",
    severity: Severity::Wrong,
    what: "The bytes that the jobs have read from files of an overlay whose directories cannot be seen, as in a container, and those that \
           the kernel has read from storage for the processes of the run (/proc/self/io). It is reported where these are less than 90 % of those.",
    why: "The reads were answered from memory, most of them by the page cache: latency and bandwidth are those of memory.",
    example: "--name=a --rw=randread --size=1g --invalidate=0   (in a container)",
    cure: "Add --direct=1, and measure on a volume instead of the container's own directories.",
    needs: &[EvidenceKind::Accounts, EvidenceKind::ReadsOfThreads],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// Less than this share of the claimed bytes is a contradiction.
const SHARE: f64 = 0.9;
/// Fewer bytes than this are not worth a word.
const LEAST_BYTES: u64 = 1 << 20;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let jobs: Vec<&AuditedJob<'_>> = case.jobs.iter().filter(|job| is_below_unseen(case, job)).collect();
    let claimed = sum(jobs.iter().filter_map(|job| job.figures(DataDirection::Read)).map(|figures| figures.bytes));
    // Where the bytes of a job are not known: the processes have also read for others, so that no more than this was read for these.
    let own: Option<Vec<u64>> = jobs.iter().map(|job| Some(job.own_reads(case)?.most)).collect();
    let Some(read_bytes) = own.map(sum).or_else(|| case.charged().map(|total| total.read_bytes)) else {
        return Vec::new();
    };
    if claimed < LEAST_BYTES || read_bytes as f64 >= claimed as f64 * SHARE {
        return Vec::new();
    }
    let explanation = format!(
        "The jobs have read {}, and the kernel has read {} from storage for them: {} of the reads were answered from memory.",
        text::bytes(claimed),
        text::bytes(read_bytes),
        text::percent((claimed - read_bytes) as f64, claimed as f64)
    );
    let evidence =
        vec![Measured::bytes("read by the jobs", claimed), Measured::bytes("read from storage for them", read_bytes)];
    let cure = past_page_cache(case, &jobs, ", and measure on a volume instead of the container's own directories.");
    vec![Observation { cure, ..Observation::of_jobs(jobs, evidence, explanation) }.about(DataDirection::Read)]
}

/// All targets are on overlays whose directories cannot be seen. The kernel counts reads of these on the storage below, whatever that
/// is; reads of other file systems without devices, such as FUSE, it does not count.
fn is_below_unseen(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> bool {
    let is_one = |layer: &ferrio_stats::StorageLayer| layer.kind == LayerKind::Overlay && layer.is_cut;
    let has_read = job.figures(DataDirection::Read).is_some() && !job.expects_memory();
    has_read && !job.places.is_empty() && job.places.iter().all(|place| case.layers_of(place).into_iter().any(is_one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{MIB, TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{IoCounters, ProcessIo, Reading};

    fn scene(read_bytes: u64, is_cut: bool) -> bool {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let mut top = layer("/data", LayerKind::Overlay, &[]);
        top.is_cut = is_cut;
        scene.layers(vec![top]);
        let total = Reading::Value(IoCounters { read_bytes, ..IoCounters::default() });
        scene.record.evidence.process_io = Some(ProcessIo { total, workers: Vec::new() });
        scene.found().contains(&"process-read-less".to_owned())
    }

    #[test]
    fn reads_that_the_kernel_did_not_make_are_told() {
        assert!(scene(0, true) && scene(90 * MIB - 1, true));
        assert!(!scene(90 * MIB, true), "90 % is no contradiction");
        assert!(!scene(0, false), "where the directories can be seen, the devices are asked");
    }
}
