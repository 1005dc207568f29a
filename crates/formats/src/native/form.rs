//! A headline as a flat object of JSON, as it is written and read. Keys that are not known are passed over.
//!
//! Must not know: how figures are made or used. Start reading at [`HeadlineRow`].

use ferrio_stats::JobPrecision;
use serde::{Deserialize, Serialize};

/// A job in one direction, or its syncs. Documents of earlier versions lack some of the keys.
#[derive(Serialize, Deserialize)]
pub(super) struct HeadlineRow {
    pub(super) job: String,
    pub(super) direction: String,
    #[serde(default)]
    pub(super) n_clones: u32,
    pub(super) n_ios: u64,
    pub(super) bytes: u64,
    pub(super) runtime_ns: u64,
    #[serde(flatten)]
    pub(super) rates: RateRow,
    #[serde(flatten)]
    pub(super) latency: LatencyRow,
    #[serde(flatten)]
    pub(super) cpu: CpuRow,
    #[serde(default)]
    pub(super) n_errors: u64,
    #[serde(default)]
    pub(super) error: i32,
    /// Milliseconds since 1970; 0: not known.
    #[serde(default)]
    pub(super) job_start_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<LatencyRow>,
    #[serde(default)]
    pub(super) precision: Option<JobPrecision>,
}

/// Rates, over the time of the direction.
#[derive(Serialize, Deserialize)]
pub(super) struct RateRow {
    pub(super) bytes_per_sec: f64,
    pub(super) ios_per_sec: f64,
    /// They rest on so little that they are no property of the storage; absent: they do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) doubtful_rates: bool,
}

/// CPU time for each I/O.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(super) struct CpuRow {
    pub(super) cpu_ns_per_io: f64,
    pub(super) helper_cpu_ns_per_io: f64,
}

/// A latency in nanoseconds; without samples all is 0 or absent.
#[derive(Serialize, Deserialize)]
pub(super) struct LatencyRow {
    /// `None`: a document of an earlier version.
    #[serde(default)]
    pub(super) n_latencies: Option<u64>,
    pub(super) mean_ns: f64,
    #[serde(default)]
    pub(super) p50_ns: Option<u64>,
    #[serde(default)]
    pub(super) p99_ns: Option<u64>,
    #[serde(default)]
    pub(super) p999_ns: Option<u64>,
    pub(super) max_ns: u64,
    /// Percentiles beyond which there are fewer than ten I/Os.
    #[serde(default)]
    pub(super) doubtful_percentiles: Vec<f64>,
}
