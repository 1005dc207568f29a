//! The files of a worker as its loops get them: where each is, which part of it is used, and which zones it has.
//!
//! Must not know: how they are found or laid out. Start reading at [`FileSet`].

use crate::events::RunEvent;
use crate::link::trace::{TraceGroup, TraceSettings};
use crate::plan::WorkerPlan;
use ferrio_spec::ZoneSpec;
use ferrio_stats::LaidOver;
use ferrio_sys::file::FileKind;
use ferrio_units::DataDirection;
use ferrio_workload::{SequentialPlan, ZoneTable};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlan {
    pub path: PathBuf,
    /// Name in messages and traces.
    pub name: String,
    pub kind: FileKind,
    /// First byte that the worker uses.
    pub start_bytes: u64,
    /// Bytes that the worker uses.
    pub length_bytes: u64,
    /// Size now; after the layout at least `start_bytes + length_bytes` for regular files.
    pub file_bytes: u64,
}

impl FilePlan {
    /// A number that identifies the file in lines of `--debug`: an address that belongs only to this file as long as
    /// the set exists.
    pub(crate) fn address(&self) -> usize {
        self.name.as_ptr().addr()
    }
}

/// The files of a worker, and the amount of work on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileSet {
    /// The files in order.
    pub files: Vec<FilePlan>,
    /// `size`, or the sum of the ranges.
    pub size_bytes: u64,
    /// Bytes of one pass: `size_bytes`, or more with `sprandom`.
    pub pass_bytes: u64,
    /// Bytes of all passes without `loops`: `io_size`, or `pass_bytes`.
    pub io_bytes: u64,
    /// Zones of the files that are written in sequence.
    pub zones: ZonedFiles,
    /// Number of files that were made or made longer before the job.
    pub n_laid_out: u64,
    /// What became of files of a job that only reads which held data and were shorter than it needs.
    pub laid_over: Vec<LaidOver>,
}

impl FileSet {
    /// The files of a job that moves no data: a single name.
    pub(crate) fn of_turns(worker: &WorkerPlan) -> Self {
        let name = worker.spec.name.clone();
        let file = FilePlan {
            path: PathBuf::from(&name),
            name,
            kind: FileKind::Regular,
            start_bytes: 0,
            length_bytes: 0,
            file_bytes: 0,
        };
        Self { files: vec![file], ..Self::default() }
    }

    /// Sends lines about the files (`--debug=file`).
    pub(crate) fn tell(&self, trace: TraceSettings, events: &mut dyn FnMut(RunEvent)) {
        if !trace.has(TraceGroup::File) {
            return;
        }
        let mut tell = |text: String| trace.tell(TraceGroup::File, events, || text);
        for (index, file) in self.files.iter().enumerate() {
            let (address, name) = (file.address(), &file.name);
            tell(format!("add file {name}"));
            tell(format!("file {address:#x} \"{name}\" added at {index}"));
        }
        tell("setup files".to_owned());
        for (index, file) in self.files.iter().enumerate() {
            tell(format!("get file size for {:#x}/{index}/{}", file.address(), file.name));
        }
    }
}

/// The zones of a worker's files, in the order of the files; empty without `zonemode=zbd`.
#[derive(Debug, Clone, Default)]
pub struct ZonedFiles(Vec<Arc<ZoneTable>>);

impl PartialEq for ZonedFiles {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(mine, theirs)| Arc::ptr_eq(mine, theirs))
    }
}

impl Eq for ZonedFiles {}

impl ZonedFiles {
    /// `tables` has one table for each file.
    pub(crate) fn new(tables: Vec<Arc<ZoneTable>>) -> Self {
        Self(tables)
    }

    /// True if no file has zones.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn tables(&self) -> &[Arc<ZoneTable>] {
        &self.0
    }

    /// The zones for the plan of the workload; `None` without zones.
    pub(crate) fn plan(&self, worker: &WorkerPlan) -> Option<SequentialPlan> {
        let ZoneSpec::Sequential(spec) = worker.spec.zones else { return None };
        let keeps_written = worker.spec.verify.is_some() && worker.used_directions()[DataDirection::Write];
        Some(SequentialPlan { spec, keeps_written, tables: self.0.clone(), worker: worker.thread_number })
    }

    /// Called after a worker has ended in any way, so that others do not wait for its I/Os in flight.
    pub(crate) fn release(&self, worker: &WorkerPlan) {
        for table in &self.0 {
            table.release(worker.thread_number);
        }
    }
}
