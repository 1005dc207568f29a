//! Block devices behind the files of a run, and their I/O during the run.
//!
//! Must not know: jobs' loops, formats. Start reading at [`DiskProbe`].

use super::{Begun, Probe, Site};
use ferrio_stats::{DiskCounters, DiskRecord, Evidence};
use ferrio_sys::block_device::{BlockDevice, DeviceNumber};
use ferrio_sys::disk_stats::DiskStats;
use ferrio_sys::file::{FileInfo, FileKind};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Counters of all devices at the start of the run.
struct DiskProbe {
    started_at: Instant,
    disks: Vec<Disk>,
}

struct Disk {
    device: BlockDevice,
    before: DiskStats,
    slaves: Vec<(BlockDevice, DiskStats)>,
}

/// Finds the devices of all workers that want disk figures.
pub(super) fn start(site: &Site<'_>, begun: &mut Begun) {
    if !site.workers.iter().any(|worker| worker.spec.reporting.disk_util) {
        return;
    }
    let mut disks = Vec::new();
    let mut numbers = HashSet::new();
    for (worker, laid_out) in site.with_files().filter(|(worker, _)| worker.spec.reporting.disk_util) {
        (site.look_at)(worker.index());
        let paths = worker.paths.expected(laid_out);
        // A file that will be made when it is opened is on the device of its directory.
        for number in paths.iter().filter_map(|path| device_number(&existing(path))) {
            // A job may have thousands of files on one device, so sysfs is asked only once.
            if numbers.insert(number)
                && let Ok(Some(device)) = BlockDevice::by_number(number)
            {
                add(&mut disks, device);
            }
        }
    }
    begun.probes.push(Box::new(DiskProbe { started_at: Instant::now(), disks }));
}

impl Probe for DiskProbe {
    fn describe(&self) -> Vec<String> {
        self.disks.iter().flat_map(Disk::describe).collect()
    }

    fn report(&self, evidence: &mut Evidence) {
        let elapsed_ms = self.started_at.elapsed().as_millis().max(1) as u64;
        evidence.disks = Some(self.disks.iter().map(|disk| disk.report(elapsed_ms)).collect());
    }
}

fn device_number(path: &Path) -> Option<DeviceNumber> {
    let info = FileInfo::of_path(path).ok()?;
    match info.kind {
        FileKind::Block => Some(info.is_device),
        FileKind::Character => None,
        _ => Some(info.on_device),
    }
}

/// The path, or the nearest directory above it that exists.
fn existing(path: &Path) -> PathBuf {
    let there = path.ancestors().find(|path| path.exists());
    there.map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

fn stats_of(device: &BlockDevice) -> Option<DiskStats> {
    DiskStats::parse(&device.stat_text().ok()?).ok()
}

fn add(disks: &mut Vec<Disk>, device: BlockDevice) {
    if disks.iter().any(|disk| disk.device.number == device.number) {
        return;
    }
    let Some(before) = stats_of(&device) else { return };
    let slaves: Vec<_> = device
        .slaves()
        .unwrap_or_default()
        .into_iter()
        .filter_map(|slave| stats_of(&slave).map(|stats| (slave, stats)))
        .collect();
    let own: Vec<BlockDevice> = slaves.iter().map(|(slave, _)| slave.clone()).collect();
    disks.push(Disk { device, before, slaves });
    for slave in own {
        add(disks, slave);
    }
}

impl Disk {
    /// Lines of `--debug=diskutil`.
    fn describe(&self) -> [String; 4] {
        let BlockDevice { name, number, .. } = &self.device;
        let (number, directory) = (number.to_string().replace(':', "/"), format!("/sys/block/{name}"));
        let text = self.device.stat_text().unwrap_or_default();
        [
            format!("add maj/min {number}: {directory}"),
            format!("add {name} to list"),
            format!("open stat file: {directory}/stat"),
            format!("{directory}/stat: {}", text.trim_end()),
        ]
    }

    fn report(&self, elapsed_ms: u64) -> DiskRecord {
        let counters = counters_since(&self.device, &self.before, elapsed_ms);
        let slaves = self.slaves.iter().map(|(slave, before)| counters_since(slave, before, elapsed_ms)).collect();
        DiskRecord { name: self.device.name.clone(), counters, slaves }
    }
}

fn counters_since(device: &BlockDevice, before: &DiskStats, elapsed_ms: u64) -> DiskCounters {
    let now = stats_of(device).unwrap_or(*before).since(before);
    DiskCounters {
        ios: [now.read.n_ios, now.write.n_ios],
        merges: [now.read.n_merges, now.write.n_merges],
        sectors: [now.read.n_sectors, now.write.n_sectors],
        ticks_ms: [now.read.ticks_ms, now.write.ticks_ms],
        in_queue_ms: now.time_in_queue_ms,
        util_percent: (100.0 * now.io_ticks_ms as f64 / elapsed_ms as f64).min(100.0),
        n_flushes: now.n_flushes,
    }
}
