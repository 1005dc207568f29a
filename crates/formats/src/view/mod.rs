//! fio's view of a run's record: jobs summed by group, directions joined, limits of estimates.
//!
//! All of fio's formats are made from this view. It borrows all data that it does not sum from the record.
//! Must not know: how figures are printed. Start reading at [`fio_view`].

mod disk;
mod group;
mod job;
pub(crate) mod total;

pub use disk::DiskReport;
pub use group::{GroupDirection, GroupReport};
pub use job::{JobReport, KilledMember};
pub use total::TotalReport;

use ferrio_stats::{Audit, CpuIdleness, Evidence, JobPrecision, Provenance, RunMessages, RunRecord};
use std::borrow::Cow;

/// The second of a run with which estimates begin to be shown.
const FIRST_ESTIMATE_SECS: u64 = 3;

/// `eta` of a report if the remaining time is unknown.
const ETA_UNKNOWN: u64 = 2_147_483_647;

/// A run as fio reports it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FioView<'a> {
    /// Version string of the outputs, `fio-3.42-...`.
    pub version: Cow<'a, str>,
    /// Wall clock of the report, milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Seconds since the start, rounded up.
    pub elapsed_secs: u64,
    /// Seconds left; 2147483647 when not known yet.
    pub eta_secs: u64,
    /// Options given for all jobs.
    pub global_options: Cow<'a, [(String, String)]>,
    /// Job blocks in order.
    pub jobs: Vec<JobReport<'a>>,
    /// Group blocks by group number.
    pub groups: Vec<GroupReport>,
    /// The sum of the jobs with `report_total` in all groups; `None`: there are none.
    pub total: Option<TotalReport<'a>>,
    /// Devices; `None` when `disk_util` is off.
    pub disks: Option<Vec<DiskReport>>,
    /// Idleness of the CPUs; `None`: it was not measured.
    pub idleness: Option<Cow<'a, CpuIdleness>>,
    /// Figures of the other probes.
    pub evidence: Cow<'a, Evidence>,
    /// Messages for the report; empty if messages go to another stream.
    pub messages: Cow<'a, RunMessages>,
    /// Provenance of the figures, if it was recorded.
    pub provenance: Option<Cow<'a, Provenance>>,
    /// Outcome of the audit; `None`: not examined.
    pub audit: Option<Cow<'a, Audit>>,
    /// Precision of the figures by job; `None`: not examined.
    pub precision: Option<Cow<'a, [JobPrecision]>>,
}

/// A run as fio reports it.
pub fn fio_view(record: &RunRecord) -> FioView<'_> {
    let elapsed_secs = whole_seconds(record.elapsed_ns);
    let jobs = job::reports(&record.workers);
    FioView {
        version: Cow::Borrowed(&record.version),
        timestamp_ms: record.timestamp_ms,
        elapsed_secs,
        eta_secs: record.eta_secs.filter(|_| elapsed_secs >= FIRST_ESTIMATE_SECS).unwrap_or(ETA_UNKNOWN),
        global_options: Cow::Borrowed(&record.global_options),
        groups: group::reports(&record.workers, &jobs),
        jobs,
        total: total::report(&record.workers),
        disks: record.disks().map(|disks| disks.iter().map(DiskReport::from).collect()),
        idleness: record.idleness().map(Cow::Borrowed),
        evidence: Cow::Borrowed(&record.evidence),
        messages: Cow::Borrowed(&record.messages),
        provenance: record.provenance.as_deref().map(Cow::Borrowed),
        audit: record.audit.as_ref().map(Cow::Borrowed),
        precision: record.precision.as_deref().map(Cow::Borrowed),
    }
}

/// Seconds since the start as reports count them: milliseconds are ignored, and a second that has begun counts.
fn whole_seconds(elapsed_ns: u64) -> u64 {
    (elapsed_ns / 1_000_000).div_ceil(1_000)
}

#[cfg(test)]
mod tests;
