//! fio's view of a run's record: jobs summed by group, directions joined, limits of estimates.
//!
//! All of fio's formats are made from this view: the record, and beside it what is summed or counted for them.
//! Must not know: how figures are printed. Start reading at [`fio_view`].

mod disk;
mod group;
mod job;
pub(crate) mod total;

pub use disk::DiskReport;
pub use group::{GroupDirection, GroupReport};
pub use job::{JobReport, KilledMember};
pub use total::TotalReport;

use ferrio_stats::{RunMessages, RunRecord};
use std::borrow::Cow;

/// The second of a run with which estimates begin to be shown.
const FIRST_ESTIMATE_SECS: u64 = 3;

/// `eta` of a report if the remaining time is unknown.
const ETA_UNKNOWN: u64 = 2_147_483_647;

/// A run as fio reports it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FioView<'a> {
    /// The record: what fio reports as it is.
    pub record: Cow<'a, RunRecord>,
    /// Seconds since the start, rounded up.
    pub elapsed_secs: u64,
    /// Seconds left; 2147483647 when not known yet.
    pub eta_secs: u64,
    /// Job blocks in order.
    pub jobs: Vec<JobReport<'a>>,
    pub groups: Vec<GroupReport>,
    /// The sum of the jobs with `report_total` in all groups; `None`: there are none.
    pub total: Option<TotalReport<'a>>,
    /// Devices; `None` when `disk_util` is off.
    pub disks: Option<Vec<DiskReport>>,
    /// Messages for the report; empty if messages go to another stream.
    pub messages: Cow<'a, RunMessages>,
}

pub fn fio_view(record: &RunRecord) -> FioView<'_> {
    let elapsed_secs = whole_seconds(record.elapsed_ns);
    let jobs = job::reports(record);
    FioView {
        record: Cow::Borrowed(record),
        elapsed_secs,
        eta_secs: record.eta_secs.filter(|_| elapsed_secs >= FIRST_ESTIMATE_SECS).unwrap_or(ETA_UNKNOWN),
        groups: group::reports(&record.workers, &jobs),
        jobs,
        total: total::report(&record.workers),
        disks: record.disks().map(|disks| disks.iter().map(DiskReport::from).collect()),
        messages: Cow::Borrowed(&record.messages),
    }
}

/// Seconds since the start as reports count them: milliseconds are ignored, and a second that has begun counts.
fn whole_seconds(elapsed_ns: u64) -> u64 {
    (elapsed_ns / 1_000_000).div_ceil(1_000)
}

#[cfg(test)]
mod tests;
