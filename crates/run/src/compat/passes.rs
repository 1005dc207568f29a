//! Oddities of the ends of passes and jobs.
//!
//! Must not know: sizes of files. Start reading anywhere.

use crate::plan::WorkerPlan;
use ferrio_spec::{Compatibility, DirectionMix, RandomDistribution};
use ferrio_workload::Rounds;
use ferrio_workload::shape::Shape;

/// True if a pass ends when all of its bytes were issued; false: when its files are done. Engines with a queue of their
/// own end it by bytes, except with `verify_backlog`; engines that complete within `queue` (also one without files at a
/// depth of 1) end it with the files. A job that goes through its files several times, to read them back once, always
/// ends it by bytes. Native: every engine ends it by bytes, except with `verify_backlog`. Shows in the I/Os of a pass
/// whose blocks do not fill its files, or fill them more than once.
pub(crate) fn ends_pass_by_bytes(worker: &WorkerPlan, shape: Shape, queues: bool) -> bool {
    if shape.goes_round() {
        return true;
    }
    let has_backlog = worker.spec.verify.as_ref().is_some_and(|verify| verify.backlog.is_some());
    let is_counted = queues || !worker.compatibility.is_fio();
    is_counted && !shape.goes_on_with_time && !has_backlog
}

/// Bytes that end a pass. With an `io_size` of at most 100 percent they are at most that share. A pass continues to an `io_size`
/// beyond the size if the job writes at random without a map, or goes through its files several times. Native: the size,
/// unless the job goes through its files several times. Shows in the number of passes.
pub(crate) fn pass_bytes(worker: &WorkerPlan, size_bytes: u64, io_bytes: u64, rounds: Rounds) -> u64 {
    let pattern = &worker.spec.pattern;
    let goes_round = rounds != Rounds::None;
    if !worker.compatibility.is_fio() {
        return if goes_round { size_bytes.max(io_bytes) } else { size_bytes };
    }
    // A pass of `sprandom` ends when each block was written, like a pass with a map.
    let ends = pattern.sprandom.is_some() || !pattern.norandommap;
    let has_map = ends && pattern.distribution == RandomDistribution::Uniform;
    let is_share = worker.spec.extent.io_share().is_some();
    let own_bytes = if is_share { size_bytes.min(io_bytes) } else { size_bytes };
    let goes_on = if pattern.random { worker.streams_writes() && !has_map } else { goes_round };
    if goes_on { own_bytes.max(io_bytes) } else { own_bytes }
}

/// Bytes that end a pass, trims and writes together: `pass_bytes`, except for `trimwrite`, which trims each block and then
/// writes it. There they are the sum of the pass and of all that the job is to write (`limit_bytes`), so that with `loops`
/// the files end the pass. Native: twice the pass. Shows in the number of passes.
pub(crate) fn pass_bytes_of_pairs(worker: &WorkerPlan, pass_bytes: u64, limit_bytes: u64) -> u64 {
    match (worker.spec.pattern.mix, worker.compatibility) {
        (DirectionMix::TrimWrite, Compatibility::Fio) => pass_bytes.saturating_add(limit_bytes),
        (DirectionMix::TrimWrite, Compatibility::Native) => pass_bytes.saturating_mul(2),
        _ => pass_bytes,
    }
}

/// Number of I/Os that count as one for `number_ios`: with `trimwrite`, a trim and the write that follows it. Native: each
/// counts. Shows in the number of I/Os.
pub(crate) fn ios_counted_as_one(worker: &WorkerPlan) -> u64 {
    let is_pair = worker.spec.pattern.mix == DirectionMix::TrimWrite && worker.compatibility.is_fio();
    if is_pair { 2 } else { 1 }
}

/// False if `number_ios` does not end the job: fio ends time-based jobs by time alone. Native: it ends every job. Shows in
/// the number of I/Os.
pub(crate) fn heeds_number_of_ios(worker: &WorkerPlan) -> bool {
    !(worker.spec.limits.time_based && worker.compatibility.is_fio())
}

/// True if another pass follows one that ended before `io_size` was done. With bytes it follows even if `io_size` is less
/// than the size; with a percentage of at most 100 only if the files have zones. Native: with a percentage too. Shows in the number of
/// passes.
pub(crate) fn wants_another_pass(worker: &WorkerPlan, has_zones: bool, is_beyond_pass: bool) -> bool {
    let extent = &worker.spec.extent;
    match (extent.io_share(), extent.io_size) {
        (Some(_), _) => has_zones || !worker.compatibility.is_fio(),
        (None, Some(_)) => true,
        (None, None) => is_beyond_pass,
    }
}

/// The least that another pass must have to do: the largest block of all directions, including those that the job does not
/// use. Native: of those that it uses. Shows in the last pass of `io_size`.
pub(crate) fn smallest_pass_bytes(worker: &WorkerPlan) -> u64 {
    match worker.compatibility {
        Compatibility::Fio => worker.spec.pattern.largest_block_bytes(),
        Compatibility::Native => worker.max_block_bytes(),
    }
}

/// True if the bytes that a job reads back to verify its writes count for `io_size`. Native: they do not. Shows in the
/// number of passes.
pub(crate) fn counts_read_back(worker: &WorkerPlan) -> bool {
    let writes = matches!(worker.spec.pattern.mix, DirectionMix::Write | DirectionMix::ReadWrite);
    worker.compatibility.is_fio() && worker.spec.verify.is_some() && writes
}

/// True if a file without any I/O is opened when its pass ends, unless a replayed trace closes it. Native: it is not
/// opened. Shows in system calls and traces.
pub(crate) fn opens_empty_file(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio() && worker.spec.replay.traces.is_empty()
}

/// True if all files are synced at the end of a pass, and opened for that if need be: `fsync_on_close` does so like
/// `end_fsync`, although closed files were synced already. Native: only `end_fsync` does. Shows in system calls and traces.
pub(crate) fn syncs_all_at_end(worker: &WorkerPlan) -> bool {
    let durability = &worker.spec.durability;
    durability.end_fsync || (durability.fsync_on_close && worker.compatibility.is_fio())
}

/// True if a read without a byte (past the end of the file) is done: that holds for engines that complete it later; with
/// others it is an error. Native: it is an error with every engine. Shows in counts and errors.
pub(crate) fn empty_reads_are_done(worker: &WorkerPlan) -> bool {
    !worker.engine.def.waits() && worker.compatibility.is_fio()
}
