//! Oddities of fio that users can see: roundings, and limits that count only in some cases.
//!
//! Each is a function here, called while a job is planned or prepared, so that no loop has to mention one. All were
//! seen on fio 3.41; the end-to-end tests compare them with the peer.
//! Must not know: loops, files, engines' code. Start reading anywhere.

use crate::plan::WorkerPlan;
use ferrio_spec::{ExtentSpec, RandomDistribution, SizeSpec, VerifyForm};
use ferrio_units::DataDirection;
use ferrio_workload::Rounds;
use ferrio_workload::shape::Shape;

/// The offset that blocks may reach with an engine that has no files. It is the share of `size`, however little of that
/// `filesize` leaves; without `size` there is no limit.
pub(crate) fn bytes_without_file(extent: &ExtentSpec, share: Option<u64>, start_bytes: u64, length_bytes: u64) -> u64 {
    match extent.filesize {
        Some(_) => share.unwrap_or(u64::MAX),
        None => start_bytes.saturating_add(length_bytes),
    }
}

/// True if a file whose size is drawn has no room behind the offset when the smallest size is drawn; fio refuses such a
/// job.
pub(crate) fn lacks_room((low_bytes, _): (u64, u64), start_bytes: u64) -> bool {
    start_bytes > low_bytes
}

/// A drawn size is rounded down to the smallest block of all directions, including those that the job does not use.
pub(crate) fn drawn_size_bytes(drawn_bytes: u64, smallest_of_all_bytes: u64) -> u64 {
    drawn_bytes - drawn_bytes % smallest_of_all_bytes
}

/// An offset is rounded up if it, or its increment, is a percentage.
pub(crate) fn offset_of_share_bytes(offset_bytes: u64, align_bytes: u64) -> u64 {
    offset_bytes.checked_next_multiple_of(align_bytes).unwrap_or(offset_bytes)
}

/// `io_size` in percent is a share of the sum of all files, even if `size` is less.
pub(crate) fn io_bytes_of_share(share_of_files_bytes: u64, size_bytes: u64) -> u64 {
    share_of_files_bytes.min(size_bytes)
}

/// True if fio refuses an `io_size`: a percentage that is less than a block. Less than a block in bytes counts as one
/// block.
pub(crate) fn is_refused_io_size(extent: &ExtentSpec, io_bytes: u64, block_bytes: u64) -> bool {
    matches!(extent.io_size, Some(SizeSpec::Percent(_))) && io_bytes < block_bytes
}

/// True if a pass ends when all of its bytes were issued; false: when its files are done. Engines with a queue of their
/// own end it by bytes, except with `verify_backlog`; engines that complete within `queue` (also one without files at a
/// depth of 1) end it with the files. A job that goes through its files several times, to read them back once, always
/// ends it by bytes.
pub(crate) fn ends_pass_by_bytes(worker: &WorkerPlan, shape: Shape, queues: bool) -> bool {
    if shape.goes_round() {
        return true;
    }
    let has_backlog = worker.spec.verify.as_ref().is_some_and(|verify| verify.backlog.is_some());
    queues && !shape.goes_on_with_time && !has_backlog
}

/// Bytes that end a pass. With an `io_size` in percent they are at most that share. A pass continues to an `io_size`
/// beyond the size if the job writes at random without a map, or goes through its files several times.
pub(crate) fn pass_bytes(worker: &WorkerPlan, size_bytes: u64, io_bytes: u64, rounds: Rounds) -> u64 {
    let pattern = &worker.spec.pattern;
    // A pass of `sprandom` ends when each block was written, like a pass with a map.
    let ends = pattern.sprandom.is_some() || !pattern.norandommap;
    let has_map = ends && pattern.distribution == RandomDistribution::Uniform;
    let is_percent = matches!(worker.spec.extent.io_size, Some(SizeSpec::Percent(_)));
    let own_bytes = if is_percent { size_bytes.min(io_bytes) } else { size_bytes };
    let goes_round = rounds != Rounds::None;
    let goes_on = if pattern.random { worker.streams_writes() && !has_map } else { goes_round };
    if goes_on { own_bytes.max(io_bytes) } else { own_bytes }
}

/// The pattern of a job that verifies nothing; its buffers hold that until they are filled again.
pub(crate) fn unchecked_pattern(worker: &WorkerPlan) -> Option<&[u8]> {
    let content = &worker.spec.verify.as_ref()?.content;
    let pattern = content.pattern.as_ref().filter(|_| content.method.def().form == VerifyForm::Nothing)?;
    Some(&pattern.bytes)
}

/// The direction under which the opening of a file counts: reads if the job reads, else writes. For a job that only
/// trims, openings are no samples.
pub(crate) fn opened_direction(plan: &WorkerPlan) -> Option<DataDirection> {
    let used = plan.used_directions();
    [DataDirection::Read, DataDirection::Write].into_iter().find(|direction| used[*direction])
}
