//! Block devices behind the files of a run, and what they did while it ran.
//!
//! Must not know: jobs' loops, formats. Start reading at [`DiskWatch`].

use super::record::Record;
use crate::files;
use crate::plan::WorkerPlan;
use ferrio_stats::DiskReport;
use ferrio_stats::result::DiskCounters;
use ferrio_sys::block_device::{BlockDevice, DeviceNumber};
use ferrio_sys::disk_stats::DiskStats;
use ferrio_sys::file::{FileInfo, FileKind};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Counters of all devices at the start of the run.
pub(super) struct DiskWatch {
    started_at: Instant,
    disks: Option<Vec<Disk>>,
}

struct Disk {
    device: BlockDevice,
    before: DiskStats,
    slaves: Vec<(BlockDevice, DiskStats)>,
}

impl DiskWatch {
    /// Finds the devices of all workers that want them reported.
    pub(super) fn start(workers: &[WorkerPlan], records: &[Record]) -> Self {
        let wanted = workers.iter().any(|worker| worker.spec.reporting.disk_util);
        let mut disks = Vec::new();
        let mut numbers = HashSet::new();
        for (worker, record) in workers.iter().zip(records) {
            if !worker.spec.reporting.disk_util || worker.engine.diskless || record.has_failed() {
                continue;
            }
            let laid_out = record.files.iter().flat_map(|set| &set.files).map(|file| file.path.clone());
            let mut paths: Vec<PathBuf> = laid_out.collect();
            if paths.is_empty() {
                // The worker lays out its files itself: what counts is where they will be.
                paths = files::named_paths(worker).iter().map(|path| existing(path)).collect();
            }
            for number in paths.iter().filter_map(|path| device_number(path)) {
                // A job may have thousands of files on one device: sysfs is asked once.
                if numbers.insert(number)
                    && let Ok(Some(device)) = BlockDevice::by_number(number)
                {
                    add(&mut disks, device);
                }
            }
        }
        Self { started_at: Instant::now(), disks: wanted.then_some(disks) }
    }

    /// The devices that are watched, a line each.
    pub(super) fn describe(&self) -> Vec<String> {
        let disks = self.disks.iter().flatten();
        disks.map(|disk| format!("add {} ({}) to list", disk.device.name, disk.device.number)).collect()
    }

    /// What the devices did since the start. `None`: nobody wants to know.
    pub(super) fn reports(&self) -> Option<Vec<DiskReport>> {
        let elapsed_ms = self.started_at.elapsed().as_millis().max(1) as u64;
        let disks = self.disks.as_ref()?;
        Some(disks.iter().map(|disk| disk.report(elapsed_ms)).collect())
    }
}

/// Number of the device that a path is, or that its file system is on.
fn device_number(path: &Path) -> Option<DeviceNumber> {
    let info = FileInfo::of_path(path).ok()?;
    match info.kind {
        FileKind::Block => Some(info.is_device),
        FileKind::Character => None,
        _ => Some(info.on_device),
    }
}

/// The path, or the nearest directory above it that is there.
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
    fn report(&self, elapsed_ms: u64) -> DiskReport {
        let counters = counters_since(&self.device, &self.before, elapsed_ms);
        let slaves: Vec<DiskCounters> =
            self.slaves.iter().map(|(slave, before)| counters_since(slave, before, elapsed_ms)).collect();
        DiskReport::stacked(self.device.name.clone(), counters, &slaves)
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
    }
}
