//! A worker's part in the zones of its files: reports of I/Os, and waits.
//!
//! Must not know: how I/Os are placed in zones. Start reading at [`quiet_zones`].

use super::Worker;
use super::in_flight::drain;
use crate::error::{Failure, failure};
use crate::worker::core::{Stop, WorkerCore};
use ferrio_stats::note::{IoNote, ZoneNote};
use ferrio_sys::errno::{EBUSY, EINVAL};
use ferrio_workload::{CompletedIo, Next, NextIo, ZoningFailure, ZoningFailureKind};
use std::time::Duration;

/// Longest wait for a zone of another job before the loop handles its deadlines.
const HELD_LIMIT: Duration = Duration::from_millis(25);

/// Waits for all I/Os in flight, because a zone is to be reset, or another job waits for one.
#[cold]
pub(crate) fn quiet_zones(worker: &mut Worker<'_>) -> Result<(), Stop> {
    drain(worker)?;
    tell_drained(worker);
    Ok(())
}

/// Reports to the zones that no I/O is in flight.
pub(crate) fn tell_drained(worker: &mut Worker<'_>) {
    if let Some(zones) = worker.core.workload.zones_mut() {
        zones.drained();
    }
}

/// Waits because another job writes to a zone, or has the place of one.
#[cold]
pub(crate) fn wait_for_zone(worker: &mut Worker<'_>) {
    let Some(zones) = worker.core.workload.zones_mut() else { return };
    if let Some(release) = zones.awaited() {
        zones.waited(release.wait(HELD_LIMIT));
    }
}

/// Reports an I/O as done to the zones, though it is not carried out.
pub(crate) fn count_as_done(worker: &mut Worker<'_>, next: &Next) {
    let Next::Io(io) = next else { return };
    let Some(direction) = io.direction.data() else { return };
    let NextIo { file_index, offset_bytes, .. } = *io;
    if let Some(zones) = worker.core.workload.zones_mut() {
        zones.completed(&CompletedIo { file_index, direction, offset_bytes, failure: None });
    }
}

/// The failure of a job because of its zones.
#[cold]
pub(crate) fn zones_failed(core: &WorkerCore<'_>, failure: ZoningFailure) -> Failure {
    let ZoningFailure { kind, file_index, zone } = failure;
    let file = core.file_name(file_index as u32);
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
