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

/// A device that would be overwritten is in use: nothing may run.
#[derive(Debug)]
pub(crate) struct DeviceInUse {
    /// Position of the worker that would do it.
    pub(crate) worker_index: usize,
    /// What to tell the user.
    pub(crate) message: String,
}

/// Finds the first block device that is mounted, used for swap, or part of another device, and would be written to.
pub(crate) fn check_devices(workers: &[WorkerPlan]) -> Result<Option<DeviceInUse>, RunError> {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    for (worker_index, worker) in workers.iter().enumerate() {
        let reads_only = worker.spec.pattern.mix == DirectionMix::Read;
        if reads_only || worker.spec.target.allow_mounted_write || worker.engine.diskless {
            continue;
        }
        for path in naming::named_paths(worker) {
            if seen.contains(&path) {
                continue;
            }
            if let Some(message) = why_in_use(&path)? {
                return Ok(Some(DeviceInUse { worker_index, message }));
            }
            seen.insert(path);
        }
    }
    Ok(None)
}

fn why_in_use(path: &Path) -> Result<Option<String>, RunError> {
    let Ok(info) = FileInfo::of_path(path) else { return Ok(None) };
    if info.kind != FileKind::Block {
        return Ok(None);
    }
    let how = match mounts::use_of_number(info.is_device)? {
        None => return Ok(None),
        Some(DeviceUse::Mounted(_)) => "appears mounted".to_owned(),
        Some(other) => format!("is {other}"),
    };
    Ok(Some(format!("fio: {} {how}, and 'allow_mounted_write' isn't set. Aborting.", path.display())))
}
