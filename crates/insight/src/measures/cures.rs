//! Cures that depend on the job: what it has already, or cannot have, is none.
//!
//! Must not know: findings. Start reading at [`past_page_cache`].

use super::asked::waits_at_end;
use crate::audit_input::{AuditInput, AuditedJob};
use crate::on_device::BlockPlaces;
use ferrio_units::DataDirection;

/// The cure of jobs whose I/O goes through the page cache, before the words that follow; `None`: `direct=1` alone is enough, as the cure of a rule says.
pub(crate) fn past_page_cache(case: &AuditInput<'_>, jobs: &[&AuditedJob<'_>], rest: &str) -> Option<String> {
    let way = jobs.iter().find_map(|job| way_past(case, job))?;
    Some(format!("{way}{rest}"))
}

/// The cure of jobs whose writes wait in the page cache; `None`: that of most rules, `direct=1` or `end_fsync=1`.
pub(crate) fn written_back(case: &AuditInput<'_>, jobs: &[&AuditedJob<'_>]) -> Option<String> {
    if jobs.iter().all(|job| waits_at_end(job)) {
        return past_page_cache(case, jobs, ".").or_else(|| Some("Add --direct=1.".to_owned()));
    }
    let way = jobs.iter().find_map(|job| way_past(case, job))?;
    Some(format!("Add --end_fsync=1, so that the time of the write-back counts. {way}."))
}

/// How a job gets past the page cache, where `direct=1` alone does not do it.
fn way_past(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<String> {
    if job.engine.forms.is_always_buffered {
        return Some(format!(
            "Use --direct=1 with --ioengine=psync, libaio or io_uring: {} works on pages of the cache whatever direct says",
            job.engine.name
        ));
    }
    let block_bytes = unit_of_direct_io(case, job)?;
    Some(format!(
        "Use --direct=1 with a --bs of {block_bytes} or a multiple of it, since direct I/O has no smaller blocks"
    ))
}

/// The logical block size of the device, if I/Os of the job are not in whole blocks of it, so that direct I/O would fail.
pub(crate) fn unit_of_direct_io(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<u64> {
    let device = job.places.iter().find_map(|place| case.device(place.device.as_deref()?));
    let block_bytes = device.and_then(|device| device.logical_block_size).unwrap_or(LEAST_OF_ALL);
    let used = [DataDirection::Read, DataDirection::Write].into_iter().filter(|direction| job.does(*direction));
    let are_whole = used.map(|direction| BlockPlaces::of(job, direction)).all(|places| places.are_whole(block_bytes));
    (!are_whole).then_some(block_bytes)
}

/// No device has smaller logical blocks.
const LEAST_OF_ALL: u64 = 512;
