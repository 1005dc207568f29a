//! What the page cache holds of the jobs' writes when a run has ended.
//!
//! Must not know: devices. Start reading at [`WaitingWrites`].

use super::ranges::range_bytes;
use crate::audit_input::{AuditInput, AuditedJob, is_in_memory, sum};
use ferrio_units::DataDirection;

const LEAST_SHARE: f64 = 0.1;
const LEAST_BYTES: u64 = 1 << 20;

/// Writes that were in memory only when the run ended, if they are a tenth or more of the blocks that were written.
pub(crate) struct WaitingWrites<'c, 'a> {
    /// The jobs that wrote through the page cache.
    pub(crate) writers: Vec<&'c AuditedJob<'a>>,
    pub(crate) written_bytes: u64,
    /// Size of the blocks that were written, however often.
    pub(crate) distinct_bytes: u64,
    pub(crate) waiting_bytes: u64,
}

impl<'c, 'a> WaitingWrites<'c, 'a> {
    /// Of a run that left some.
    pub(crate) fn of(case: &'c AuditInput<'a>) -> Option<Self> {
        let files = case.page_cache()?.files.value()?;
        let is_writer = |job: &&'c AuditedJob<'a>| {
            let has_written = job.figures(DataDirection::Write).is_some();
            job.is_buffered() && job.moves_data() && !job.expects_memory() && has_written
        };
        let writers: Vec<_> = case.jobs.iter().filter(is_writer).collect();
        // A file system in memory has nowhere to write to.
        if writers.iter().any(|job| job.places.iter().any(is_in_memory)) {
            return None;
        }
        let bytes_of = |job: &&AuditedJob<'_>| job.figures(DataDirection::Write).map_or(0, |figures| figures.bytes);
        let written_bytes = sum(writers.iter().map(bytes_of));
        // The page cache takes a block again that waits already.
        let range_of = |job: &AuditedJob<'_>| range_bytes(case, job).filter(|_| !job.has_more_files);
        let distinct = |job: &&AuditedJob<'_>| bytes_of(job).min(range_of(job).unwrap_or(u64::MAX));
        let distinct_bytes = sum(writers.iter().map(distinct));
        let waiting_bytes = files.dirty_bytes.saturating_add(files.writeback_bytes).min(distinct_bytes);
        let is_much = waiting_bytes >= LEAST_BYTES && waiting_bytes as f64 >= distinct_bytes as f64 * LEAST_SHARE;
        is_much.then_some(Self { writers, written_bytes, distinct_bytes, waiting_bytes })
    }
}
