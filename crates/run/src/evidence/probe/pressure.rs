//! Pressure stall information: the time during the run in which tasks of the machine, and of this process's control
//! group, waited for a CPU, for I/O or for memory; and limits of the group for I/O that change meanwhile.
//!
//! Must not know: jobs. Start reading at [`PressureProbe`].

use super::process_io::{CounterError, read_counters};
use super::{Begun, Probe, Site};
use crate::evidence::provenance::io_limits;
use ferrio_stats::provenance::{DeviceFacts, IoLimit};
use ferrio_stats::{Evidence, Pressure, Reading, Stall, Stalls};
use std::path::{Path, PathBuf};

/// Totals of cpu, io and memory for the machine or for a group.
type Totals = [Result<Stall, CounterError>; 3];

/// Totals at the start.
struct PressureProbe {
    machine: Totals,
    cgroup: Option<(PathBuf, Totals)>,
    limits: LimitWatch,
}

/// Limits of the control group for I/O to some devices.
#[derive(Clone)]
struct LimitWatch {
    devices: Vec<DeviceFacts>,
    at_start: Vec<IoLimit>,
    /// Those that were other ones later, each once.
    changed: Vec<IoLimit>,
}

impl LimitWatch {
    fn new(devices: &[DeviceFacts]) -> Self {
        Self { devices: devices.to_vec(), at_start: io_limits(devices), changed: Vec::new() }
    }

    fn compare(&mut self, now: Vec<IoLimit>) {
        let is_same_place =
            |one: &IoLimit, other: &IoLimit| (&one.device, one.is_write) == (&other.device, other.is_write);
        let lifted = self.at_start.iter().filter(|start| !now.iter().any(|one| is_same_place(one, start)));
        let lifted = lifted.map(|start| IoLimit { bytes_per_sec: None, ios_per_sec: None, ..start.clone() });
        let lifted: Vec<IoLimit> = lifted.collect();
        for limit in now.into_iter().chain(lifted) {
            if !self.at_start.contains(&limit) && !self.changed.contains(&limit) && self.changed.len() < Self::MOST {
                self.changed.push(limit);
            }
        }
    }

    /// A group whose limits change all the time is known by so many of them.
    const MOST: usize = 64;
}

pub(super) fn start(site: &Site<'_>, begun: &mut Begun) {
    let cgroup = own_group().map(|directory| {
        let totals = totals_of_group(&directory);
        (directory, totals)
    });
    begun.probes.push(Box::new(PressureProbe {
        machine: totals_of_machine(),
        cgroup,
        limits: LimitWatch::new(site.devices),
    }));
}

impl Probe for PressureProbe {
    fn look(&mut self) {
        self.limits.compare(io_limits(&self.limits.devices));
    }

    fn report(&self, evidence: &mut Evidence) {
        let cgroup = if let Some((directory, before)) = &self.cgroup {
            differences(totals_of_group(directory), before)
        } else {
            let missing = || Reading::Missing("no group of cgroup2 is mounted for this process".to_owned());
            Stalls { cpu: missing(), io: missing(), memory: missing() }
        };
        let mut limits = self.limits.clone();
        limits.compare(io_limits(&limits.devices));
        let machine = differences(totals_of_machine(), &self.machine);
        evidence.pressure = Some(Pressure { machine, cgroup, changed_limits: limits.changed });
    }
}

fn totals_of_machine() -> Totals {
    ["cpu", "io", "memory"].map(|resource| read(&Path::new("/proc/pressure").join(resource)))
}

fn totals_of_group(directory: &Path) -> Totals {
    ["cpu", "io", "memory"].map(|resource| read(&directory.join(format!("{resource}.pressure"))))
}

/// Directory of this process's control group (cgroup2).
fn own_group() -> Option<PathBuf> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let root = root.into_iter().find(|fields| fields.get(2) == Some(&"cgroup2"))?.get(1)?.to_owned();
    Some(Path::new(root).join(path))
}

fn read(path: &Path) -> Result<Stall, CounterError> {
    read_counters(path, parse)
}

/// Lines `some avg10=.. avg60=.. avg300=.. total=N` and `full ...`; older kernels have no `full` for the CPU.
fn parse(text: &str) -> Option<Stall> {
    let total = |kind: &str| {
        let line = text.lines().find(|line| line.starts_with(kind))?;
        line.split(' ').find_map(|field| field.strip_prefix("total="))?.parse().ok()
    };
    Some(Stall { some_us: total("some ")?, full_us: total("full ").unwrap_or(0) })
}

fn differences(now: Totals, before: &Totals) -> Stalls {
    let mut stalls = now.into_iter().zip(before).map(|(now, before)| {
        Reading::from(now.and_then(|now| {
            let before = before.clone()?;
            let (some_us, full_us) =
                (now.some_us.saturating_sub(before.some_us), now.full_us.saturating_sub(before.full_us));
            Ok::<_, CounterError>(Stall { some_us, full_us })
        }))
    });
    let mut next = || stalls.next().unwrap_or(Reading::Missing(String::new()));
    Stalls { cpu: next(), io: next(), memory: next() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_change_are_kept_as_they_were() {
        let limit = |is_write: bool, bytes: Option<u64>| IoLimit {
            device: "vda".to_owned(),
            is_write,
            bytes_per_sec: bytes,
            ios_per_sec: None,
        };
        let at_start = vec![limit(true, Some(7))];
        let mut watch = LimitWatch { devices: Vec::new(), at_start: at_start.clone(), changed: Vec::new() };
        watch.compare(at_start.clone());
        assert_eq!(watch.changed, []);
        let slow = limit(false, Some(1000));
        watch.compare([at_start.clone(), vec![slow.clone()]].concat());
        watch.compare(at_start);
        watch.compare(vec![slow.clone()]);
        assert_eq!(watch.changed, [slow, limit(true, None)]);
    }

    #[test]
    fn totals_are_those_of_the_lines() {
        let some = "some avg10=4.52 avg60=5.76 avg300=3.39 total=1631258673\n";
        let full = "full avg10=0.00 avg60=0.00 avg300=0.00 total=253462256\n";
        let both = parse(&format!("{some}{full}"));
        assert_eq!(both, Some(Stall { some_us: 1_631_258_673, full_us: 253_462_256 }));
        assert_eq!(parse(some), Some(Stall { some_us: 1_631_258_673, full_us: 0 }));
        assert_eq!(parse(full), None);
    }

    #[test]
    fn what_was_waited_meanwhile_counts() {
        let total = |some_us, full_us| Ok::<_, CounterError>(Stall { some_us, full_us });
        let gone = |path: &str| Err(CounterError::NotUnderstood(path.into()));
        let before = [total(10, 1), total(20, 2), gone("memory")];
        let now = [total(15, 1), gone("io"), total(7, 7)];
        let stalls = differences(now, &before);
        assert_eq!(stalls.cpu, Reading::Value(Stall { some_us: 5, full_us: 0 }));
        assert_eq!(stalls.io, Reading::Missing("io is not understood".to_owned()));
        assert_eq!(stalls.memory, Reading::Missing("memory is not understood".to_owned()));
    }
}
