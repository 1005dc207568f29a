//! Oddities of sizes, names and first contents.
//!
//! Must not know: passes. Start reading anywhere.

use crate::plan::WorkerPlan;
use ferrio_spec::engines::Measures;
use ferrio_spec::{Compatibility, JobSpec, VerifyForm};

/// The offset that blocks may reach with an engine that has no files. With `filesize` it is the share of `size`, however
/// little of that `filesize` leaves; without `size` there is no limit. There is none either for engines that measure
/// openings, from the start of the file on: a file whose share of `size` is less than a block is opened too; and none for
/// connections and objects of a server, where the last block goes beyond a `size` that is no multiple of it. Otherwise, and native: the end of the
/// range. Shows in the last block of a range, and in the number of files that are made.
pub(crate) fn bytes_without_file(worker: &WorkerPlan, share: Option<u64>, start_bytes: u64, length_bytes: u64) -> u64 {
    let def = &worker.engine.def;
    let is_endless = def.targets.is_connection()
        || def.targets.are_objects()
        || (def.measures == Measures::Openings && start_bytes == 0);
    match worker.spec.extent.filesize {
        Some(_) if worker.compatibility.is_fio() => share.unwrap_or(u64::MAX),
        None if worker.compatibility.is_fio() && is_endless => u64::MAX,
        _ => start_bytes.saturating_add(length_bytes),
    }
}

/// A file that is shorter than a job needs is deleted before the job, and made anew, even if the job only reads; what it held is lost. Native: it
/// stays, and what is missing at its end is added. Shows in the contents of files.
pub(crate) fn replaces_short_files(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio()
}

/// The unit of drawn file sizes and of offsets in percent: the smallest block of all directions, including those that the
/// job does not use. Native: of those that it uses. Shows in sizes and offsets.
pub(crate) fn size_unit_bytes(worker: &WorkerPlan) -> u64 {
    let smallest = match worker.compatibility {
        Compatibility::Fio => worker.spec.pattern.block_size.0.iter().map(|range| range.min_bytes).min(),
        Compatibility::Native => worker.used_block_ranges().map(|range| range.min_bytes).min(),
    };
    smallest.unwrap_or(1).max(1)
}

/// `io_size` of at most 100 percent is a share of the sum of all files, even if `size` is less. Native: a share of the size. Shows in
/// the number of I/Os.
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

/// True if fio refuses an `io_size`: a percentage that is less than a block. Less than a block in bytes counts as one
/// block. Native: so does a percentage.
pub(crate) fn is_refused_io_size(worker: &WorkerPlan, io_bytes: u64, block_bytes: u64) -> bool {
    worker.compatibility.is_fio() && worker.spec.extent.io_share().is_some() && io_bytes < block_bytes
}

/// The pattern of a job that verifies nothing; its buffers hold that until they are filled again. Native: such a pattern
/// is not written. Shows in the data of writes.
pub(crate) fn unchecked_pattern(worker: &WorkerPlan) -> Option<&[u8]> {
    let content = &worker.spec.verify.as_ref()?.content;
    let is_written = worker.compatibility.is_fio() && content.method.def().form == VerifyForm::Nothing;
    Some(&content.pattern.as_ref().filter(|_| is_written)?.bytes)
}

/// The name of all clones but the first: that of the section, whatever `name` says. Native: that of the first. Shows in
/// reports.
pub(crate) fn name_of_clones(compatibility: Compatibility, job: &JobSpec) -> &str {
    if compatibility.is_fio() { &job.section } else { &job.name }
}
