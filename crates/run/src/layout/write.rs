//! Lays out files before a job runs, with the same system calls as fio.
//!
//! Must not know: loops. Start reading at [`lay_out`].
//! Facts: reference "Layout of one file".

use super::held;
use crate::compat;
use crate::engine_notes;
use crate::error::{Failure, errno_of, failure};
use crate::events::RunEvent;
use crate::files::{FilePlan, FileSet};
use crate::link::trace::{TraceGroup, TraceSettings};
use crate::plan::WorkerPlan;
use ferrio_spec::{DirectionMix, ErrorSpec, Fallocate, JobSpec, RandomDistribution, engines};
use ferrio_stats::Note;
use ferrio_stats::note::{During, FileNote};
use ferrio_sys::errno::{ENOENT, ENOMEM, ENOSPC};
use ferrio_sys::file::{self, Access, FileInfo, FileKind, OpenRequest};
use ferrio_sys::file_cache::{self, CacheAdvice};
use ferrio_sys::file_io;
use ferrio_sys::file_space::{self, Preallocation};
use ferrio_units::DataDirection;
use ferrio_workload::contents::LayoutContents;
use std::os::fd::OwnedFd;

/// The preparation that a job's files need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayoutNeed {
    /// The files only have to exist; writes make them grow.
    Create,
    /// Existing files stay, and writes make them grow.
    Append,
    /// Existing files stay, and what is missing at their end is written.
    Extend,
    /// The files are written once, completely.
    Fill,
    /// The files are made for trims, and never written.
    Reserve,
}

impl LayoutNeed {
    pub(super) fn of(worker: &WorkerPlan) -> Self {
        let reads = matches!(worker.spec.pattern.mix, DirectionMix::Read | DirectionMix::ReadWrite);
        let replaces = compat::replaces_short_files(worker);
        if worker.spec.pattern.mix == DirectionMix::Trim {
            Self::Reserve
        } else if reads || worker.spec.layout.overwrite || worker.engine.def.layout == engines::Layout::Always {
            if replaces { Self::Fill } else { Self::Extend }
        } else if worker.spec.extent.file_append || !replaces {
            Self::Append
        } else {
            Self::Create
        }
    }

    /// True if files that are there are deleted, and made anew.
    pub(super) fn replaces(self) -> bool {
        matches!(self, Self::Create | Self::Fill)
    }

    /// True if the layout writes data.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Fill | Self::Extend)
    }
}

/// Lays out the regular files that are missing or too short.
pub(super) fn lay_out(
    worker: &WorkerPlan,
    set: &mut FileSet,
    readonly: bool,
    trace: TraceSettings,
    events: &mut dyn FnMut(RunEvent),
    stop: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    if !worker.engine.def.targets.are_files() {
        return if readonly { Ok(()) } else { make_own(worker, set) };
    }
    if worker.spec.layout.create_on_open {
        return Ok(());
    }
    let n_files = set.files.iter().filter(|file| needs_layout(file)).count() as u64;
    if n_files == 0 {
        return Ok(());
    }
    if worker.spec.is_verify_only() {
        return check_earlier_run(set);
    }
    if readonly {
        events(RunEvent::Message(crate::events::MessageStream::Error, FileNote::Readonly.into()));
        return Ok(());
    }
    let how = LayoutNeed::of(worker);
    held::check(worker, set, how)?;
    set.laid_over = held::laid_over(worker, set);
    held::tell(worker, &set.laid_over, events);
    let total_bytes = set.files.iter().filter(|file| needs_layout(file)).map(end_of).fold(0, u64::saturating_add);
    events(RunEvent::LayingOut { job_name: worker.spec.name.clone(), n_files, total_bytes });
    set.n_laid_out = n_files;
    let mut contents = LayoutContents::new(&worker.spec.buffers, &worker.contents_plan(set.size_bytes), &worker.seeds);
    let mut files = set.files.iter_mut().filter(|file| needs_layout(file));
    let mut tell = |group: TraceGroup, text: &dyn Fn() -> String| trace.tell(group, events, text);
    files.try_for_each(|file| lay_out_file(worker, file, how, &mut contents, &mut tell, stop))?;
    if worker.spec.extent.fill_device && how.writes() && worker.used_directions()[DataDirection::Read] {
        forget_what_did_not_fit(set);
    }
    Ok(())
}

/// Fails where [`lay_out`] would, as far as that shows without opening a file.
pub(super) fn check_before(worker: &WorkerPlan, set: &FileSet, readonly: bool) -> Result<(), Failure> {
    if !worker.engine.def.targets.are_files() {
        return Ok(());
    }
    let is_missing = |file: &FilePlan| file.kind == FileKind::Regular && FileInfo::of_path(&file.path).is_err();
    if worker.spec.layout.create_on_open {
        let is_refused = !worker.spec.target.allow_file_create && set.files.iter().any(is_missing);
        let refusal = || Err(failure!(ENOENT, "open").explained(FileNote::CreationDisallowed));
        return if is_refused { refusal() } else { Ok(()) };
    }
    if !set.files.iter().any(needs_layout) {
        return Ok(());
    }
    if worker.spec.is_verify_only() {
        return check_earlier_run(set);
    }
    if readonly {
        // A job may end before it comes to the part of a file that is not there; of a missing file it can read nothing.
        let refusal = || Err(failure!(ENOENT, "open").explained(FileNote::Readonly));
        let reads_all = reads_everything(worker) && worker.engine.def.targets.are_opened_by_run();
        let is_short = reads_all && set.files.iter().any(needs_layout);
        return if is_short || set.files.iter().any(is_missing) { refusal() } else { Ok(()) };
    }
    let how = LayoutNeed::of(worker);
    held::check_creation(worker, set, how)?;
    held::check_rooms(worker, set, how)
}

