//! How much of which files a job uses, and what it is made with.
//!
//! Must not know: passes. Start reading anywhere.

use crate::plan::WorkerPlan;
use ferrio_spec::{Compatibility, ExtentSpec, JobSpec, SizeSpec, VerifyForm};

/// How far blocks may reach with an engine that has no files: as far as its share of `size` does, of whatever
/// part of it `filesize` leaves, and without `size` as far as they like. Natively to the end of its range. Seen in the last block of a
/// range.
pub(crate) fn bytes_without_file(worker: &WorkerPlan, share: Option<u64>, start_bytes: u64, length_bytes: u64) -> u64 {
    match worker.spec.extent.filesize {
        Some(_) if worker.compatibility.is_fio() => share.unwrap_or(u64::MAX),
        _ => start_bytes.saturating_add(length_bytes),
    }
}

/// What drawn sizes of files and offsets in percent are multiples of: the smallest block of all directions, also of those that the
/// job does not use. Natively of those that it uses. Seen in sizes and offsets.
pub(crate) fn size_unit_bytes(worker: &WorkerPlan) -> u64 {
    let smallest = match worker.compatibility {
        Compatibility::Fio => worker.spec.pattern.block_size.0.iter().map(|range| range.min_bytes).min(),
        Compatibility::Native => worker.used_block_ranges().map(|range| range.min_bytes).min(),
    };
    smallest.unwrap_or(1).max(1)
}

/// `io_size` in percent is a share of all files, of which the size may be less. Natively a share of the size. Seen in how much is done.
pub(crate) fn io_bytes_of_share(
    worker: &WorkerPlan,
    share_of: impl Fn(u64) -> u64,
    files_bytes: u64,
    size_bytes: u64,
) -> u64 {
    match worker.compatibility {
        Compatibility::Fio => share_of(files_bytes).min(size_bytes),
        Compatibility::Native => share_of(size_bytes),
    }
}

/// An `io_size` in bytes that is below a block is one block, a share is refused. Natively neither is.
pub(crate) fn is_refused_io_size(worker: &WorkerPlan, io_bytes: u64, block_bytes: u64) -> bool {
    let ExtentSpec { io_size, .. } = &worker.spec.extent;
    worker.compatibility.is_fio() && matches!(io_size, Some(SizeSpec::Percent(_))) && io_bytes < block_bytes
}

/// The pattern of a job that checks nothing: that is what its buffers hold until they are filled anew. Natively a pattern that is
/// compared with nothing is not written. Seen in the data of the first writes.
pub(crate) fn unchecked_pattern(worker: &WorkerPlan) -> Option<&[u8]> {
    let content = &worker.spec.verify.as_ref()?.content;
    let is_written = worker.compatibility.is_fio() && content.method.def().form == VerifyForm::Nothing;
    Some(&content.pattern.as_ref().filter(|_| is_written)?.bytes)
}

/// What all clones but the first are called: as their section, whatever `name` says. Natively as the first. Seen in names of files and
/// reports.
pub(crate) fn name_of_clones(compatibility: Compatibility, job: &JobSpec) -> &str {
    if compatibility.is_fio() { &job.section } else { &job.name }
}
