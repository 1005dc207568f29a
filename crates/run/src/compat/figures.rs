//! What is measured, told and traced of a job.
//!
//! Must not know: passes. Start reading anywhere.

use crate::plan::WorkerPlan;
use ferrio_spec::DirectionMix;
use ferrio_units::DataDirection;

/// Openings count as reads of a job that reads, else as writes; of a job that only trims they are no samples. Natively they count as
/// the first direction of the job, whichever it is. Seen in latencies.
pub(crate) fn opened_direction(worker: &WorkerPlan) -> Option<DataDirection> {
    let used = worker.used_directions();
    let counts = |direction: &DataDirection| *direction != DataDirection::Trim || !worker.compatibility.is_fio();
    DataDirection::ALL.into_iter().filter(counts).find(|direction| used[*direction])
}

/// Turns that move no data have a count and no time, so that no rate of them is shown. Natively they have a time. Seen in `runtime` and
/// `iops` of such jobs.
pub(crate) fn times_idle_turns(worker: &WorkerPlan) -> bool {
    !worker.compatibility.is_fio()
}

/// `max_latency` ends no job that measures no latency (`disable_lat`, `gtod_reduce`). Natively it does. Seen in which jobs fail.
pub(crate) fn silences_latency_limit(worker: &WorkerPlan) -> bool {
    let reporting = &worker.spec.reporting;
    worker.compatibility.is_fio() && (reporting.disable_lat || reporting.gtod_reduce)
}

/// Depths that a `latency_target` is searched in: up to `iodepth`, also where the engine does one I/O at a time and all of them are
/// alike. Natively up to what the engine does. Seen in the duration of the search and the depth that is reported.
pub(crate) fn searched_depths(worker: &WorkerPlan) -> u32 {
    if worker.compatibility.is_fio() { worker.spec.queue.iodepth } else { worker.queue().iodepth }
}

/// A trace shows for the next sync where an I/O that found no place would have begun. Natively it shows where the last one was.
pub(crate) fn traces_missed_place(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio()
}

/// A trace does not show the syncs of `fsync_on_close`. Natively it does.
pub(crate) fn traces_closing_sync(worker: &WorkerPlan) -> bool {
    !worker.compatibility.is_fio()
}

/// Of a mix of reads and writes that only time ends it is not said that what it wrote is never read back. Natively it is.
pub(crate) fn tells_unread_mix(worker: &WorkerPlan) -> bool {
    worker.spec.pattern.mix != DirectionMix::ReadWrite || !worker.compatibility.is_fio()
}

/// A job that burns CPU time ends with the last that does I/O, and one of them that is a process of its own counts as one that does
/// I/O: so it runs on, and those that are threads with it. Natively all end. Seen in the duration of a run.
pub(crate) fn counts_cpu_job_as_io(worker: &WorkerPlan) -> bool {
    worker.compatibility.is_fio() && !worker.spec.worker.thread
}
