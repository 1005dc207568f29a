//! Sizes and ranges of the files of a worker.
//!
//! Must not know: how files are made. Start reading at [`file_set`].
//! Facts: reference "File set-up", steps 1 to 6.

use super::naming::FoundFile;
use super::{FilePlan, FileSet};
use crate::compat;
use crate::engine_notes;
use crate::error::{Failure, errno_of, failure};
use crate::plan::WorkerPlan;
use ferrio_engine::{Cancellation, EngineError};
use ferrio_spec::engines::Layout;
use ferrio_spec::{BlockShare, ExtentSpec, PlacementKind, SizeSpec};
use ferrio_stats::Note;
use ferrio_stats::note::{During, EngineNote, FileNote, RunNote};
use ferrio_sys::block_device;
use ferrio_sys::errno::{EINVAL, EISDIR, ETIMEDOUT};
use ferrio_sys::file::{FileInfo, FileKind, OpenRequest};
use ferrio_units::jhash;
use ferrio_units::random::{Generator, SeedIndex};
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

/// Length of a file that is filled until the device is full: larger than any device, but far from overflow.
const ENDLESS_BYTES: u64 = 1 << 60;

/// How long the preparation of a job may wait for something outside.
#[derive(Clone, Copy)]
pub(crate) struct SetupWait<'a> {
    /// True if the run is told to end.
    pub(crate) stop: &'a dyn Fn() -> bool,
    /// Time for which servers were asked in vain before: together, they hold jobs no longer than a runtime.
    pub(crate) in_vain: &'a Cell<Duration>,
}

/// Finds the current sizes, then the range of each file, then the size of the job.
pub(crate) fn file_set(worker: &WorkerPlan, targets: &[FoundFile], wait: SetupWait<'_>) -> Result<FileSet, Failure> {
    let extent = &worker.spec.extent;
    check_placement(worker, targets)?;
    let current: Vec<Option<u64>> = if worker.engine.def.targets.are_sized_by_engine() {
        told_bytes(worker, targets, wait)?
    } else {
        targets.iter().map(|target| current_bytes(worker, target)).collect::<Result<_, _>>()?
    };
    let is_sized = extent.size.is_some() || extent.filesize.is_some() || extent.fill_device;
    if !is_sized && current.iter().all(|bytes| bytes.unwrap_or(0) == 0) {
        let note = FileNote::SizeIsMissing { job: worker.spec.name.clone() };
        return Err(failure!(EINVAL, "total_file_size").explained(note));
    }
    let shares = shares(worker, targets.len() as u64);
    let mut stream = Generator::from_table(worker.spec.pattern.generator_kind(), &worker.seeds, SeedIndex::FileSize);
    let ranges = targets.iter().zip(current).enumerate().map(|(index, (target, current_bytes))| {
        file_range(worker, target, current_bytes, shares.get(index).copied(), &mut stream)
    });
    let files: Vec<FilePlan> = ranges.collect::<Result<_, _>>()?;
    total(worker, files)
}

/// Only commands to a device carry the identifiers of flexible data placement.
fn check_placement(worker: &WorkerPlan, targets: &[FoundFile]) -> Result<(), Failure> {
    let is_wanted = worker.spec.target.placement.kind == PlacementKind::Fdp;
    if !is_wanted || worker.engine.def.targets.are_passthrough() {
        return Ok(());
    }
    let file = targets.first().map(|target| target.name.clone()).unwrap_or_default();
    let note = EngineNote::NoPlacement { engine: worker.engine.def.name.into(), file, errno: EINVAL };
    Err(failure!(EINVAL, "setup_files").explained(Note::Engine { job: None, note }))
}

