//! Buffers of the jobs that are larger than the memory.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "buffers-exceed-memory",
    title: "The buffers of the jobs are larger than the memory",
    severity: Severity::Wrong,
    what: "Before a run: the buffers of all jobs that run at the same time (iodepth times the largest block times the clones), and the memory of the machine or \
           of the control group (memory.max, memory.limit_in_bytes). It is reported where the buffers are larger.",
    why: "Each I/O in flight needs a buffer of its own. Without memory for them the kernel swaps, or ends the jobs, and there will be no \
          figures of the device.",
    example: "--name=a --ioengine=libaio --iodepth=4096 --bs=16m --rw=read --size=100g --direct=1",
    cure: "Lower iodepth, bs or numjobs, or raise the limit of the control group (memory.max, docker --memory).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let machine = case.provenance.memory_bytes;
    let (memory, owner) = match case.provenance.limits.memory_bytes {
        Some(limit) => (limit, "the control group"),
        None => (machine, "the machine"),
    };
    let of_group = |jobs: Vec<&AuditedJob<'_>>| {
        let needed = sum(jobs.iter().map(|job| job.buffer_bytes()));
        let explanation = format!(
            "The jobs need {} for the buffers of I/Os in flight, and {owner} has {} of memory.",
            text::bytes(needed),
            text::bytes(memory)
        );
        let evidence = vec![Measured::bytes("buffers", needed), Measured::bytes("memory", memory)];
        let jobs = jobs.iter().copied().filter(|job| job.buffer_bytes() > 0);
        (needed > memory).then_some(Observation::of_jobs(jobs, evidence, explanation))
    };
    if !case.is_before() || memory == 0 {
        return Vec::new();
    }
    case.groups().into_values().filter_map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{BlockRange, DirectionMix};
    use ferrio_units::PerDirection;

    #[test]
    fn buffers_beyond_the_memory_are_told() {
        let scene = |limit: Option<u64>| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            "libaio".clone_into(&mut scene.jobs[0].engine.name);
            scene.jobs[0].reporting.clat_percentiles = false;
            (scene.jobs[0].queue.iodepth, scene.jobs[0].queue.low, scene.jobs[0].numjobs) = (64, 64, 2);
            scene.jobs[0].pattern.block_size = PerDirection::all(BlockRange::one(MIB));
            scene.limits.memory_bytes = limit;
            scene
        };
        assert_eq!(scene(Some(128 * MIB)).found(), Vec::<String>::new());
        let finding = scene(Some(128 * MIB - 1)).finding("buffers-exceed-memory");
        assert!(finding.explanation.contains("128 MiB") && finding.explanation.contains("the control group"));
        // The machine has 16 GiB.
        let mut machine = scene(None);
        assert_eq!(machine.found(), Vec::<String>::new());
        machine.jobs[0].numjobs = 257;
        assert_eq!(machine.finding("buffers-exceed-memory").jobs, ["a"]);
    }
}
