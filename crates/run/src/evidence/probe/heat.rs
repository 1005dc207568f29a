//! Heat: CPUs that were slowed down because of it, and the temperatures of the drives under the files.
//!
//! Must not know: the I/O of the jobs. Start reading at [`HeatProbe`]. A drive is asked before the jobs and for a report only, because
//! an NVMe drive has to answer a command for it.

use super::{Begun, Probe, Site};
use ferrio_stats::{DriveHeat, Evidence, Heat};
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::heat::{Temperature, cpu_throttled_ms};
use std::path::PathBuf;

/// The state before the jobs.
struct HeatProbe {
    throttled_ms: Vec<u64>,
    drives: Vec<Drive>,
}

struct Drive {
    name: String,
    sensor: PathBuf,
    before: i64,
}

/// Begins in native runs and for records only: reports in the place of fio do without.
pub(super) fn start(site: &Site<'_>, begun: &mut Begun) {
    if !site.control.looks_into_files {
        return;
    }
    let used = |device: &BlockDevice| site.devices.iter().any(|facts| facts.name == device.name);
    let devices = BlockDevice::all().unwrap_or_default();
    let drives: Vec<Drive> = devices.iter().filter(|device| used(device)).filter_map(drive).collect();
    let throttled_ms = cpu_throttled_ms();
    // Without a sensor the evidence is that there is none.
    begun.probes.push(Box::new(HeatProbe { throttled_ms, drives }));
}

fn drive(device: &BlockDevice) -> Option<Drive> {
    let mut sensors = device.sensor_directories().into_iter();
    let (sensor, found) = sensors.find_map(|sensor| Temperature::read(&sensor).map(|found| (sensor, found)))?;
    Some(Drive { name: device.name.clone(), sensor, before: found.now })
}

impl Probe for HeatProbe {
    fn report(&self, evidence: &mut Evidence) {
        let now = |drive: &Drive| {
            let found = Temperature::read(&drive.sensor)?;
            Some(DriveHeat { name: drive.name.clone(), before: drive.before, now: found.now, limit: found.limit })
        };
        evidence.heat = Some(Heat {
            cpu_throttled_ms: longest(&self.throttled_ms, &cpu_throttled_ms()),
            drives: self.drives.iter().filter_map(now).collect(),
        });
    }
}

/// The largest growth; `None`: nothing is counted, or CPUs came or went meanwhile.
fn longest(before: &[u64], now: &[u64]) -> Option<u64> {
    let growth = |(before, now): (&u64, &u64)| now.saturating_sub(*before);
    if before.len() == now.len() { before.iter().zip(now).map(growth).max() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_that_was_slowed_down_longest_counts() {
        assert_eq!(longest(&[5, 100, 7], &[5, 130, 47]), Some(40));
        assert_eq!(longest(&[5], &[3]), Some(0));
        assert_eq!(longest(&[], &[]), None);
        assert_eq!(longest(&[5], &[5, 6]), None);
    }
}
