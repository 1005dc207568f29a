//! Slow I/Os that were slow because the job had no CPU, although its waits are a small part of the time.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::cpu_time::WaitingTail;
use crate::rules::{FindingRule, MeasuredState, Observation, OutsideLoad};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};
use ferrio_units::humanize::duration_text;

pub const RULE: FindingRule = FindingRule {
    id: "tail-waits-for-cpu",
    title: "The slowest I/Os waited for a CPU, not for the device",
    severity: Severity::Misleading,
    what: "The time in which the threads of a job were ready to run and had no CPU, less 10 us for each time that they slept, and the time \
           of the slow I/Os: those of more than three medians, and of 0.5 ms or more. It is reported where a percentile with enough samples (p99.9, p99) is among these, \
           and the waits are half of their time or more. Above 10 % of the job's time the rule waits-for-cpu speaks.",
    why: "Another program that takes the CPU for some milliseconds now and then changes no mean. The I/Os that complete meanwhile are \
          seen late, and they are the tail.",
    example: "--name=a --ioengine=psync --rw=randread --bs=64k --size=1g --direct=1 --cpus_allowed=0   (beside a program on CPU 0)",
    cure: "Keep the CPUs of the jobs free from others (--cpus_allowed, isolcpus), and repeat the run.",
    needs: &[EvidenceKind::CpuTurns],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Disturbed(OutsideLoad::Cpu { lacked: WAITS, all: &[] }),
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

/// Name of the measured value that is the time without a CPU.
const WAITS: &str = "waits for a CPU";

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let WaitingTail { percent, tail_ns, slow_ns: slow, waited_ns } = WaitingTail::of(case, job)?;
    let explanation = format!(
        "p{percent} is {}, and the job was ready to run and had no CPU for {} s, as long as its slow I/Os took ({} s): the tail is that of the CPU.",
        duration_text(tail_ns as f64),
        text::short(waited_ns as f64 / 1e9),
        text::short(slow / 1e9)
    );
    let evidence = vec![
        Measured::seconds(WAITS, waited_ns as f64 / 1e9),
        Measured::seconds("time of the slow I/Os", slow / 1e9),
        Measured::seconds(&format!("p{percent}"), tail_ns as f64 / 1e9),
    ];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{CpuTurns, LatencyStat};

    /// A job of 20 s: 20,000 I/Os of 300 us, and some of 10 ms.
    fn scene(n_slow: u32, waited_ms: u64, n_sleeps: u64) -> Vec<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let stats = scene.stats();
        let figures = &mut stats.directions.0[0];
        for latency in [&mut figures.lat, &mut figures.clat] {
            *latency = LatencyStat::new(true);
            (0..20_000).for_each(|_| latency.record(300_000));
            (0..n_slow).for_each(|_| latency.record(10_000_000));
        }
        stats.total_runtime_ns = 20_000_000_000;
        stats.usage.cpu_turns =
            Some(CpuTurns { ran_ns: 1_000_000_000, waited_ns: waited_ms * 1_000_000, n_turns: n_sleeps, n_sleeps });
        scene.found()
    }

    #[test]
    fn waits_as_long_as_half_of_the_slow_ios_are_told() {
        // 1 s of slow I/Os.
        assert_eq!(scene(100, 550, 0), ["tail-waits-for-cpu"]);
        // Else they are stalls of the device.
        assert_eq!(scene(100, 450, 0), ["stalls"]);
        // 10 us for each of 20,000 sleeps: 0.2 s.
        assert_eq!(scene(100, 750, 20_000), ["tail-waits-for-cpu"]);
        assert_eq!(scene(100, 650, 20_000), ["stalls"]);
    }

    #[test]
    fn a_tail_that_no_percentile_shows_and_waits_of_another_rule_are_not() {
        assert_eq!(scene(10, 1_000, 0), Vec::<String>::new());
        assert_eq!(scene(100, 2_000, 0), ["waits-for-cpu"]);
    }
}
