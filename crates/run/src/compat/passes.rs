//! When a pass and a job end, and what is done then.
//!
//! Must not know: sizes of files. Start reading anywhere.

use crate::plan::WorkerPlan;
use ferrio_spec::{Compatibility, DirectionMix, RandomDistribution, SizeSpec};
use ferrio_units::Direction;
use ferrio_workload::Rounds;
use ferrio_workload::shape::Shape;

/// Engines with a queue of their own end a pass when it has its bytes, the others when its files are done. An engine
/// without files completes at once at a depth of 1. With `verify_backlog` the files end it. What goes round its files to be read back
/// once ends a pass when it has its bytes, whatever the engine; natively every job does. Seen in the I/Os of a pass whose blocks do
/// not fill its files, or fill them more than once.
pub(crate) fn ends_pass_by_bytes(worker: &WorkerPlan, shape: Shape, queues: bool) -> bool {
    if shape.goes_round() {
        return true;
    }
    let has_backlog = worker.spec.verify.as_ref().is_some_and(|verify| verify.backlog.is_some());
    let is_counted = queues || !worker.compatibility.is_fio();
    is_counted && !shape.goes_on_with_time && !has_backlog
}

/// Bytes that end a pass: a percentage as `io_size` is the size, and a pass of a job that writes at random without a map, or goes
/// round its files, goes on up to an `io_size` beyond the size. Natively only what goes round its files does. Seen in the number of
/// passes.
pub(crate) fn pass_bytes(worker: &WorkerPlan, size_bytes: u64, io_bytes: u64, rounds: Rounds) -> u64 {
    let pattern = &worker.spec.pattern;
    let goes_round = rounds != Rounds::None;
    if !worker.compatibility.is_fio() {
        return if goes_round { size_bytes.max(io_bytes) } else { size_bytes };
    }
    // A pass of `sprandom` ends with its blocks, as one by a map does.
    let ends = pattern.sprandom.is_some() || !pattern.norandommap;
    let has_map = ends && pattern.distribution == RandomDistribution::Uniform;
    let is_percent = matches!(worker.spec.extent.io_size, Some(SizeSpec::Percent(_)));
    let own_bytes = if is_percent { size_bytes.min(io_bytes) } else { size_bytes };
    let goes_on = if pattern.random { worker.streams_writes() && !has_map } else { goes_round };
    if goes_on { own_bytes.max(io_bytes) } else { own_bytes }
}

/// `number_ios` does not end a job that only time is to end. Natively it does. Seen in how much is done.
pub(crate) fn heeds_number_of_ios(worker: &WorkerPlan) -> bool {
    !(worker.spec.limits.time_based && worker.compatibility.is_fio())
}

/// A pass that ends before as many bytes as `io_size` asks for is followed by another, whether they are more than the size or not,
/// unless a percentage was asked for; that has another pass with zones only. Natively a percentage has one too. Seen in the number of
/// passes.
pub(crate) fn wants_another_pass(worker: &WorkerPlan, has_zones: bool, is_beyond_pass: bool) -> bool {
    match worker.spec.extent.io_size {
        Some(SizeSpec::Bytes(_)) => true,
        Some(SizeSpec::Percent(_)) => has_zones || !worker.compatibility.is_fio(),
        None => is_beyond_pass,
    }
}

/// No pass begins for less than the largest block of any direction, also of those that the job does not use. Natively of those that it
/// uses. Seen in the last pass of `io_size`.
pub(crate) fn smallest_pass_bytes(worker: &WorkerPlan) -> u64 {
    match worker.compatibility {
        Compatibility::Fio => worker.spec.pattern.largest_block_bytes(),
        Compatibility::Native => worker.max_block_bytes(),
    }
}

/// What a job reads back of its own writes counts for `io_size`. Natively only what it was asked to do does. Seen in the number of
/// passes.
pub(crate) fn counts_read_back(worker: &WorkerPlan) -> bool {
    let writes = matches!(worker.spec.pattern.mix, DirectionMix::Write | DirectionMix::ReadWrite);
    worker.compatibility.is_fio() && worker.spec.verify.is_some() && writes
}

/// A file that gave no I/O at all is opened and closed too, unless a trace that is replayed closes it. Natively it is not. Seen in
/// system calls and traces.
pub(crate) fn opens_empty_file(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio() && worker.spec.replay.traces.is_empty()
}

/// All files are synced at the end of a pass where `fsync_on_close` is given, also those that were synced when they were closed, which
/// are opened for it. Natively `end_fsync` alone does so. Seen in system calls and traces.
pub(crate) fn syncs_all_at_end(worker: &WorkerPlan) -> bool {
    let durability = &worker.spec.durability;
    durability.end_fsync || (durability.fsync_on_close && worker.compatibility.is_fio())
}

/// A read that finds nothing is done, without a byte, with an engine that completes it later, and an error with the others. Natively
/// it is an error. What is verified has to be there in any case. Seen in counts and errors of jobs that read past the end of a file.
pub(crate) fn is_done_without_a_byte(worker: &WorkerPlan, direction: Direction) -> bool {
    direction == Direction::Read && !worker.engine.def.waits() && worker.compatibility.is_fio()
}