/// The current size; `None` if the target has none (character devices, pipes, engines without files).
fn current_bytes(worker: &WorkerPlan, target: &FoundFile) -> Result<Option<u64>, Failure> {
    if !worker.engine.def.targets.are_files() {
        return Ok(None);
    }
    match target.kind {
        _ if !target.exists => Ok(Some(0)),
        FileKind::Regular => {
            let info = FileInfo::of_path(&target.path).map_err(|error| system_error(&error))?;
            Ok(Some(info.size_bytes))
        }
        FileKind::Block => device_bytes(&target.path).map(Some),
        // A directory can be looked up; if it cannot be deleted, the engine reports that.
        FileKind::Directory if !worker.engine.def.targets.are_opened_by_run() => {
            FileInfo::of_path(&target.path).map(|info| Some(info.size_bytes)).map_err(|error| system_error(&error))
        }
        FileKind::Directory => {
            Err(failure!(EISDIR, "open").explained(FileNote::IsDirectory { path: target.path.display().to_string() }))
        }
        _ => Ok(None),
    }
}

/// The sizes of targets that the engine knows, or asks for.
fn told_bytes(
    worker: &WorkerPlan,
    targets: &[FoundFile],
    SetupWait { stop, in_vain }: SetupWait<'_>,
) -> Result<Vec<Option<u64>>, Failure> {
    let failed = |error: EngineError| {
        failure!(error.errno(), "setup").explained(engine_notes::refused(Some(&worker.spec.name), &error))
    };
    let unfit = |name: &str, error: EngineError| match error {
        EngineError::Unfit { step, .. } => {
            failure!(error.errno(), step).explained(engine_notes::refused_target(name, &error))
        }
        error => failed(error),
    };
    let Some(prepare) = worker.engine.io() else { return Ok(vec![None; targets.len()]) };
    let prepared = prepare(&worker.engine_options()).map_err(failed)?;
    let limit = Duration::from_micros(worker.spec.limits.runtime_us);
    let of_target = |target: &FoundFile| {
        // Of each target: a server that answers may be asked for many.
        let start = Instant::now();
        let is_over = || stop() || !limit.is_zero() && in_vain.get() + start.elapsed() >= limit;
        let found = prepared.target_bytes(&target.path, Cancellation::new(&is_over));
        let found = found.map_err(|error| unfit(&target.name, error))?;
        found.map(Some).ok_or_else(|| {
            if stop() {
                return Failure::stopped();
            }
            in_vain.set(in_vain.get() + start.elapsed());
            let note = RunNote::NoConnection { job: worker.spec.name.clone() };
            failure!(ETIMEDOUT, "connect").explained(note)
        })
    };
    targets.iter().map(of_target).collect()
}

fn device_bytes(path: &Path) -> Result<u64, Failure> {
    let device = OpenRequest::default().open(path).map_err(|error| system_error(&error))?;
    block_device::size_bytes(&device).map_err(|error| system_error(&error))
}

fn system_error(error: &ferrio_sys::Error) -> Failure {
    failure!(errno_of(error), "get_file_size").explained(Note::system(During::Nothing, error))
}

/// `size` divided among the files: equal shares, and whole blocks of the remainder to the first.
fn shares(worker: &WorkerPlan, n_files: u64) -> Vec<u64> {
    let Some(SizeSpec::Bytes(size)) = worker.spec.extent.size else { return Vec::new() };
    let (share, mut rest) = (size / n_files.max(1), size % n_files.max(1));
    let block = smallest_block(worker);
    (0..n_files)
        .map(|_| {
            let extra = if rest >= block { block } else { 0 };
            rest -= extra;
            share + extra
        })
        .collect()
}

/// Smallest block of the directions of the job.
fn smallest_block(worker: &WorkerPlan) -> u64 {
    worker.used_block_ranges().map(|range| range.min_bytes).min().unwrap_or(1).max(1)
}

