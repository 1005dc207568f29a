//! Devices that must not be overwritten.
//!
//! Must not know: how jobs run. Start reading at [`check_devices`].

use crate::error::RunError;
use crate::plan::WorkerPlan;
use ferrio_job::spec::DirectionMix;
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::mounts::{self, DeviceUse};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Refuses the run when a job would write to a block device that is mounted, used for swap, or part of another device.
pub(crate) fn check_devices(workers: &[WorkerPlan]) -> Result<(), RunError> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    for worker in workers {
        let target = &worker.spec.target;
        if worker.spec.pattern.mix == DirectionMix::Read || target.allow_mounted_write || worker.engine.diskless {
            continue;
        }
        let names = target.filenames.iter().map(PathBuf::from).chain([PathBuf::from(&worker.spec.name)]);
        for path in names.filter(|path| !seen.contains(path)).collect::<Vec<_>>() {
            check_device(&path)?;
            seen.insert(path);
        }
    }
    Ok(())
}

fn check_device(path: &Path) -> Result<(), RunError> {
    let Ok(info) = FileInfo::of_path(path) else { return Ok(()) };
    if info.kind != FileKind::Block {
        return Ok(());
    }
    let Some(device) = BlockDevice::behind_path(path)? else { return Ok(()) };
    let shown = path.display();
    match mounts::device_use(&device)? {
        None => Ok(()),
        Some(DeviceUse::Mounted(_)) => Err(RunError::DeviceInUse(format!(
            "fio: {shown} appears mounted, and 'allow_mounted_write' isn't set. Aborting."
        ))),
        Some(other) => Err(RunError::DeviceInUse(format!(
            "fio: {shown} is in use ({other}), and 'allow_mounted_write' isn't set. Aborting."
        ))),
    }
}
