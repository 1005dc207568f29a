//! Trims of written blocks that a loop inserts between the I/Os of a verified job.
//!
//! Must not know: the choice of blocks. Start reading at [`trim_between`].

use super::Worker;
use super::in_flight::collect_some;
use crate::worker::core::Stop;
use crate::worker::verify::trims::TrimStep;
use ferrio_units::Direction;
use ferrio_workload::NextIo;

/// Called before each I/O of a job with trims: waits for the trim in flight. True: a trim of a written block comes
/// first.
pub(crate) fn trim_between(worker: &mut Worker<'_>) -> Result<bool, Stop> {
    loop {
        match worker.hooks.next_trim() {
            TrimStep::Wait => collect_some(worker)?,
            TrimStep::Trim(write) => {
                worker.core.workload.put_between(NextIo {
                    direction: Direction::Trim,
                    file_index: write.file_index,
                    offset_bytes: write.offset_bytes,
                    length_bytes: write.length_bytes.into(),
                });
                return Ok(true);
            }
            TrimStep::NoTrim => return if has_done_its_ios(worker) { Err(Stop::PassEnd) } else { Ok(false) },
        }
    }
}

/// Number of reads, writes and trims so far, including inserted ones.
pub(crate) fn n_ios(worker: &Worker<'_>) -> u64 {
    worker.core.workload.progress().n_issued.saturating_add(worker.hooks.n_inserted())
}

/// True if the number of I/Os has reached `number_ios`, and no write waits for its trim.
pub(crate) fn has_done_its_ios(worker: &mut Worker<'_>) -> bool {
    // The check that most jobs pass comes first, because a job with a rate gets here before each I/O.
    worker.hooks.verifies() && n_ios(worker) >= worker.core.rules.limit_ios && !worker.hooks.has_waiting_trims()
}