fn file_range(
    worker: &WorkerPlan,
    target: &FoundFile,
    current_bytes: Option<u64>,
    share: Option<u64>,
    stream: &mut Generator,
) -> Result<FilePlan, Failure> {
    let extent = &worker.spec.extent;
    let is_fixed = target.kind == FileKind::Block || worker.engine.def.targets.are_sized_by_engine();
    let known_bytes = current_bytes.or(share);
    let wanted = match extent.filesize {
        Some(_) if !extent.filesize_split.is_empty() => Some(size_by_name(&extent.filesize_split, &target.name)),
        Some((low, high)) => Some(sized_file(worker, known_bytes, low, high, stream)),
        None => share,
    };
    let mut start_bytes = offset(worker, extent, percent_base(extent, current_bytes, share));
    check_offset_of_sized(worker, known_bytes, start_bytes)?;
    let cannot_grow = worker.engine.def.layout == Layout::Always;
    let is_sized = worker.engine.def.targets.are_sized_by_engine();
    if extent.file_append && (target.kind == FileKind::Regular || cannot_grow && is_sized) {
        if cannot_grow {
            let note = FileNote::CannotAppend { engine: worker.engine.def.name.to_owned() };
            return Err(failure!(EINVAL, "setup_files").explained(note));
        }
        start_bytes += current_bytes.unwrap_or(0);
    }
    let length_bytes = match wanted {
        Some(bytes) if is_fixed => bytes.min(known_end(current_bytes).saturating_sub(start_bytes)),
        Some(bytes) if extent.filesize.is_some() => part_of_file(worker, extent, Some(bytes), start_bytes),
        Some(bytes) => bytes,
        None if extent.fill_device && !is_fixed => ENDLESS_BYTES,
        None => part_of_file(worker, extent, current_bytes, start_bytes),
    };
    let may_be_empty = extent.whole_files && wanted == Some(0);
    if length_bytes == 0
        && !may_be_empty
        && current_bytes.is_some_and(|bytes| start_bytes >= bytes)
        && (worker.engine.def.targets.are_files() || is_fixed)
    {
        return Err(no_valid_offset(worker));
    }
    let file_bytes =
        current_bytes.unwrap_or_else(|| compat::bytes_without_file(worker, share, start_bytes, length_bytes));
    let (path, name) = (target.path.clone(), target.name.clone());
    Ok(FilePlan { path, name, kind: target.kind, start_bytes, length_bytes, file_bytes })
}

fn no_valid_offset(worker: &WorkerPlan) -> Failure {
    failure!(EINVAL, "total_file_size").explained(FileNote::NoValidOffset { job: worker.spec.name.clone() })
}

fn check_offset_of_sized(worker: &WorkerPlan, known_bytes: Option<u64>, start_bytes: u64) -> Result<(), Failure> {
    match worker.spec.extent.filesize {
        // There must be room after the offset, even if the file gets the smallest size.
        Some(bounds) if !is_within(known_bytes, bounds) && start_bytes > bounds.0 => Err(no_valid_offset(worker)),
        _ => Ok(()),
    }
}

/// The size to which `offset=N%` refers: the current size of the file (0 if it does not exist), or, for an engine
/// without files, its share of `size`.
fn percent_base(extent: &ExtentSpec, current_bytes: Option<u64>, share: Option<u64>) -> u64 {
    current_bytes.or(share).or(extent.filesize.map(|(low, _)| low)).unwrap_or(0)
}

/// End of a device; `u64::MAX` if its size is unknown.
fn known_end(current_bytes: Option<u64>) -> u64 {
    current_bytes.unwrap_or(u64::MAX)
}

/// Size of a file by `filesize`. The current size (for an engine without files: the share of `size`) stays if it lies
/// within the bounds; otherwise the result is the bound, or a random size between the two.
fn sized_file(worker: &WorkerPlan, current_bytes: Option<u64>, low: u64, high: u64, stream: &mut Generator) -> u64 {
    if let Some(bytes) = current_bytes.filter(|_| is_within(current_bytes, (low, high))) {
        return bytes;
    }
    if low == high {
        return low;
    }
    let drawn_bytes = stream.between(low, high);
    drawn_bytes - drawn_bytes % compat::size_unit_bytes(worker)
}

