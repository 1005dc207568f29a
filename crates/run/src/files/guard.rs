//! Devices that must not be overwritten, and blocks that are verified while others write over them.
//!
//! Must not know: how jobs run. Start reading at [`check_devices`] and [`verified_beside_writers`].

use super::{naming, size};
use crate::error::RunError;
use crate::plan::WorkerPlan;
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::mounts::{self, DeviceUse};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
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
        if !worker.spec.changes_files() || worker.spec.target.allow_mounted_write || worker.engine.diskless {
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

/// Jobs that verify what lies in files which others of their group write to, in the same bytes. Clones of a job that writes
/// are found whatever their ranges are, as by the reference.
pub(crate) fn verified_beside_writers(workers: &[WorkerPlan]) -> HashSet<usize> {
    let mut found = HashSet::new();
    if !workers.iter().any(verifies) {
        return found;
    }
    let mut of_files: HashMap<(u32, PathBuf), Vec<&WorkerPlan>> = HashMap::new();
    for worker in workers.iter().filter(|worker| !worker.engine.diskless && (verifies(worker) || changes(worker))) {
        for path in naming::named_paths(worker) {
            of_files.entry((worker.group_index, path)).or_default().push(worker);
        }
    }
    for ((_, path), beside) in of_files.iter().filter(|(_, beside)| beside.len() > 1) {
        let ranges: Vec<Range<u64>> = beside.iter().map(|worker| size::range_of(worker, path)).collect();
        for (worker, range) in beside.iter().zip(&ranges).filter(|(worker, _)| verifies(worker)) {
            let may_overwrite = |(other, its): (&&WorkerPlan, &Range<u64>)| {
                let overlaps = its.start < range.end && range.start < its.end;
                let is_clone = other.job_index == worker.job_index;
                changes(other) && other.thread_number != worker.thread_number && (is_clone || overlaps)
            };
            if beside.iter().zip(&ranges).any(may_overwrite) {
                found.insert(worker.job_index);
            }
        }
    }
    found
}

/// The worker checks blocks: its own, or those that it finds.
fn verifies(worker: &WorkerPlan) -> bool {
    worker.spec.verify.as_ref().is_some_and(|verify| verify.reads_back || !worker.writes())
}

fn changes(worker: &WorkerPlan) -> bool {
    worker.spec.changes_files()
}
