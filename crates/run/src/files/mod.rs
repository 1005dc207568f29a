//! The files of a job before it runs: names, sizes, layout, guards.
//!
//! Must not know: loops, reports.
//! Start reading at [`FileSet::prepare`]; names in `naming`, sizes in `size`, system calls of the layout in `layout`.

pub mod guard;
mod layout;
mod naming;
mod size;

use crate::error::JobError;
use crate::events::RunEvent;
use crate::plan::WorkerPlan;
use crate::zones::{ZoneRegistry, ZonedFiles};
use ferrio_sys::file::FileKind;
use std::path::PathBuf;

pub(crate) use naming::named_paths;

/// One file of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlan {
    /// Where it is.
    pub path: PathBuf,
    /// Its name in messages and traces.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// First byte that the worker uses.
    pub start_bytes: u64,
    /// Bytes that the worker uses.
    pub length_bytes: u64,
    /// Size now; after the layout at least `start_bytes + length_bytes` for regular files.
    pub file_bytes: u64,
}

/// The files of a worker and what it does with them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileSet {
    /// The files in order.
    pub files: Vec<FilePlan>,
    /// `size`, or what the ranges hold.
    pub size_bytes: u64,
    /// Bytes of one pass: `size_bytes`, or more with `sprandom`.
    pub pass_bytes: u64,
    /// Bytes of all passes without `loops`: `io_size`, or `pass_bytes`.
    pub io_bytes: u64,
    /// Zones of the files that are written in sequence.
    pub zones: ZonedFiles,
}

impl FileSet {
    /// Finds names, sizes and zones and lays files out where that is needed, until `stop` says that the run is over.
    /// Without a registry there are no zones.
    pub(crate) fn prepare(
        worker: &WorkerPlan,
        zones: Option<&mut ZoneRegistry>,
        readonly: bool,
        events: &mut dyn FnMut(RunEvent),
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, JobError> {
        if worker.spec.replay.is_set() {
            // The worker finds them in its trace.
            return Ok(Self::default());
        }
        let targets = naming::targets(worker, events)?;
        let mut set = size::file_set(worker, &targets)?;
        if let Some(registry) = zones {
            registry.enter(worker, &mut set, events)?;
        }
        layout::lay_out(worker, &mut set, readonly, events, stop)?;
        Ok(set)
    }
}
