//! The keys of a report in JSON that are read. Others are passed over.
//!
//! Must not know: the model. Start reading at [`Document`]. Source: reference, "JSON and json+ output".

use ferrio_stats::{Accounts, Finding, JobPrecision, Unexamined};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

#[derive(Deserialize)]
pub(super) struct Document {
    #[serde(rename = "fio version", default)]
    pub(super) version: String,
    #[serde(default)]
    pub(super) timestamp: Option<i64>,
    #[serde(default)]
    pub(super) timestamp_ms: Option<i64>,
    #[serde(rename = "global options", default)]
    pub(super) global_options: Pairs<String>,
    #[serde(default)]
    pub(super) jobs: Limited<JobKeys>,
    /// Jobs of several hosts.
    #[serde(default)]
    pub(super) client_stats: Limited<JobKeys>,
    #[serde(default)]
    pub(super) disk_util: Limited<DiskKeys>,
    #[serde(default)]
    pub(super) ferrio: Option<Ferrio>,
    /// A key of ferrio's own document alone.
    #[serde(default)]
    pub(super) elapsed_ns: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Ferrio {
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    pub(super) provenance: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) findings: Option<Vec<Finding>>,
    #[serde(default)]
    pub(super) unexamined: Vec<Unexamined>,
    #[serde(default)]
    pub(super) n_rules: u32,
    #[serde(default)]
    pub(super) accounts: Option<Box<Accounts>>,
    #[serde(default)]
    pub(super) precision: Vec<JobPrecision>,
    #[serde(default)]
    pub(super) response: Limited<ResponseKeys>,
}

/// Response latencies of a direction of a job.
#[derive(Deserialize)]
pub(super) struct ResponseKeys {
    #[serde(default)]
    pub(super) jobname: String,
    #[serde(default)]
    pub(super) groupid: i64,
    #[serde(default)]
    pub(super) direction: String,
    #[serde(default)]
    pub(super) response_ns: Option<LatencyKeys>,
}

#[derive(Deserialize)]
pub(super) struct JobKeys {
    #[serde(default)]
    pub(super) jobname: String,
    #[serde(default)]
    pub(super) hostname: String,
    #[serde(default)]
    pub(super) desc: String,
    #[serde(default)]
    pub(super) groupid: i64,
    #[serde(flatten)]
    pub(super) fate: FateKeys,
    #[serde(rename = "job options", default)]
    pub(super) options: Pairs<String>,
    #[serde(default)]
    pub(super) read: Option<DirectionKeys>,
    #[serde(default)]
    pub(super) write: Option<DirectionKeys>,
    #[serde(default)]
    pub(super) trim: Option<DirectionKeys>,
    #[serde(default)]
    pub(super) mixed: Option<DirectionKeys>,
    #[serde(default)]
    pub(super) sync: Option<SyncKeys>,
    #[serde(default)]
    pub(super) usr_cpu: f64,
    #[serde(default)]
    pub(super) sys_cpu: f64,
    #[serde(default)]
    pub(super) ctx: i64,
    #[serde(default)]
    pub(super) majf: i64,
    #[serde(default)]
    pub(super) minf: i64,
    #[serde(default)]
    pub(super) iodepth_level: Pairs<f64>,
    #[serde(default)]
    pub(super) latency_ns: Pairs<f64>,
    #[serde(default)]
    pub(super) latency_us: Pairs<f64>,
    #[serde(default)]
    pub(super) latency_ms: Pairs<f64>,
}

/// The search for a steady state.
#[derive(Deserialize)]
pub(super) struct SteadyKeys {
    #[serde(default)]
    pub(super) ss: String,
    #[serde(default)]
    pub(super) duration: u64,
    #[serde(default)]
    pub(super) attained: i64,
    #[serde(default)]
    pub(super) criterion: Value,
    #[serde(default)]
    pub(super) data: Option<SteadyData>,
}

/// The last window.
#[derive(Deserialize)]
pub(super) struct SteadyData {
    #[serde(default)]
    pub(super) iops_mean: Option<f64>,
}