/// The job ends neither by an option nor by chance before it has read each of its blocks.
fn reads_everything(worker: &WorkerPlan) -> bool {
    let JobSpec { pattern, extent, limits, errors, .. } = &*worker.spec;
    let draws_all = !pattern.random || !pattern.norandommap && pattern.distribution == RandomDistribution::Uniform;
    let is_ended = extent.number_ios > 0 || extent.io_size.is_some() || limits.runtime_us > 0;
    pattern.mix == DirectionMix::Read && draws_all && !is_ended && *errors == ErrorSpec::default()
}

/// Lets the engine make the targets that it owns. If the engine refuses its options, the worker meets the same error
/// later and reports it.
fn make_own(worker: &WorkerPlan, set: &FileSet) -> Result<(), Failure> {
    let prepared = worker.engine.io().map(|prepare| prepare(&worker.engine_options()));
    let Some(Ok(prepared)) = prepared else { return Ok(()) };
    set.files.iter().try_for_each(|file| {
        let made = prepared.make_target(&file.path);
        made.map_err(|error| {
            failure!(error.errno(), "setup").explained(engine_notes::refused(Some(&worker.spec.name), &error))
        })
    })
}

/// Checks the files of an earlier run, which stay as they are. A file may be shorter than planned if that run ended
/// early; reads beyond its end then find missing blocks.
fn check_earlier_run(set: &FileSet) -> Result<(), Failure> {
    let Some(file) = set.files.first().filter(|_| set.files.iter().all(|file| file.file_bytes == 0)) else {
        return Ok(());
    };
    let note = FileNote::NoEarlierRun { file: file.name.clone(), wanted_bytes: end_of(file) };
    Err(failure!(ENOENT, "file setup").explained(note))
}

/// Cuts the ranges of files on a device that was full before they were complete: reads end where the files end.
fn forget_what_did_not_fit(set: &mut FileSet) {
    let before: u64 = set.files.iter().fold(0, |sum, file| sum.saturating_add(file.length_bytes));
    for file in set.files.iter_mut().filter(|file| file.kind == FileKind::Regular) {
        file.length_bytes = file.length_bytes.min(file.file_bytes.saturating_sub(file.start_bytes));
    }
    let after: u64 = set.files.iter().map(|file| file.length_bytes).sum();
    let missing = before.saturating_sub(after);
    set.size_bytes = set.size_bytes.saturating_sub(missing);
    set.pass_bytes = set.pass_bytes.saturating_sub(missing);
    set.io_bytes = set.io_bytes.saturating_sub(missing);
}

pub(super) fn end_of(file: &FilePlan) -> u64 {
    file.start_bytes.saturating_add(file.length_bytes)
}

/// True for a regular file that is missing, or too short.
pub(crate) fn needs_layout(file: &FilePlan) -> bool {
    file.kind == FileKind::Regular && end_of(file) > file.file_bytes
}

/// A function for lines of `--debug`; each line is made only if its group is traced.
type Tell<'a> = dyn FnMut(TraceGroup, &dyn Fn() -> String) + 'a;

fn lay_out_file(
    worker: &WorkerPlan,
    plan: &mut FilePlan,
    how: LayoutNeed,
    contents: &mut LayoutContents,
    tell: &mut Tell<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    if stop() {
        return Err(Failure::stopped());
    }
    if how.replaces() {
        tell(TraceGroup::File, &|| format!("layout unlink {}", plan.name));
        match file::unlink(&plan.path) {
            Err(error) if error.errno() != Some(ENOENT) => return Err(failed(&error, "unlink")),
            _ => {}
        }
    }
    let request = OpenRequest {
        access: Access::Write,
        is_create: worker.spec.target.allow_file_create,
        is_truncate: how == LayoutNeed::Fill,
        mode: 0o644,
        ..OpenRequest::default()
    };
    tell(TraceGroup::File, &|| format!("open file {}, flags {:x}", plan.name, request.flag_bits()));
    let opened = request.open(&plan.path).map_err(|error| {
        if error.errno() == Some(ENOENT) && !worker.spec.target.allow_file_create {
            return failure!(ENOENT, "open").explained(FileNote::CreationDisallowed);
        }
        failed(&error, "open")
    })?;
    let result = fill_file(worker, plan, how, &opened, contents, tell, stop);
    if result.is_err() {
        // A failed layout leaves no incomplete file, and the data that a file held before.
        match how {
            LayoutNeed::Extend if plan.file_bytes > 0 => drop(file_space::truncate(&opened, plan.file_bytes)),
            LayoutNeed::Create | LayoutNeed::Fill | LayoutNeed::Extend => drop(file::unlink(&plan.path)),
            LayoutNeed::Append | LayoutNeed::Reserve => {}
        }
    }
    let old_bytes = plan.file_bytes;
    result?;
    if worker.spec.extent.fill_device {
        if how.writes() {
            // Data that did not fit cannot be read.
            plan.file_bytes = FileInfo::of_file(&opened).map_or(plan.file_bytes, |info| info.size_bytes);
        }
    } else {
        if worker.engine.def.targets.are_opened_by_run() {
            let grown = end_of(plan).saturating_sub(old_bytes);
            // This is only advice, so errors do not matter; the data is being written to the medium either way.
            tell(TraceGroup::Io, &|| format!("declare unneeded cache {}: {old_bytes}/{grown}", plan.name));
            let _ = file_cache::advise(&opened, old_bytes, grown, CacheAdvice::DontNeed);
        }
        plan.file_bytes = end_of(plan);
    }
    Ok(())
}

