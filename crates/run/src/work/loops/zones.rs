//! What a worker says of the zones of its files, and what it waits for because of them.
//!
//! Must not know: how I/Os go into zones. Start reading at [`quiet_zones`].

use super::Worker;
use super::queued::drain;
use crate::error::{Failure, failure};
use crate::work::lane::Stop;
use ferrio_stats::note::{IoNote, ZoneNote};
use ferrio_sys::errno::{EBUSY, EINVAL};
use ferrio_workload::{CompletedIo, Next, NextIo, ZoningFailure, ZoningFailureKind};
use std::time::Duration;

/// No longer than this a worker waits for a zone of another before it looks up.
const HELD_LIMIT: Duration = Duration::from_millis(25);

/// A zone is to be reset, or another job waits for one: all that is in flight has to be done before.
#[cold]
pub(crate) fn quiet_zones(worker: &mut Worker<'_>) -> Result<(), Stop> {
    drain(worker)?;
    worker.lane.workload.drained();
    Ok(())
}

/// Another job writes to a zone, or holds the place of one.
#[cold]
pub(crate) fn wait_for_zone(worker: &mut Worker<'_>) {
    worker.lane.workload.wait_for_zone(HELD_LIMIT);
}

/// An I/O that is not done counts for its zone as if it were.
pub(crate) fn count_as_done(worker: &mut Worker<'_>, next: &Next) {
    let Next::Io(io) = next else { return };
    let Some(direction) = io.direction.data() else { return };
    let NextIo { file_index, offset_bytes, .. } = *io;
    worker.lane.workload.completed(&CompletedIo { file_index, direction, offset_bytes, has_failed: false });
}

/// The error of a job that its zones do not let go on.
#[cold]
pub(crate) fn zones_failed(worker: &Worker<'_>, failure: ZoningFailure) -> Failure {
    let ZoningFailure { kind, file_index, zone } = failure;
    let file = worker.lane.files.plan(file_index as u32).name.clone();
    let zone = zone as u64;
    match kind {
        ZoningFailureKind::Reset(errno) => {
            failure!(errno, "zbd_reset_zone").explained(IoNote::ZoneReset { file, zone, errno })
        }
        ZoningFailureKind::Finish(errno) => {
            failure!(errno, "zbd_finish_zone").explained(IoNote::ZoneFinish { file, zone, errno })
        }
        ZoningFailureKind::BlockExceedsZone => failure!(EINVAL, "I/O buflen exceeds zone size"),
        ZoningFailureKind::CapacityBelowBlock { capacity_bytes, min_bytes } => {
            let note = ZoneNote::CapacityBelowBlock { capacity_bytes, min_bytes };
            failure!(EINVAL, "ZCAP is less min_bs").explained(note)
        }
        ZoningFailureKind::TooManyActive(limit) => {
            let limit = limit as u64;
            failure!(EBUSY, "zbd_open_zone").explained(IoNote::TooManyActiveZones { file, zone, limit })
        }
        ZoningFailureKind::TooManyOpen(limit) => {
            let limit = limit as u64;
            failure!(EBUSY, "zbd_open_zone").explained(IoNote::TooManyOpenZones { file, zone, limit })
        }
    }
}
