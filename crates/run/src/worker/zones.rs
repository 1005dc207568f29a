//! What a worker says of the zones of its files.
//!
//! Must not know: how I/Os go into zones. Start reading at [`Worker::n_zone_resets`].

use super::Worker;
use super::verify::Verifier;
use crate::error::{JobError, job_error};
use ferrio_workload::ZoningFailure;

impl Worker<'_> {
    /// Zones that were reset to be written again, if the job writes to zones.
    pub(super) fn n_zone_resets(&self) -> Option<u64> {
        (!self.set.zones.is_empty() && self.plan.writes()).then(|| self.workload.n_zone_resets())
    }

    /// The error of a job whose device did not reset a zone.
    #[cold]
    pub(super) fn zone_reset_failed(&self, failure: ZoningFailure) -> JobError {
        let ZoningFailure { errno, file_index, zone } = failure;
        let name = &self.set.files[file_index].name;
        let text = format!("fio: {name}: resetting zone {zone} failed: {}", ferrio_units::errno_text(errno));
        job_error!(errno, "zbd_reset_zone").explained(text)
    }
}

impl Verifier {
    /// A sequential zone is written from here on: what it held here and above was taken away by a reset, whoever did it.
    pub(super) fn forget_above(&mut self, file_index: u32, offset_bytes: u64) {
        let Some(table) = self.zones.tables().get(file_index as usize) else { return };
        let zone_bytes = table.layout().zone_bytes.max(1);
        let is_sequential = usize::try_from(offset_bytes / zone_bytes)
            .is_ok_and(|zone| zone < table.layout().n_zones && table.layout().shape(zone).is_sequential);
        if is_sequential {
            self.forget_range(file_index, offset_bytes, zone_bytes - offset_bytes % zone_bytes);
        }
    }
}
