//! The sum of the jobs of all groups (`report_total`), which fio does not have.
//!
//! Must not know: how groups are summed. Start reading at [`write()`].

use super::{direction, job, usage};
use crate::direction_block::DirectionBlock;
use crate::text::put;
use crate::view::{FioView, TotalReport};

/// Appends the part, with the lines of a job's block that make sense for all groups.
pub(super) fn write(out: &mut String, result: &FioView<'_>, total: &TotalReport<'_>) {
    let (n_jobs, n_groups) = (total.job.n_members, total.n_groups);
    put!(out, "\nSum over all groups (jobs={n_jobs}, groups={n_groups}):\n");
    for block in DirectionBlock::of_total(result, total) {
        direction::write(out, &total.job, &block);
    }
    job::syncs(out, &total.job);
    usage::issued(out, &total.job.stats);
}