/// Size of a file by `filesize_split`: the share into which its name falls.
fn size_by_name(shares: &[BlockShare], name: &str) -> u64 {
    let drawn = (u64::from(jhash(name.as_bytes())) * 100) >> 32;
    let mut sum = 0;
    let found = shares.iter().find(|share| {
        sum += u64::from(share.percent);
        sum > drawn
    });
    // Rounding may leave less than 100 percent.
    found.or(shares.last()).map_or(0, |share| share.block_bytes)
}

/// True if the current size lies within the bounds of `filesize`.
fn is_within(current_bytes: Option<u64>, (low, high): (u64, u64)) -> bool {
    current_bytes.is_some_and(|bytes| bytes >= low.max(1) && bytes <= high)
}

/// Size of the range if no size in bytes is given: the rest behind the offset, or a percentage of the file, up to its
/// end.
fn part_of_file(worker: &WorkerPlan, extent: &ExtentSpec, current_bytes: Option<u64>, start_bytes: u64) -> u64 {
    let file_bytes = current_bytes.unwrap_or(0);
    let room = file_bytes.saturating_sub(start_bytes);
    match extent.size {
        Some(share @ SizeSpec::Percent(..100)) => {
            let part = share.bytes_of(file_bytes).min(room);
            part - part % smallest_block(worker)
        }
        _ => room,
    }
}

/// Start of the range: `offset` plus the increment of the clone.
fn offset(worker: &WorkerPlan, extent: &ExtentSpec, file_bytes: u64) -> u64 {
    let increment_bytes = extent.offset_increment.bytes_of(file_bytes).saturating_mul(u64::from(worker.clone_index));
    let offset_bytes = extent.offset.bytes_of(file_bytes).saturating_add(increment_bytes);
    let is_share = |size: &SizeSpec| matches!(size, SizeSpec::Percent(1..));
    if !is_share(&extent.offset) && !is_share(&extent.offset_increment) {
        return offset_bytes;
    }
    let align_bytes = if extent.offset_align > 0 { extent.offset_align } else { compat::size_unit_bytes(worker) };
    offset_bytes.checked_next_multiple_of(align_bytes).unwrap_or(offset_bytes)
}

/// Size of the job, and the checks against the block size.
fn total(worker: &WorkerPlan, files: Vec<FilePlan>) -> Result<FileSet, Failure> {
    let extent = &worker.spec.extent;
    let sum = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.length_bytes));
    let size_bytes = match extent.size {
        Some(SizeSpec::Bytes(size)) if extent.filesize.is_some() => size.min(sum),
        _ => sum,
    };
    let block = smallest_block(worker);
    if let Some(SizeSpec::Bytes(size)) = extent.size
        && size < block
    {
        let note = FileNote::SizeTooSmall { size_bytes: size, block_bytes: block };
        return Err(failure!(EINVAL, "setup_files").explained(note));
    }
    let pass_bytes = pass_bytes(worker, &files, size_bytes, sum);
    let io_bytes = match (extent.io_share(), extent.io_size) {
        (Some(share), _) => compat::io_bytes_of_share(worker, |bytes| share.bytes_of(bytes), sum, size_bytes),
        (None, Some(io_size)) => io_size.bytes_of(size_bytes),
        (None, None) => pass_bytes,
    };
    if size_bytes < block || compat::is_refused_io_size(worker, io_bytes, block) {
        return Err(failure!(EINVAL, "setup_files").explained(FileNote::RangeTooSmall));
    }
    Ok(FileSet { files, size_bytes, pass_bytes, io_bytes, ..FileSet::default() })
}

/// Bytes of a pass over these files. `sum_bytes` is the sum of their ranges.
fn pass_bytes(worker: &WorkerPlan, files: &[FilePlan], size_bytes: u64, sum_bytes: u64) -> u64 {
    let Some(sprandom) = &worker.spec.pattern.sprandom else { return size_bytes };
    let of_range = |range_bytes| sprandom.pass_bytes(range_bytes, worker.write_block_bytes());
    if size_bytes < sum_bytes {
        // `size` ends the pass before its files do.
        return of_range(size_bytes);
    }
    files.iter().fold(0, |sum, file| sum.saturating_add(of_range(file.length_bytes)))
}
