//! A page cache that is smaller than on the machine, because of the control group.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::cures::past_page_cache;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::SizeSpec;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "page-cache-limited",
    title: "The control group limits the page cache",
    severity: Severity::Note,
    what: "The size of the files of a job with buffered I/O, the memory of the control group of ferrio (memory.max, memory.limit_in_bytes), and that of the \
           machine. It is reported where the data fits into the memory of the machine, and not into that of the group.",
    why: "The pages of the cache count as memory of the group. It drops them earlier, and begins to write back and to hold writers up earlier, than \
          the same job outside of the group.",
    example: "--name=a --rw=randread --size=4g --runtime=60 --time_based   (in a container with 1 GiB)",
    cure: "Add --direct=1 to measure the device, or run in a group with the memory that the application will have.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected"],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let Some(limit_bytes) = case.provenance.limits.memory_bytes else { return Vec::new() };
    let machine_bytes = case.provenance.memory_bytes;
    let of_job = |job: &AuditedJob<'_>| {
        let Some(SizeSpec::Bytes(size_bytes)) = job.spec.extent.size else { return None };
        let all_bytes = size_bytes.saturating_mul(u64::from(job.n_clones));
        let is_cached = job.is_buffered() && !job.places.is_empty() && !job.places.iter().any(is_in_memory);
        // A job with a control group of its own is not in this one.
        let is_inside = job.spec.surroundings.cgroup.name.is_none();
        if !is_cached || !is_inside || all_bytes <= limit_bytes || all_bytes >= machine_bytes {
            return None;
        }
        let explanation = format!(
            "The control group may use {} of memory, and the files have {}: on the whole machine, with {}, more of them would be cached.",
            text::bytes(limit_bytes),
            text::bytes(all_bytes),
            text::bytes(machine_bytes)
        );
        let evidence =
            vec![Measured::bytes("memory of the group", limit_bytes), Measured::bytes("files of the job", all_bytes)];
        let cure = past_page_cache(case, &[job], ", or run in a group with the memory that the application will have.");
        Some(Observation { cure, ..Observation::of(job, evidence, explanation) })
    };
    case.jobs.iter().filter_map(of_job).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn files_between_both_memories_are_told() {
        let scene = |direct: bool, limit_mib: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.jobs[0].durability.direct = direct;
            scene.limits.memory_bytes = Some(limit_mib * MIB);
            scene
        };
        assert_eq!(scene(false, 99).found(), ["page-cache-limited"]);
        assert_eq!(scene(false, 99).before().found(), ["page-cache-limited"]);
        assert_eq!(scene(false, 100).found(), Vec::<String>::new());
        assert_eq!(scene(true, 99).found(), Vec::<String>::new());
    }
}
