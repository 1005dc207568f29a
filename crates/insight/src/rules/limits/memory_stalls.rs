//! Waits for memory.

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "memory-stalls",
    title: "The machine was short of memory",
    severity: Severity::Misleading,
    what: "The time in which all runnable tasks of the machine, or of the control group of ferrio, waited for memory (the line `full` of the \
           pressure stall information). It is reported above 5 % of the run, from 0.1 s on.",
    why: "A task that waits for memory waits until pages are written or dropped. Jobs stand still meanwhile, and the device has to write \
          and read what no job has asked for.",
    example: "--name=a --rw=randwrite --size=100g --ioengine=psync",
    cure: "Free memory or raise the limit of the control group (memory.max, MemoryMax=), use less for the jobs, and repeat the run.",
    needs: &[EvidenceKind::Pressure],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const SHARE: f64 = 0.05;
/// A shorter wait is a moment of the machine, and a large share of a short run only, microseconds.
const LEAST_US: u64 = 100_000;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_run = || {
        let pressure = case.record.evidence.pressure.as_ref()?;
        let stalls =
            [&pressure.machine, &pressure.cgroup].map(|stalls| stalls.memory.value().map(|stall| stall.full_us));
        let full_us = stalls.into_iter().flatten().max()?;
        let share = full_us as f64 * 1e3 / case.record.elapsed_ns as f64;
        if !share.is_finite() || share < SHARE || full_us < LEAST_US {
            return None;
        }
        let seconds = full_us as f64 / 1e6;
        let explanation = format!(
            "For {} s ({} of the run) all tasks waited for memory: the figures are those of a machine that is short of it.",
            text::short(seconds),
            text::percent(share.min(1.0), 1.0)
        );
        let evidence = vec![Measured::seconds("waits of all tasks for memory", seconds)];
        Some(Observation::of_run(evidence, explanation))
    };
    of_run().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{Pressure, Reading, Stall, Stalls};

    #[test]
    fn a_twentieth_of_the_run_is_told() {
        let within = |machine_us, group_us, elapsed_ms: u64| {
            let stalls = |full_us| Stalls {
                cpu: Reading::default(),
                io: Reading::default(),
                memory: Reading::Value(Stall { some_us: 9_000_000, full_us }),
            };
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.record.elapsed_ns = elapsed_ms * 1_000_000;
            let pressure =
                Pressure { machine: stalls(machine_us), cgroup: stalls(group_us), changed_limits: Vec::new() };
            scene.record.evidence.pressure = Some(pressure);
            scene.found()
        };
        let found = |machine_us, group_us| within(machine_us, group_us, 10_000);
        assert_eq!(within(99_999, 0, 200), Vec::<String>::new(), "half of a short run");
        assert_eq!(within(100_000, 0, 200), ["memory-stalls"]);
        assert_eq!(found(499_999, 0), Vec::<String>::new());
        assert_eq!(found(500_000, 0), ["memory-stalls"]);
        assert_eq!(found(0, 500_000), ["memory-stalls"]);
    }
}