fn fill_file(
    worker: &WorkerPlan,
    plan: &FilePlan,
    how: LayoutNeed,
    opened: &OwnedFd,
    contents: &mut LayoutContents,
    tell: &mut Tell<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    if worker.spec.extent.fill_device && !how.writes() {
        return Ok(());
    }
    if !worker.spec.extent.fill_device {
        preallocate(worker, plan, opened, tell)?;
    }
    if !how.writes() {
        return Ok(());
    }
    if !worker.spec.extent.fill_device {
        file_space::truncate(opened, end_of(plan)).map_err(|errno| failure!(errno.raw_os_error(), "ftruncate"))?;
    }
    let from = if how == LayoutNeed::Extend { plan.file_bytes } else { 0 };
    write_from(worker, plan, from, opened, contents, stop)?;
    if worker.spec.layout.create_fsync {
        file_cache::sync(opened).map_err(|errno| failure!(errno.raw_os_error(), "fsync"))?;
    }
    Ok(())
}

fn preallocate(worker: &WorkerPlan, plan: &FilePlan, opened: &OwnedFd, tell: &mut Tell<'_>) -> Result<(), Failure> {
    let (bytes, name) = (end_of(plan), &plan.name);
    let (result, way) = match worker.spec.layout.fallocate {
        Fallocate::None => return Ok(()),
        Fallocate::Truncate => {
            return file_space::truncate(opened, bytes).map_err(|errno| failure!(errno.raw_os_error(), "ftruncate"));
        }
        Fallocate::Keep => {
            return file_space::preallocate(opened, Preallocation::KeepSize, 0, bytes)
                .map_err(|error| failed(&error, "fallocate"));
        }
        Fallocate::Native => (file_space::preallocate(opened, Preallocation::Native, 0, bytes), "native"),
        Fallocate::Posix => (file_space::preallocate(opened, Preallocation::Posix, 0, bytes), "posix"),
    };
    // Preallocation is an optimisation: on a file system without it the writes allocate.
    let outcome = if result.is_ok() { "was successful" } else { "failed" };
    tell(TraceGroup::File, &|| format!("{way} fallocate of file {name} size {bytes} {outcome}"));
    Ok(())
}

/// Writes the file once, from an offset on, in blocks of the job's largest write, with fio's system calls.
fn write_from(
    worker: &WorkerPlan,
    plan: &FilePlan,
    from: u64,
    opened: &OwnedFd,
    contents: &mut LayoutContents,
    stop: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    let range = worker.spec.pattern.block_size.0[1];
    let block = usize::try_from(range.max_bytes).unwrap_or(usize::MAX).clamp(1, 1 << 30);
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(block).map_err(|_| failure!(ENOMEM, "malloc"))?;
    buffer.resize(block, 0);
    if from > 0 {
        file_io::seek(opened, from).map_err(|errno| failure!(errno.raw_os_error(), "lseek"))?;
    }
    let mut left = end_of(plan).saturating_sub(from);
    while left > 0 {
        if stop() {
            return Err(Failure::stopped());
        }
        let n = block.min(usize::try_from(left).unwrap_or(usize::MAX));
        contents.fill(&mut buffer);
        match file_io::write_all(opened, &buffer[..n]) {
            Ok(()) => left -= n as u64,
            Err(errno) if errno.raw_os_error() == ENOSPC && worker.spec.extent.fill_device => break,
            Err(errno) if errno.raw_os_error() == ENOSPC => {
                return Err(failure!(ENOSPC, "write").explained(FileNote::NoSpace));
            }
            Err(errno) => return Err(failure!(errno.raw_os_error(), "write")),
        }
    }
    Ok(())
}

pub(super) fn failed(error: &ferrio_sys::Error, step: &'static str) -> Failure {
    let errno = errno_of(error);
    failure!(errno, step).explained(Note::system(During::Nothing, error))
}
