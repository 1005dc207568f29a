//! What a report of another program says about its own figures, beside those that every record has: a report may contradict itself.
//!
//! Must not know: formats, rules. Start reading at [`ReportedFacts`].

use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Facts of a report that a run measured here does not need, because its rates are made of its counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedFacts {
    /// The options of the jobs are not there, or only those of the lines that fio prints at the start of a run.
    pub lacks_options: bool,
    /// Extremes of latencies are whole microseconds, rounded down.
    pub has_whole_us: bool,
    /// Number of figures that are `nan` or `inf`.
    pub n_no_numbers: u32,
    /// The rows of the jobs, each a worker of the record.
    pub rows: Vec<ReportedRow>,
    /// The searches for a steady state.
    pub steady: Vec<ReportedSteady>,
    /// Why the bytes of the disks cannot be compared with those of the jobs; `None`: they can.
    pub disk_gap: Option<DiskGap>,
    /// Requests of all disks together, where their bytes are not there.
    pub disk_requests: Option<DiskRequests>,
}

/// A row of a report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedRow {
    /// Number of the worker that has its figures.
    pub worker_number: u32,
    /// Number of jobs whose figures these are; `None`: the report does not say.
    pub n_members: Option<u32>,
    /// The most I/Os that a job had in flight, as the shares of depths tell it; `None`: they set no bound.
    pub most_in_flight: Option<u32>,
    pub rates: PerDirection<Option<ReportedRate>>,
    /// Percentiles of latencies that the report has; `None`: it has distributions.
    pub percents: Option<Vec<f64>>,
    /// Statistics of a latency that no distribution can have; `None`: there are none.
    pub misfit: Option<Box<ReportedMisfit>>,
    /// Shares of the latencies of all directions, from the lowest class on; empty: the report has none.
    pub classes: Vec<ReportedClass>,
}

/// Two statistics of a latency, of which the first one is below the second one and cannot be.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedMisfit {
    /// Whose latency it is: `read`, `sync`.
    pub of: String,
    /// `slat`, `clat` or `lat`.
    pub latency: String,
    pub below: ReportedStatistic,
    pub above: ReportedStatistic,
}

/// A statistic of a latency.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedStatistic {
    /// `p99`, `mean`, `maximum`.
    pub name: String,
    pub ns: f64,
}

/// The share of the I/Os with latencies from the end of the class before up to the end of this one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedClass {
    /// Nanoseconds; `None`: the last class, of all that are longer.
    pub up_to_ns: Option<u64>,
    pub percent: f64,
}

/// Rates as the report has them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedRate {
    pub ios_per_sec: f64,
    pub bytes_per_sec: f64,
}

/// The outcome of a search for a steady state.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedSteady {
    pub job: String,
    pub is_attained: bool,
    /// Mean rate of the last window, I/Os a second; `None`: the report does not say.
    pub mean_ios_per_sec: Option<f64>,
}

/// Requests that disks have done, without those that the kernel has put together with others.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DiskRequests {
    pub names: Vec<String>,
    /// Reads and writes.
    pub done: [u64; 2],
    /// Reads and writes that became parts of others.
    pub merged: [u64; 2],
}

/// Why the bytes of the disks of a report say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum DiskGap {
    #[error("the report has no counters of disks")]
    NoDisk,
    #[error("the report has no bytes of disks, only their requests")]
    NoBytes,
    #[error(
        "all counters of its disks are 0: fio looks at them four times a second, and a short run or a disk that it does not know leaves nothing"
    )]
    AllZero,
}
