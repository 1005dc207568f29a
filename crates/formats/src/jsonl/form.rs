//! The members of records, as they are written and read. Members that are not known are passed over.
//!
//! Must not know: the model of results, statistics. Start reading at [`RecordLine`]. Source: docs/jsonl.md.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub(super) enum RecordLine {
    /// The first.
    Run(Box<RunLine>),
    /// Figures of a worker in an interval.
    Interval(Box<SpanLine>),
    /// All figures of a worker.
    Job(Box<JobLine>),
    /// The last.
    End {},
    /// A note, or a kind of a later version.
    #[serde(other)]
    Other,
}

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

/// Figures of a worker in a time: the form of an interval, and the first members of a job.
#[derive(Serialize, Deserialize)]
pub(super) struct SpanLine {
    pub(super) job: String,
    pub(super) job_number: u64,
    #[serde(default)]
    pub(super) group: u32,
    /// The worker's host, of a run on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rank: Option<u32>,
    /// Since the start of the run.
    pub(super) start_ms: f64,
    pub(super) end_ms: f64,
    #[serde(default)]
    pub(super) start_epoch_ms: u64,
    #[serde(default)]
    pub(super) end_epoch_ms: u64,
    /// Absent if the job does not use the direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<DirectionMembers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) write: Option<DirectionMembers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trim: Option<DirectionMembers>,
    /// Absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sync: Option<SyncMembers>,
    #[serde(default)]
    pub(super) cpu: CpuMembers,
    #[serde(default)]
    pub(super) tolerated_errors: u64,
}

/// All figures of a worker, and how it ended.
#[derive(Serialize, Deserialize)]
pub(super) struct JobLine {
    #[serde(flatten)]
    pub(super) span: SpanLine,
    #[serde(default)]
    pub(super) started: bool,
    #[serde(default)]
    pub(super) pid: u32,
    #[serde(default)]
    pub(super) error: i32,
    #[serde(default)]
    pub(super) error_text: String,
    #[serde(default)]
    pub(super) signal: Option<i32>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct DirectionMembers {
    pub(super) ios: u64,
    #[serde(default)]
    pub(super) issued: u64,
    pub(super) bytes: u64,
    #[serde(default)]
    pub(super) short: u64,
    #[serde(default)]
    pub(super) dropped: u64,
    pub(super) runtime_ms: f64,
    pub(super) iops: f64,
    pub(super) bw_bytes: f64,
    #[serde(default)]
    pub(super) slat_ns: LatencyMembers,
    #[serde(default)]
    pub(super) clat_ns: LatencyMembers,
    #[serde(default)]
    pub(super) lat_ns: LatencyMembers,
    /// Absent unless it is measured.
    #[serde(default, skip_serializing_if = "LatencyMembers::is_empty")]
    pub(super) response_ns: LatencyMembers,
}

/// Syncs between the writes.
#[derive(Serialize, Deserialize)]
pub(super) struct SyncMembers {
    pub(super) issued: u64,
    #[serde(default)]
    pub(super) lat_ns: LatencyMembers,
}

/// A latency, nanoseconds. Without samples it has only their number.
#[derive(Serialize, Deserialize, Default)]
pub(super) struct LatencyMembers {
    pub(super) n: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sum: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) min: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mean: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stddev: Option<f64>,
    /// Absent without a histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) percentiles: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) histogram: Option<Vec<(u64, u64)>>,
}

impl LatencyMembers {
    /// True if there are no samples.
    pub(super) fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Latencies of buckets, and how many samples each has.
    pub(super) fn histogram(&self) -> &[(u64, u64)] {
        self.histogram.as_deref().unwrap_or_default()
    }
}

#[derive(Serialize, Deserialize, Default)]
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
