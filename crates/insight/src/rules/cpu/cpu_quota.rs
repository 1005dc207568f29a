//! A control group that had used up its CPU time.

use crate::audit_input::AuditInput;
use crate::measures::cpu_time::throttled_share;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "cpu-quota",
    title: "The CPU quota of the control group held the jobs back",
    severity: Severity::Misleading,
    what: "The time in which the control group of ferrio, or one above it, had used up its CPU time (cpu.max, cpu.cfs_quota_us), as \
           the kernel counts it. It is reported above 1 % of the run.",
    why: "A group that has used up its quota stands still until the next period, usually of 100 ms. I/Os that complete meanwhile are \
          seen late, and none is started.",
    example: "--name=a --ioengine=io_uring --iodepth=64 --rw=randread --size=1g --direct=1",
    cure: "Give the container or service more CPU time (cpu.max, CPUQuota=, docker --cpus), or measure outside of it.",
    needs: &[EvidenceKind::HostCpu],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_run = |share: f64| {
        let throttling = case.host_cpu()?.throttling.value()?;
        let explanation = format!(
            "The control group was held back for {} s, in {} of {} periods: it had used up its CPU time, and its I/Os waited.",
            text::short(throttling.throttled_us as f64 / 1e6),
            throttling.n_throttled,
            throttling.n_periods
        );
        let evidence = vec![
            Measured::seconds("held back", throttling.throttled_us as f64 / 1e6),
            Measured::count("periods held back", throttling.n_throttled as f64),
            Measured::percent("held back, of the run", 100.0 * share),
        ];
        Some(Observation::of_run(evidence, explanation))
    };
    throttled_share(case).and_then(of_run).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{CpuTurns, HostCpu, Reading, Throttling};

    fn scene(throttled_us: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.record.elapsed_ns = 10_000_000_000;
        let throttling = Throttling { n_periods: 100, n_throttled: 90, throttled_us };
        let cpu = HostCpu { throttling: Reading::Value(throttling), ..HostCpu::default() };
        scene.record.evidence.host_cpu = Some(cpu);
        scene
    }

    #[test]
    fn a_hundredth_of_the_run_is_told() {
        assert_eq!(scene(99_999).found(), Vec::<String>::new());
        assert_eq!(scene(100_000).found(), ["cpu-quota"]);
        let finding = scene(5_000_000).finding("cpu-quota");
        assert!(finding.explanation.starts_with("The control group was held back for 5 s, in 90 of 100 periods"));
    }

    #[test]
    fn it_explains_the_waits_for_a_cpu() {
        let turns = CpuTurns { ran_ns: 1_000_000_000, waited_ns: 9_000_000_000, n_turns: 100, n_sleeps: 0 };
        let found = |throttled_us| {
            let mut scene = scene(throttled_us);
            (scene.stats().total_runtime_ns, scene.stats().usage.cpu_turns) = (10_000_000_000, Some(turns));
            scene.found()
        };
        assert_eq!(found(9_000_000), ["cpu-quota"]);
        assert_eq!(found(0), ["waits-for-cpu"]);
    }
}
