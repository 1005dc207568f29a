//! The files of a job made ready for its loops: found, with their zones, and written where they must hold data.
//!
//! Must not know: loops, reports.
//! Start reading at [`prepare`]; the system calls of the layout are in `write`.

mod held;
mod random;
mod write;

pub(crate) use held::laid_over;
pub(crate) use write::needs_layout as is_short;

/// Fails where [`prepare`] would after it has found the files, as far as that shows without opening one.
pub(crate) fn check_before(worker: &WorkerPlan, set: &FileSet, readonly: bool) -> Result<(), Failure> {
    write::check_before(worker, set, readonly)
}

use crate::error::Failure;
use crate::events::{MessageStream, RunEvent};
use crate::files::size::{self, SetupWait};
use crate::files::{FileSet, naming};
use crate::link::trace::{TraceGroup, TraceSettings};
use crate::plan::WorkerPlan;
use crate::zones::debug_trace::setup_lines;
use crate::zones::{ZoneRegistry, sizes};
use ferrio_stats::FailedStep;
use ferrio_sys::file::FileKind;

/// Lays the regular files of a job out anew, after the job has removed them at the end of a pass.
pub(crate) fn make_again(
    worker: &WorkerPlan,
    set: &FileSet,
    trace: TraceSettings,
    events: &mut dyn FnMut(RunEvent),
    stop: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    let mut set = set.clone();
    set.files.iter_mut().filter(|file| file.kind == FileKind::Regular).for_each(|file| file.file_bytes = 0);
    write::lay_out(worker, &mut set, false, trace, events, stop)
}

/// Finds names, sizes and zones, and lays out files as needed, until `stop` returns true because the run is over.
/// Without a registry there are no zones.
pub(crate) fn prepare(
    worker: &WorkerPlan,
    zones: Option<&mut ZoneRegistry>,
    readonly: bool,
    trace: TraceSettings,
    events: &mut dyn FnMut(RunEvent),
    wait: SetupWait<'_>,
) -> Result<FileSet, Failure> {
    if worker.spec.replay.is_set() {
        // The worker will find the files in its trace.
        return Ok(FileSet::default());
    }
    if worker.engine.def.moves_nothing() {
        return Ok(FileSet::of_turns(worker));
    }
    sizes::check(worker)?;
    let targets = naming::targets(worker).map_err(|mut error| {
        if let Some(note) = error.note.take_if(|_| error.step == FailedStep::NoTarget) {
            events(RunEvent::Message(MessageStream::Info, *note));
        }
        error
    })?;
    let mut set = size::file_set(worker, &targets, wait)?;
    set.tell(trace, events);
    if let Some(registry) = zones {
        registry.enter(worker, &mut set, events)?;
        if trace.has(TraceGroup::Zbd) {
            for line in setup_lines(&set) {
                trace.tell(TraceGroup::Zbd, events, || line);
            }
        }
    }
    write::lay_out(worker, &mut set, readonly, trace, events, wait.stop)?;
    random::tell_generator(worker, &set, events);
    random::check_regions(worker, &set)?;
    Ok(set)
}