/// When a job began, and its errors.
#[derive(Deserialize)]
pub(super) struct FateKeys {
    #[serde(default)]
    pub(super) steadystate: Option<SteadyKeys>,
    #[serde(default)]
    pub(super) error: i64,
    /// Tolerated errors (`continue_on_error`).
    #[serde(default)]
    pub(super) total_err: i64,
    /// Start of the I/O, milliseconds of the wall clock or another one.
    #[serde(rename = "job_start", default)]
    pub(super) start_ms: i64,
    /// Milliseconds since the start of the I/O, summed over the jobs of a group.
    #[serde(rename = "job_runtime", default)]
    pub(super) runtime_ms: i64,
}

#[derive(Deserialize)]
pub(super) struct DirectionKeys {
    #[serde(default)]
    pub(super) io_bytes: i64,
    #[serde(default)]
    pub(super) bw_bytes: Option<i64>,
    /// KiB per second.
    #[serde(default)]
    pub(super) bw: f64,
    #[serde(default)]
    pub(super) iops: f64,
    /// Milliseconds.
    #[serde(default)]
    pub(super) runtime: i64,
    #[serde(default)]
    pub(super) total_ios: i64,
    #[serde(default)]
    pub(super) slat_ns: Option<LatencyKeys>,
    #[serde(default)]
    pub(super) clat_ns: Option<LatencyKeys>,
    #[serde(default)]
    pub(super) lat_ns: Option<LatencyKeys>,
    #[serde(default)]
    pub(super) bw_min: f64,
    #[serde(default)]
    pub(super) bw_max: f64,
    #[serde(default)]
    pub(super) bw_mean: f64,
    #[serde(default)]
    pub(super) bw_dev: f64,
    #[serde(default)]
    pub(super) bw_samples: i64,
    #[serde(default)]
    pub(super) iops_min: f64,
    #[serde(default)]
    pub(super) iops_max: f64,
    #[serde(default)]
    pub(super) iops_mean: f64,
    #[serde(default)]
    pub(super) iops_stddev: f64,
    #[serde(default)]
    pub(super) iops_samples: i64,
}

/// Syncs between the writes.
#[derive(Deserialize)]
pub(super) struct SyncKeys {
    #[serde(default)]
    pub(super) total_ios: i64,
    #[serde(default)]
    pub(super) lat_ns: Option<LatencyKeys>,
}

#[derive(Deserialize)]
pub(super) struct LatencyKeys {
    #[serde(default)]
    pub(super) min: f64,
    #[serde(default)]
    pub(super) max: f64,
    #[serde(default)]
    pub(super) mean: f64,
    #[serde(default)]
    pub(super) stddev: f64,
    #[serde(rename = "N", default)]
    pub(super) n: Option<i64>,
    #[serde(default)]
    pub(super) percentile: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) bins: BTreeMap<String, i64>,
}

#[derive(Deserialize)]
pub(super) struct DiskKeys {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) read_ios: i64,
    #[serde(default)]
    pub(super) write_ios: i64,
    #[serde(default)]
    pub(super) read_merges: i64,
    #[serde(default)]
    pub(super) write_merges: i64,
    #[serde(default)]
    pub(super) read_sectors: Option<i64>,
    #[serde(default)]
    pub(super) write_sectors: Option<i64>,
    #[serde(default)]
    pub(super) util: f64,
}

/// The first elements of a list: a few bytes of a file could otherwise become a thousand times as many in memory.
pub(crate) struct Limited<T> {
    pub(super) items: Vec<T>,
    /// Number of elements of the whole list.
    pub(super) found: usize,
}

impl<T> Limited<T> {
    pub(crate) const MOST: usize = 20_000;
}

impl<T> Default for Limited<T> {
    fn default() -> Self {
        Self { items: Vec::new(), found: 0 }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Limited<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LimitedVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for LimitedVisitor<T> {
            type Value = Limited<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut limited = Limited::default();
                while limited.found < Limited::<T>::MOST {
                    let Some(item) = list.next_element()? else { return Ok(limited) };
                    limited.items.push(item);
                    limited.found += 1;
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    limited.found += 1;
                }
                Ok(limited)
            }
        }
        deserializer.deserialize_seq(LimitedVisitor(PhantomData))
    }
}

/// An object as pairs in its order, in which a key may come again.
pub(super) struct Pairs<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
            type Value = Pairs<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}
