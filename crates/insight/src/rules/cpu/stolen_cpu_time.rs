//! CPU time that the host of a virtual machine gave to others.

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, MeasuredState, Observation, OutsideLoad};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "stolen-cpu-time",
    title: "The host of this virtual machine took CPU time away",
    severity: Severity::Misleading,
    what: "The time in which a CPU of this virtual machine had work and its host ran something else (steal in /proc/stat), as a share of \
           all the time in which it had work. It is reported above 5 %, and 0.1 s or more.",
    why: "The jobs stand still and do not notice it: latencies are longer, and fewer I/Os are started. Another day the host is less busy.",
    example: "--name=a --ioengine=io_uring --iodepth=64 --rw=randread --size=1g --direct=1",
    cure: "Repeat the run and compare, or take a machine with CPUs of its own (a dedicated instance, pinned CPUs).",
    needs: &[EvidenceKind::HostCpu],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Disturbed(OutsideLoad::Cpu { lacked: STOLEN, all: &[STOLEN, BUSY] }),
    yields_to: &[],
    find,
};

const SHARE: f64 = 0.05;
/// Ten ticks; fewer are chance.
const LEAST_MS: u64 = 100;

/// Names of the measured values.
const STOLEN: &str = "stolen";
const BUSY: &str = "busy";

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_run = || {
        let times = case.host_cpu()?.machine.value()?;
        let wanted_ms = times.steal_ms.saturating_add(times.busy_ms);
        if times.steal_ms < LEAST_MS || (times.steal_ms as f64) < wanted_ms as f64 * SHARE {
            return None;
        }
        let share = text::percent(times.steal_ms as f64, wanted_ms as f64);
        let explanation = format!(
            "In {share} of the time in which this virtual machine had work, its host ran something else ({} s in all): latencies include it.",
            text::short(times.steal_ms as f64 / 1e3)
        );
        let evidence = vec![
            Measured::seconds(STOLEN, times.steal_ms as f64 / 1e3),
            Measured::seconds(BUSY, times.busy_ms as f64 / 1e3),
        ];
        Some(Observation::of_run(evidence, explanation))
    };
    of_run().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{CpuTimes, HostCpu, Reading};

    #[test]
    fn a_twentieth_of_the_work_is_told() {
        let found = |steal_ms, busy_ms| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let times = CpuTimes { busy_ms, idle_ms: 1_000_000, steal_ms };
            let cpu = HostCpu { machine: Reading::Value(times), ..HostCpu::default() };
            scene.record.evidence.host_cpu = Some(cpu);
            scene.found()
        };
        assert_eq!(found(500, 9_500), ["stolen-cpu-time"]);
        assert_eq!(found(490, 9_510), Vec::<String>::new());
        assert_eq!(found(90, 10), Vec::<String>::new());
        assert_eq!(found(0, 0), Vec::<String>::new());
    }
}
