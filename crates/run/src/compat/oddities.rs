//! Oddities of figures, messages and traces, of locks, trims and settings of the machine.
//!
//! Must not know: passes. Start reading anywhere.

use crate::plan::WorkerPlan;
use ferrio_spec::DirectionMix;
use ferrio_spec::engines::Completes;
use ferrio_units::DataDirection;

/// The direction under which the opening of a file counts: reads if the job reads, else writes. For a job that only
/// trims, openings are no samples. Native: they are samples of trims. Shows in latencies.
pub(crate) fn opened_direction(worker: &WorkerPlan) -> Option<DataDirection> {
    let used = worker.used_directions();
    let counts = |direction: &DataDirection| *direction != DataDirection::Trim || !worker.compatibility.is_fio();
    DataDirection::ALL.into_iter().filter(counts).find(|direction| used[*direction])
}

/// True if turns that move no data (`cpuio`) add time to their direction. fio: they do not, so that they have a count but no
/// rate. Native: they do. Shows in `runtime` and `iops`.
pub(crate) fn times_idle_turns(worker: &WorkerPlan) -> bool {
    !worker.compatibility.is_fio()
}

/// True if the reads and writes that `verify_only` does not repeat count as I/Os that took no time. Native: only what is
/// read back counts. Shows in counts and latencies.
pub(crate) fn counts_unrepeated(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio()
}

/// True if `block_error_percentiles` keeps the states of blocks. fio: only if the job trims; otherwise there are none. Native: in
/// every job. Shows in the report.
pub(crate) fn keeps_block_states(worker: &WorkerPlan) -> bool {
    worker.used_directions()[DataDirection::Trim] || !worker.compatibility.is_fio()
}

/// True if the devices under the files of a replayed trace have no figures, unless the job names the files itself: they
/// are unknown when the figures begin. Native: the trace is read for its files first. Shows in the report.
pub(crate) fn lacks_disks_of_trace(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio()
}

/// True if `disable_lat` or `gtod_reduce` switches `max_latency` off. Native: the limit holds anyway. Shows in which jobs
/// fail.
pub(crate) fn silences_latency_limit(worker: &WorkerPlan) -> bool {
    let reporting = &worker.spec.reporting;
    worker.compatibility.is_fio() && (reporting.disable_lat || reporting.gtod_reduce)
}

/// True if the samples of bandwidth and I/O rate by windows of time contain what is read back to verify writes. fio: they do
/// not, so that a job that only writes has none of reads. Native: they do. Shows in the lines `bw` and `iops`, and in averaged logs.
pub(crate) fn samples_read_back(worker: &WorkerPlan) -> bool {
    !worker.compatibility.is_fio()
}

/// The largest depth that the search for a `latency_target` tries: `iodepth`, even if the engine does one I/O at a time, so
/// that all depths are alike. Native: the depth of the engine. Shows in the duration of the search and the depth found.
pub(crate) fn searched_depths(worker: &WorkerPlan) -> u32 {
    if worker.compatibility.is_fio() { worker.spec.queue.iodepth } else { worker.queue().iodepth }
}

/// True if a trace gives the next sync the offset of an I/O that did not fit. Native: it has the offset of the last I/O.
pub(crate) fn traces_missed_place(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio()
}

/// True if a trace shows the syncs of `fsync_on_close`. fio: it does not. Native: it does.
pub(crate) fn traces_closing_sync(worker: &WorkerPlan) -> bool {
    !worker.compatibility.is_fio()
}

/// True if a time-based job gets the message that its writes are never read back. fio does not print it for a mix of
/// reads and writes. Native: printed for a mix, too.
pub(crate) fn tells_unread_mix(worker: &WorkerPlan) -> bool {
    worker.spec.pattern.mix != DirectionMix::ReadWrite || !worker.compatibility.is_fio()
}

/// True if a job with a depth gets the note that its synchronous engine has none. fio flags engines for LUNs of a server as synchronous,
/// which have their depth all the same. Native: the note is only printed where it is true. Shows in the notes before a run.
pub(crate) fn tells_capped_depth(worker: &WorkerPlan) -> bool {
    let def = worker.engine.def;
    let has_depth = def.completes == Completes::Later && def.targets.are_remote();
    def.waits() && (!has_depth || worker.compatibility.is_fio())
}

/// True if a job that burns CPU time counts as a job with I/O, so that it does not end with the last of these, and other
/// such jobs wait for it: that holds for processes. Native: it never counts, and ends. Shows in the duration of a run.
pub(crate) fn counts_cpu_job_as_io(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio() && !worker.spec.worker.thread
}

/// True if the lock of a file (`lockfile`) is released before the I/O is done, with engines that complete it later: the
/// lock covers only the call that queues the I/O. Native: the lock is held until the I/O is done, so that a job with locks
/// has one I/O in flight. Shows in the overlap of I/Os.
pub(crate) fn unlocks_before_done(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio()
}

/// True if the scheduler that `ioscheduler` sets stays after the run. Native: the run sets the one from before again.
/// Shows in the settings of the machine.
pub(crate) fn leaves_scheduler(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio()
}

/// True if trims of regular files fail (ENOTTY), as the call for block devices knows none. Native: the file system gets the blocks of the
/// range back (`FALLOC_FL_PUNCH_HOLE`), which then read as zeroes. Shows in errors, and in the space of files.
pub(crate) fn refuses_trims_of_files(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio()
}
