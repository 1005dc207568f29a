//! CPU time of the machine during the run (`/proc/stat`), with the time that a hypervisor gave to others, and the time in which a
//! control group was held back (`cpu.stat`).
//!
//! Must not know: jobs. Start reading at [`HostCpuProbe`].

use super::process_io::{CounterError, read_counters};
use super::{Begun, Probe, Site};
use ferrio_stats::{CpuTimes, Evidence, HostCpu, Throttling};
use ferrio_sys::cgroup::OwnGroups;
use std::path::PathBuf;

/// Milliseconds of a tick: the kernel shows times to programs in hundredths of a second on all architectures but one (alpha).
const TICK_MS: u64 = 10;

/// Counters at the start.
struct HostCpuProbe {
    machine: Result<CpuTimes, CounterError>,
    /// `None`: no control group for CPU time is visible.
    groups: Option<Groups>,
}

/// The control group of this process and those above it, with their counters at the start.
struct Groups {
    is_v2: bool,
    before: Vec<(PathBuf, Throttling)>,
}

pub(super) fn start(_: &Site<'_>, begun: &mut Begun) {
    let groups = OwnGroups::find("cpu").map(|OwnGroups { is_v2, directories }| {
        let counters = |directory: PathBuf| {
            let path = directory.join("cpu.stat");
            throttling(&std::fs::read_to_string(&path).ok()?, is_v2).map(|before| (path, before))
        };
        Groups { is_v2, before: directories.into_iter().filter_map(counters).collect() }
    });
    begun.probes.push(Box::new(HostCpuProbe { machine: machine(), groups }));
}

impl Probe for HostCpuProbe {
    fn report(&self, evidence: &mut Evidence) {
        let machine = self.machine.clone().and_then(|before| {
            let now = machine()?;
            Ok(CpuTimes {
                busy_ms: now.busy_ms.saturating_sub(before.busy_ms),
                idle_ms: now.idle_ms.saturating_sub(before.idle_ms),
                steal_ms: now.steal_ms.saturating_sub(before.steal_ms),
            })
        });
        let worst = self.groups.as_ref().ok_or("no control group for CPU time is visible").and_then(Groups::worst);
        evidence.host_cpu = Some(HostCpu { machine: machine.into(), throttling: worst.into() });
    }
}

impl Groups {
    /// The group that was held back longest.
    fn worst(&self) -> Result<Throttling, &'static str> {
        let since = |(path, before): &(PathBuf, Throttling)| {
            let now = throttling(&std::fs::read_to_string(path).ok()?, self.is_v2)?;
            Some(Throttling {
                n_periods: now.n_periods.saturating_sub(before.n_periods),
                n_throttled: now.n_throttled.saturating_sub(before.n_throttled),
                throttled_us: now.throttled_us.saturating_sub(before.throttled_us),
            })
        };
        let longest = self.before.iter().filter_map(since).max_by_key(|group| group.throttled_us);
        longest.ok_or("no control group counts the time in which it is held back")
    }
}

fn machine() -> Result<CpuTimes, CounterError> {
    read_counters("/proc/stat", cpu_times)
}

/// The line `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guests are a part of user and nice.
fn cpu_times(text: &str) -> Option<CpuTimes> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else { return None };
    let ms = |ticks: &[u64]| ticks.iter().fold(0, |sum: u64, ticks| sum.saturating_add(*ticks)).saturating_mul(TICK_MS);
    Some(CpuTimes {
        busy_ms: ms(&[user, nice, system, irq, softirq]),
        idle_ms: ms(&[idle, iowait]),
        steal_ms: ms(&[steal]),
    })
}

/// Lines such as `nr_throttled 5`. Version 1 counts nanoseconds (`throttled_time`), version 2 microseconds (`throttled_usec`). A
/// root group of version 2 has no such lines.
fn throttling(text: &str, is_v2: bool) -> Option<Throttling> {
    let count = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name).and_then(|(_, value)| value.trim().parse::<u64>().ok())
    };
    let throttled_us = if is_v2 { count("throttled_usec")? } else { count("throttled_time")? / 1000 };
    Some(Throttling { n_periods: count("nr_periods")?, n_throttled: count("nr_throttled")?, throttled_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_sorted_by_what_they_are() {
        let text = "cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 9 9 9 9 9 9 9 9 9 9\n";
        assert_eq!(cpu_times(text), Some(CpuTimes { busy_ms: 1030, idle_ms: 240, steal_ms: 1280 }));
        for text in ["", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 4 5 6 7\n", "cpu  1 2 x 4 5 6 7 8\n"] {
            assert_eq!(cpu_times(text), None, "{text}");
        }
        let all = format!("cpu {}", "18446744073709551615 ".repeat(8));
        assert_eq!(cpu_times(&all), Some(CpuTimes { busy_ms: u64::MAX, idle_ms: u64::MAX, steal_ms: u64::MAX }));
    }

    #[test]
    fn both_versions_count_the_time_in_which_a_group_is_held_back() {
        let expected = Some(Throttling { n_periods: 22, n_throttled: 20, throttled_us: 1_500_000 });
        assert_eq!(throttling("nr_periods 22\nnr_throttled 20\nthrottled_time 1500000000\n", false), expected);
        let v2 = "usage_usec 9\nnr_periods 22\nnr_throttled 20\nthrottled_usec 1500000\n";
        assert_eq!(throttling(v2, true), expected);
        assert_eq!(throttling("usage_usec 9\n", true), None);
        assert_eq!(throttling("nr_periods -1\nnr_throttled 20\nthrottled_usec 1\n", true), None);
    }
}
