//! Limits of a worker's work.
//!
//! Must not know: files. Start reading at [`limit_ios`].

use super::WorkerPlan;
use crate::compat;

/// Most reads, writes and trims of a job, in all its passes together.
pub(crate) fn limit_ios(worker: &WorkerPlan) -> u64 {
    let limit = worker.spec.extent.number_ios.saturating_mul(u64::from(worker.spec.limits.loops.max(1)));
    match limit {
        0 => u64::MAX,
        _ if !compat::heeds_number_of_ios(worker) => u64::MAX,
        _ => limit.saturating_mul(compat::ios_counted_as_one(worker)),
    }
}
