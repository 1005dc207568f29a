//! What fio makes of the record of a run: jobs summed by group, directions counted as one, limits of estimates.
//!
//! All formats of fio are written from this view. It borrows from the record what it does not sum.
//! Must not know: how anything is printed. Start reading at [`fio_view`].

mod disk;
mod group;
mod job;

pub use disk::DiskReport;
pub use group::{GroupDirection, GroupReport};
pub use job::{JobReport, KilledMember};

use ferrio_stats::{CpuIdleness, Evidence, Provenance, RunMessages, RunRecord};
use std::borrow::Cow;

/// No estimate is shown before this second of a run has begun.
const FIRST_ESTIMATE_SECS: u64 = 3;

/// `eta` of a report when it is not known how long the run takes.
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
    /// Devices; `None` when `disk_util` is off.
    pub disks: Option<Vec<DiskReport>>,
    /// How idle the CPUs were; `None`: it was not measured.
    pub idleness: Option<Cow<'a, CpuIdleness>>,
    /// What else was measured beside the jobs.
    pub evidence: Cow<'a, [Evidence]>,
    /// What the run had to say, where the report has to carry it: empty where messages have a stream of their own.
    pub messages: Cow<'a, RunMessages>,
    /// Where the figures come from, if that was recorded.
    pub provenance: Option<Cow<'a, Provenance>>,
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
        disks: record.disks().map(|disks| disks.iter().map(DiskReport::from).collect()),
        idleness: record.idleness().map(Cow::Borrowed),
        evidence: Cow::Borrowed(&record.evidence),
        messages: Cow::Borrowed(&record.messages),
        provenance: record.provenance.as_deref().map(Cow::Borrowed),
    }
}

/// Seconds since the start as reports count them: one that has begun is counted, milliseconds are cut.
fn whole_seconds(elapsed_ns: u64) -> u64 {
    (elapsed_ns / 1_000_000).div_ceil(1_000)
}

#[cfg(test)]
mod tests;
