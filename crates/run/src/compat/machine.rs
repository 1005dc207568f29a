//! Oddities of locks, of trims and of settings of the machine.
//!
//! Must not know: passes. Start reading anywhere.

use crate::plan::WorkerPlan;

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
