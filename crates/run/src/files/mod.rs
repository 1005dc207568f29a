//! The files of a job before it runs: names, sizes, layout, guards.
//!
//! Must not know: loops, reports.
//! Start reading at [`FileSet::prepare`]; names in `naming`, sizes in `size`, system calls of the layout in `layout`.

pub mod guard;
mod layout;
mod naming;
mod random;
mod size;
pub(crate) mod table;

use crate::error::Failure;
use crate::events::{MessageStream, RunEvent};
use crate::link::trace::{TraceGroup, TraceSettings};
use crate::plan::WorkerPlan;
use crate::zones::told::setup_lines;
use crate::zones::{ZoneRegistry, ZonedFiles, sizes};
use ferrio_stats::FailedStep;
use ferrio_sys::file::FileKind;
use std::path::PathBuf;

pub(crate) use naming::{is_target, named_paths, tell_trees};

/// One file of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlan {
    /// Path of the file.
    pub path: PathBuf,
    /// Name in messages and traces.
    pub name: String,
    /// Kind of the file.
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
}

impl FileSet {
    /// Finds names, sizes and zones, and lays out files as needed, until `stop` returns true because the run is over.
    /// Without a registry there are no zones.
    pub(crate) fn prepare(
        worker: &WorkerPlan,
        zones: Option<&mut ZoneRegistry>,
        readonly: bool,
        trace: TraceSettings,
        events: &mut dyn FnMut(RunEvent),
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, Failure> {
        if worker.spec.replay.is_set() {
            // The worker will find the files in its trace.
            return Ok(Self::default());
        }
        if worker.engine.def.moves_nothing() {
            return Ok(Self::of_turns(worker));
        }
        sizes::check(worker)?;
        let targets = naming::targets(worker).map_err(|mut error| {
            if let Some(note) = error.note.take_if(|_| error.step == FailedStep::NoTarget) {
                events(RunEvent::Message(MessageStream::Info, *note));
            }
            error
        })?;
        let mut set = size::file_set(worker, &targets)?;
        set.tell(trace, events);
        if let Some(registry) = zones {
            registry.enter(worker, &mut set, events)?;
            if trace.has(TraceGroup::Zbd) {
                for line in setup_lines(&set) {
                    trace.tell(TraceGroup::Zbd, events, || line);
                }
            }
        }
        layout::lay_out(worker, &mut set, readonly, trace, events, stop)?;
        random::tell_generator(worker, &set, events);
        random::check_regions(worker, &set)?;
        Ok(set)
    }

    /// The files of a job that moves no data: a single name.
    fn of_turns(worker: &WorkerPlan) -> Self {
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
    fn tell(&self, trace: TraceSettings, events: &mut dyn FnMut(RunEvent)) {
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
