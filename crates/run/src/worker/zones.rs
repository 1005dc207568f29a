//! What a worker says of the zones of its files.
//!
//! Must not know: how I/Os go into zones. Start reading at [`Worker::n_zone_resets`].

use super::Worker;
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
