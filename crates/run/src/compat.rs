//! What fio does and nobody would build unasked: roundings, limits that count in one case and not in the other.
//!
//! Each is a function of its own here, asked for while a job is planned or prepared, so that no loop carries one as an aside.
//! All of it as seen on fio 3.41; the comparisons with the peer in the tests end to end hold it.
//! Must not know: loops, files, engines' code. Start reading anywhere.

use crate::plan::WorkerPlan;
use ferrio_spec::{ExtentSpec, RandomDistribution, SizeSpec, VerifyForm};
use ferrio_units::DataDirection;
use ferrio_workload::Rounds;
use ferrio_workload::shape::Shape;

/// How far blocks may reach with an engine that has no files: as far as its share of `size` does, of whatever
/// part of it `filesize` leaves, and without `size` as far as they like.
pub(crate) fn bytes_without_file(extent: &ExtentSpec, share: Option<u64>, start_bytes: u64, length_bytes: u64) -> u64 {
    match extent.filesize {
        Some(_) => share.unwrap_or(u64::MAX),
        None => start_bytes.saturating_add(length_bytes),
    }
}

/// A file whose size is drawn must have room behind the offset, however small it turns out to be.
pub(crate) fn lacks_room((low_bytes, _): (u64, u64), start_bytes: u64) -> bool {
    start_bytes > low_bytes
}

/// A size that is drawn is rounded down to the smallest block of all directions, also of those that the job does not use.
pub(crate) fn drawn_size_bytes(drawn_bytes: u64, smallest_of_all_bytes: u64) -> u64 {
    drawn_bytes - drawn_bytes % smallest_of_all_bytes
}

/// An offset is rounded up if it, or the increment in it, is a percentage.
pub(crate) fn offset_of_share_bytes(offset_bytes: u64, align_bytes: u64) -> u64 {
    offset_bytes.checked_next_multiple_of(align_bytes).unwrap_or(offset_bytes)
}

/// `io_size` in percent is a share of all files, of which the size may be less.
pub(crate) fn io_bytes_of_share(share_of_files_bytes: u64, size_bytes: u64) -> u64 {
    share_of_files_bytes.min(size_bytes)
}

/// An `io_size` in bytes that is below a block is one block, a share is refused.
pub(crate) fn is_refused_io_size(extent: &ExtentSpec, io_bytes: u64, block_bytes: u64) -> bool {
    matches!(extent.io_size, Some(SizeSpec::Percent(_))) && io_bytes < block_bytes
}

/// Engines with a queue of their own end a pass when it has its bytes, the others when its files are done. An engine
/// without files completes at once at a depth of 1. With `verify_backlog` the files end it. What goes round its files to be read back
/// once ends a pass when it has its bytes, whatever the engine.
pub(crate) fn ends_pass_by_bytes(worker: &WorkerPlan, shape: Shape, queues: bool) -> bool {
    if shape.goes_round() {
        return true;
    }
    let has_backlog = worker.spec.verify.as_ref().is_some_and(|verify| verify.backlog.is_some());
    queues && !shape.goes_on_with_time && !has_backlog
}

/// Bytes that end a pass: a percentage as `io_size` is the size, and a pass of a job that writes at random without a map, or goes
/// round its files, goes on up to an `io_size` beyond the size.
pub(crate) fn pass_bytes(worker: &WorkerPlan, size_bytes: u64, io_bytes: u64, rounds: Rounds) -> u64 {
    let pattern = &worker.spec.pattern;
    // A pass of `sprandom` ends with its blocks, as one by a map does.
    let ends = pattern.sprandom.is_some() || !pattern.norandommap;
    let has_map = ends && pattern.distribution == RandomDistribution::Uniform;
    let is_percent = matches!(worker.spec.extent.io_size, Some(SizeSpec::Percent(_)));
    let own_bytes = if is_percent { size_bytes.min(io_bytes) } else { size_bytes };
    let goes_round = rounds != Rounds::None;
    let goes_on = if pattern.random { worker.streams_writes() && !has_map } else { goes_round };
    if goes_on { own_bytes.max(io_bytes) } else { own_bytes }
}

/// The pattern of a job that checks nothing: that is what its buffers hold until they are filled anew.
pub(crate) fn unchecked_pattern(worker: &WorkerPlan) -> Option<&[u8]> {
    let content = &worker.spec.verify.as_ref()?.content;
    let pattern = content.pattern.as_ref().filter(|_| content.method.def().form == VerifyForm::Nothing)?;
    Some(&pattern.bytes)
}

/// Openings count as reads of a job that reads, else as writes; of a job that only trims they are no samples.
pub(crate) fn opened_direction(plan: &WorkerPlan) -> Option<DataDirection> {
    let used = plan.used_directions();
    [DataDirection::Read, DataDirection::Write].into_iter().find(|direction| used[*direction])
}
