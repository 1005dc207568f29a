//! Trims of written blocks that a loop inserts between the I/Os of a verified job.
//!
//! Must not know: the choice of blocks. Start reading at [`trim_between`].

use super::Worker;
use super::queued::collect_some;
use crate::plan::limit_ios;
use crate::work::lane::Stop;
use ferrio_units::Direction;
use ferrio_workload::NextIo;
use ferrio_workload::verify::pending::PendingWrite;

/// Called before each I/O of a job with trims: waits for the trim in flight. True: a trim of a written block comes
/// first.
pub(crate) fn trim_between(worker: &mut Worker<'_>) -> Result<bool, Stop> {
    while worker.hooks.verifier.as_ref().is_some_and(|verifier| verifier.trims.n_in_flight() > 0) {
        collect_some(worker)?;
    }
    let Some(write) = next_trim(worker)? else {
        return if has_done_its_ios(worker) { Err(Stop::PassEnd) } else { Ok(false) };
    };
    worker.lane.workload.put_between(NextIo {
        direction: Direction::Trim,
        file_index: write.file_index,
        offset_bytes: write.offset_bytes,
        length_bytes: write.length_bytes.into(),
    });
    Ok(true)
}

/// Number of reads, writes and trims so far, including inserted ones.
pub(crate) fn n_ios(worker: &Worker<'_>) -> u64 {
    let n_between = worker.hooks.verifier.as_ref().map_or(0, |verifier| verifier.trims.n_between());
    worker.lane.workload.progress().n_issued.saturating_add(n_between)
}

/// True if the number of I/Os has reached `number_ios`, and no write waits for its trim.
pub(crate) fn has_done_its_ios(worker: &mut Worker<'_>) -> bool {
    // The check that most jobs pass comes first, because a job with a rate gets here before each I/O.
    if worker.hooks.verifier.is_none() || n_ios(worker) < limit_ios(worker.lane.plan) {
        return false;
    }
    worker.hooks.verifier.as_mut().is_some_and(|verifier| !verifier.has_waiting_trims())
}

/// The write whose block is to be trimmed now; it has landed.
fn next_trim(worker: &mut Worker<'_>) -> Result<Option<PendingWrite>, Stop> {
    loop {
        let Some(verifier) = worker.hooks.verifier.as_mut() else { return Ok(None) };
        let Some(write) = verifier.next_trim() else { return Ok(None) };
        while worker.hooks.verifier.as_ref().is_some_and(|verifier| verifier.is_in_flight(&write)) {
            collect_some(worker)?;
        }
        if worker.hooks.verifier.as_mut().is_some_and(|verifier| verifier.choose_trim(write)) {
            return Ok(Some(write));
        }
    }
}
