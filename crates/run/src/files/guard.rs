//! Devices that must not be overwritten.
//!
//! Must not know: how jobs run. Start reading at [`check_devices`].

use super::naming;
use crate::error::RunError;
use crate::plan::WorkerPlan;
use ferrio_job::spec::DirectionMix;
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::mounts::{self, DeviceUse};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Refuses the run when a job would write to a block device that is mounted, used for swap, or part of another device.
pub(crate) fn check_devices(workers: &[WorkerPlan]) -> Result<(), RunError> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    for worker in workers {
        let reads_only = worker.spec.pattern.mix == DirectionMix::Read;
        if reads_only || worker.spec.target.allow_mounted_write || worker.engine.diskless {
            continue;
        }
        for path in naming::named_paths(worker) {
            if !seen.contains(&path) {
                check_device(&path)?;
                seen.insert(path);
            }
        }
    }
    Ok(())
}

fn check_device(path: &Path) -> Result<(), RunError> {
    let Ok(info) = FileInfo::of_path(path) else { return Ok(()) };
    if info.kind != FileKind::Block {
        return Ok(());
    }
    let shown = path.display();
    match mounts::use_of_number(info.is_device)? {
        None => Ok(()),
        Some(DeviceUse::Mounted(_)) => Err(RunError::DeviceInUse(format!(
            "fio: {shown} appears mounted, and 'allow_mounted_write' isn't set. Aborting."
        ))),
        Some(other) => Err(RunError::DeviceInUse(format!(
            "fio: {shown} is {other}, and 'allow_mounted_write' isn't set. Aborting."
        ))),
    }
}
