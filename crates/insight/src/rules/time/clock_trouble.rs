//! Clocks that are slow, or that did not go on evenly.

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{HostClock, Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "clock-trouble",
    title: "The clocks of the machine are slow, or jumped",
    severity: Severity::Misleading,
    what: "The clock source of the kernel, where ferrio has no faster one, and the distances between the kernel's clocks before and after \
           the run. It is reported of hpet, acpi_pm, pit and jiffies, of a time of day that was set by 0.1 s or more, and of a machine that \
           was suspended.",
    why: "A slow clock takes a microsecond or more for each look, two of which are a part of every I/O; jiffies go in steps of milliseconds. \
          A clock that was set moves the times in logs and reports, and a suspended machine does nothing while the run goes on.",
    example: "--name=a --ioengine=psync --rw=randread --size=1g --direct=1 --write_lat_log=a --log_unix_epoch=1",
    cure: "Boot with a working TSC (see /sys/devices/system/clocksource), stop programs that set the clock, and repeat the run.",
    needs: &[EvidenceKind::Clock],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// Clock sources that are read from a device, or that go in steps.
const SLOW: [&str; 5] = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];
/// A step that no reader of a log takes for an I/O.
const LEAST_MS: u64 = 100;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let observation = |evidence, explanation| Observation::of_run(evidence, explanation);
    let clock = &case.provenance.clock;
    let slow = clock.kernel_source.as_deref().filter(|name| clock.source == "monotonic" && SLOW.contains(name));
    let slow = slow.map(|name| {
        let explanation =
            format!("The kernel takes the time from {name}: each look at the clock takes long or is coarse, and latencies include it.");
        observation(Vec::new(), explanation)
    });
    let course = case.record.evidence.host_clock;
    let HostClock { stepped_ms, suspended_ms } = course.unwrap_or_default();
    let stepped = (stepped_ms.unsigned_abs() >= LEAST_MS).then(|| {
        let seconds = stepped_ms as f64 / 1e3;
        let direction = if stepped_ms > 0 { "forward" } else { "back" };
        let explanation = format!(
            "The time of day was set {direction} by {} s during the run: times of day in logs and reports jump, latencies do not.",
            text::short(seconds.abs())
        );
        observation(vec![Measured::seconds("step of the time of day", seconds)], explanation)
    });
    let suspended = (suspended_ms >= LEAST_MS).then(|| {
        let seconds = suspended_ms as f64 / 1e3;
        let explanation = format!(
            "The machine was suspended for {} s during the run: caches and devices began anew.",
            text::short(seconds)
        );
        observation(vec![Measured::seconds("suspended", seconds)], explanation)
    });
    slow.into_iter().chain(stepped).chain(suspended).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::HostClock;

    #[test]
    fn jumps_of_a_tenth_of_a_second_are_told() {
        let found = |stepped_ms, suspended_ms| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.record.evidence.host_clock = Some(HostClock { stepped_ms, suspended_ms });
            scene.found()
        };
        assert_eq!(found(99, 99), Vec::<String>::new());
        assert_eq!(found(-99, 0), Vec::<String>::new());
        assert_eq!(found(100, 0), ["clock-trouble"]);
        assert_eq!(found(i64::MIN, 0), ["clock-trouble"]);
        assert_eq!(found(-100, 100), ["clock-trouble", "clock-trouble"]);
    }

    #[test]
    fn a_slow_clock_is_told_where_it_is_used() {
        let found = |source: &str, kernel_source: &str| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            source.clone_into(&mut scene.clock.source);
            scene.clock.kernel_source = Some(kernel_source.to_owned());
            scene.found()
        };
        assert_eq!(found("monotonic", "hpet"), ["clock-trouble"]);
        assert_eq!(found("monotonic", "kvm-clock"), Vec::<String>::new());
        assert_eq!(found("tsc", "hpet"), Vec::<String>::new());
    }
}
