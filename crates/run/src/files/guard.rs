//! Guards against damage: devices in use must not be overwritten, and blocks that are verified must not be overwritten
//! by clones of their job.
//!
//! Must not know: how jobs run. Start reading at [`check_devices`] and [`verified_by_clones`].

use super::naming;
use crate::plan::WorkerPlan;
use ferrio_stats::note::{DeviceUsage, FileNote};
use ferrio_sys::block_device::DeviceNumber;
use ferrio_sys::errno::{ENODEV, ENOMEDIUM, ENXIO};
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::mounts::{self, DeviceUse};
use ferrio_sys::nvme::node::BlockSide;
use ferrio_sys::scsi::node::ScsiSide;
use ferrio_sys::{dax_device, mtd, nvme, scsi};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A device that a job would overwrite is in use, so nothing may run.
#[derive(Debug)]
pub(crate) struct DeviceInUse {
    /// Index of the worker that would overwrite it.
    pub(crate) worker_index: usize,
    /// The message for the user.
    pub(crate) note: FileNote,
}

/// Finds the first block device that a job would write to although it is mounted, used for swap, part of another device
/// or claimed, or although its state cannot be found out. `look_at` is called with each worker before its files are
/// checked.
pub(crate) fn check_devices(workers: &[WorkerPlan], look_at: &dyn Fn(usize)) -> Option<DeviceInUse> {
    let mut seen: HashSet<(PathBuf, bool)> = HashSet::new();
    for (worker_index, worker) in workers.iter().enumerate() {
        if !worker.spec.changes_files()
            || worker.spec.target.allow_mounted_write
            || !worker.engine.def.targets.are_files()
        {
            continue;
        }
        look_at(worker_index);
        for path in naming::named_paths(worker) {
            let key = (path, worker.engine.def.targets.are_passthrough());
            if seen.contains(&key) {
                continue;
            }
            let (path, is_passthrough) = &key;
            if let Some(usage) = usage(path, *is_passthrough) {
                let note = FileNote::InUse { path: path.display().to_string(), usage };
                return Some(DeviceInUse { worker_index, note });
            }
            seen.insert(key);
        }
    }
    None
}

/// The reason why a path must not be written to; `None`: it may be, or is no device, or does not exist. Only commands past the block
/// layer write to character devices, whose data may be in use under the name of a block device.
fn usage(path: &Path, is_passthrough: bool) -> Option<DeviceUsage> {
    let info = FileInfo::of_path(path).ok()?;
    match info.kind {
        FileKind::Block => match mounts::use_of_device(path) {
            // The job will meet this error too, and will report it.
            Err(error) if matches!(error.errno(), Some(ENXIO | ENODEV | ENOMEDIUM)) => None,
            found => usage_of(found),
        },
        FileKind::Character if is_passthrough => usage_of(use_behind(info.is_device, path)),
        _ => None,
    }
}

/// The use of the data behind a character device, under the name of its block device. An engine refuses what is no device of its kind.
fn use_behind(number: DeviceNumber, path: &Path) -> ferrio_sys::Result<Option<DeviceUse>> {
    match nvme::node::block_device_of(number)? {
        BlockSide::At(device) => return mounts::use_of_device(&device),
        // What the kernel hides nobody uses.
        BlockSide::Hidden => return Ok(None),
        BlockSide::NotNvme => {}
    }
    match scsi::node::block_device_of(number)? {
        ScsiSide::Disk(device) => mounts::use_of_device(&device),
        // A tape has no data under another name.
        ScsiSide::NoDisk => Ok(None),
        ScsiSide::NotScsi => match mtd::use_of(number)? {
            Some(found) => Ok(Some(found)),
            None => dax_device::use_of(number, path),
        },
    }
}

fn usage_of(found: ferrio_sys::Result<Option<DeviceUse>>) -> Option<DeviceUsage> {
    Some(match found {
        Ok(None) => return None,
        Ok(Some(DeviceUse::Mounted(_))) => DeviceUsage::Mounted,
        Ok(Some(DeviceUse::Swap(path))) => DeviceUsage::Swap { path: path.display().to_string() },
        Ok(Some(DeviceUse::HeldBy(name))) => DeviceUsage::HeldBy { name },
        Ok(Some(DeviceUse::Claimed)) => DeviceUsage::Claimed,
        Err(error) => DeviceUsage::Unknown((&error).into()),
    })
}

/// Jobs with clones that read back their writes, where the user has given the names of the files, so that the clones
/// may share them. As seen on fio 3.41, a job counts whatever its ranges and other sections are, and even if the names
/// of the clones differ.
pub(crate) fn verified_by_clones(workers: &[WorkerPlan]) -> HashSet<usize> {
    let clones = workers.iter().filter(|worker| worker.clone_index > 0);
    clones.filter(|worker| reads_back(worker) && has_given_names(worker)).map(|worker| worker.job_index).collect()
}

fn reads_back(worker: &WorkerPlan) -> bool {
    worker.spec.verify.as_ref().is_some_and(|verify| verify.reads_back)
}

fn has_given_names(worker: &WorkerPlan) -> bool {
    let target = &worker.spec.target;
    let is_other = |format: &String| format != naming::DEFAULT_FORMAT;
    !target.filenames.is_empty() || target.filename_format.as_ref().is_some_and(is_other)
}
