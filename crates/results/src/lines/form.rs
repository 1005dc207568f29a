//! The members of records that are read. Others are passed over.
//!
//! Must not know: the model. Start reading at [`RecordLine`]. Source: docs/jsonl.md.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// A record.
#[derive(Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub(super) enum RecordLine {
    /// The first.
    Run(Box<RunLine>),
    /// Figures of a worker in an interval.
    Interval(Box<SpanLine>),
    /// All figures of a worker.
    Job(Box<SpanLine>),
    /// The last.
    End {},
    /// A note, or a kind of a later version.
    #[serde(other)]
    Other,
}

/// The run.
#[derive(Deserialize)]
pub(super) struct RunLine {
    pub(super) format: u32,
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    pub(super) epoch_ms: Option<u64>,
    pub(super) interval_ms: f64,
    #[serde(default)]
    pub(super) provenance: Option<Value>,
    #[serde(default)]
    pub(super) global_options: Vec<(String, String)>,
    #[serde(default)]
    pub(super) jobs: Vec<DescribedJob>,
}

/// A job with its options.
#[derive(Deserialize)]
pub(super) struct DescribedJob {
    pub(super) first_number: u64,
    pub(super) n_clones: u64,
    #[serde(default, deserialize_with = "known_options")]
    pub(super) options: DescribedOptions,
}

/// The members of its options that are read.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct DescribedOptions {
    pub(super) given_options: Vec<(String, String)>,
    pub(super) description: Option<String>,
}

/// Options in another form are passed over.
fn known_options<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DescribedOptions, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).unwrap_or_default())
}

/// Figures of a worker in a time.
#[derive(Deserialize)]
pub(super) struct SpanLine {
    pub(super) job: String,
    pub(super) job_number: u64,
    #[serde(default)]
    pub(super) group: u32,
    pub(super) start_ms: f64,
    pub(super) end_ms: f64,
    #[serde(default)]
    pub(super) read: Option<DirectionMembers>,
    #[serde(default)]
    pub(super) write: Option<DirectionMembers>,
    #[serde(default)]
    pub(super) trim: Option<DirectionMembers>,
    #[serde(default)]
    pub(super) sync: Option<SyncMembers>,
    #[serde(default)]
    pub(super) cpu: CpuMembers,
    #[serde(default)]
    pub(super) error: i32,
    #[serde(default)]
    pub(super) tolerated_errors: u64,
}

/// A direction.
#[derive(Deserialize)]
pub(super) struct DirectionMembers {
    pub(super) ios: u64,
    pub(super) bytes: u64,
    pub(super) runtime_ms: f64,
    pub(super) iops: f64,
    pub(super) bw_bytes: f64,
    #[serde(default)]
    pub(super) slat_ns: LatencyMembers,
    #[serde(default)]
    pub(super) clat_ns: LatencyMembers,
    #[serde(default)]
    pub(super) lat_ns: LatencyMembers,
    #[serde(default)]
    pub(super) response_ns: LatencyMembers,
}

/// Syncs between the writes.
#[derive(Deserialize)]
pub(super) struct SyncMembers {
    pub(super) issued: u64,
    #[serde(default)]
    pub(super) lat_ns: LatencyMembers,
}

/// A latency, nanoseconds.
#[derive(Deserialize, Default)]
pub(super) struct LatencyMembers {
    pub(super) n: u64,
    #[serde(default)]
    pub(super) sum: u64,
    #[serde(default)]
    pub(super) min: Option<u64>,
    #[serde(default)]
    pub(super) max: Option<u64>,
    #[serde(default)]
    pub(super) mean: f64,
    #[serde(default)]
    pub(super) stddev: f64,
    #[serde(default)]
    pub(super) percentiles: BTreeMap<String, u64>,
    #[serde(default)]
    pub(super) histogram: Vec<(u64, u64)>,
}

/// Use of the CPU.
#[derive(Deserialize, Default)]
pub(super) struct CpuMembers {
    pub(super) user_ms: f64,
    pub(super) system_ms: f64,
    #[serde(default)]
    pub(super) context_switches: u64,
    #[serde(default)]
    pub(super) major_faults: u64,
    #[serde(default)]
    pub(super) minor_faults: u64,
}
