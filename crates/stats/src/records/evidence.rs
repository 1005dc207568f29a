//! Evidence: figures that probes measured beside the jobs, such as disk counters and CPU idleness.
//!
//! Must not know: probes, formats. Start reading at [`Evidence`]; a new probe has a field of it.

mod host;
mod stacks;
mod targets;

use crate::provenance::IoLimit;
use crate::{CpuIdleness, ReportedFacts};
use serde::{Deserialize, Serialize};

pub use host::EarlierRun;
pub use host::{CpuTimes, HostClock, HostCpu, MemoryCopy, Throttling};
pub use host::{DriveHeat, Heat};
pub use stacks::{BackingFile, DeviceCache, DeviceLink, LayerKind, StorageLayer, StoredBytes};
pub use targets::{
    BackingPart, JobTargets, LaidOver, PartitionPlace, ReadSample, StartObstacle, TargetAlias, TargetKind, TargetPlace,
    TargetSize,
};

/// The figures of the probes, each under its name; `None`: the probe did not run, or has nothing to tell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Figures of the devices behind the files; empty if none was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disks: Option<Vec<DiskRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_idleness: Option<CpuIdleness>,
    /// The kernel's counters for the processes of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_io: Option<ProcessIo>,
    /// Figures of the page cache, and the cached bytes of the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCache>,
    /// Time in which tasks waited for a CPU, for I/O, for memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<JobTargets>>,
    /// The layers of storage below the targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacks: Option<Vec<StorageLayer>>,
    /// CPU time of the machine, and CPU time that was taken away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cpu: Option<HostCpu>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_clock: Option<HostClock>,
    /// Heat of CPUs and drives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
    /// Speed of memory; only where a job claims to be so fast that it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_copy: Option<MemoryCopy>,
    /// What the jobs that only read have read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_samples: Option<Vec<ReadSample>>,
    /// Files that held data and were shorter than a job needs that only reads; empty: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub laid_over: Vec<LaidOver>,
    /// Jobs that repeat the last run on their targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier_runs: Option<Vec<EarlierRun>>,
    /// What a report of another program says about its figures; `None`: they were measured here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<Box<ReportedFacts>>,
}

impl Evidence {
    /// The figures for which fio's formats have no keys of their own.
    #[must_use]
    pub fn beyond_fio(&self) -> Self {
        Self { disks: None, cpu_idleness: None, reported: None, ..self.clone() }
    }
}

/// A figure, or the reason why it is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading<T> {
    Value(T),
    /// The reason why it could not be read.
    Missing(String),
}

/// By default, the evidence was not collected.
impl<T> Default for Reading<T> {
    fn default() -> Self {
        Self::Missing("not asked for".to_owned())
    }
}

impl<T> Reading<T> {
    /// The figure, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing(_) => None,
        }
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for Reading<T> {
    fn from(result: Result<T, E>) -> Self {
        result.map_or_else(|error| Self::Missing(error.to_string()), Self::Value)
    }
}

/// The kernel's I/O accounts of processes (`/proc/PID/io`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIo {
    /// All processes of the run together: this one with all its threads, and workers that were processes, after their
    /// ends.
    pub total: Reading<IoCounters>,
    /// Each worker that was a process and has done its work, in the order of their ends.
    pub workers: Vec<WorkerIo>,
}

/// The kernel's counters for one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerIo {
    /// Number of the worker in the run, from 1.
    pub number: u32,
    /// Process id.
    pub pid: u32,
    /// Counts from its start to its last I/O.
    pub counters: Reading<IoCounters>,
}

/// Counters of `/proc/PID/io`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoCounters {
    /// Bytes read by system calls, including those from the page cache.
    pub rchar: u64,
    /// Bytes written by system calls, including those to the page cache.
    pub wchar: u64,
    pub read_bytes: u64,
    /// Bytes written to the storage, now or later.
    pub write_bytes: u64,
    /// Part of these bytes that will never be written, because they were dropped from the page cache before.
    pub cancelled_write_bytes: u64,
}

/// The page cache of the machine, and of the files of the jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageCache {
    /// The machine, from the start of the run until now.
    pub machine: Reading<CacheCourse>,
    /// The files of the jobs before they were used.
    pub files_before: Reading<FileCache>,
    /// The files of the jobs now.
    pub files: Reading<FileCache>,
}

/// Figures of the machine's page cache over a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CacheCourse {
    /// Dirty bytes at the start; they wait to be written.
    pub dirty_before_bytes: u64,
    /// Largest number of dirty bytes seen; the probe looks once a second.
    pub dirty_most_bytes: u64,
    /// Dirty bytes now.
    pub dirty_bytes: u64,
    /// Bytes that are being written now.
    pub writeback_bytes: u64,
    /// Bytes that became dirty.
    pub dirtied_bytes: u64,
    pub written_bytes: u64,
}

/// Cached bytes of files (`cachestat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileCache {
    /// Number of regular files that were looked at.
    pub n_files: u64,
    /// Number of other files: they are not regular, were removed, or exceed the limit.
    pub n_left_out: u64,
    pub cached_bytes: u64,
    /// Bytes that wait to be written.
    pub dirty_bytes: u64,
    pub writeback_bytes: u64,
    pub evicted_bytes: u64,
}

/// Pressure stall information, as differences over the time of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// All of the machine.
    pub machine: Stalls,
    /// The control group of this process.
    pub cgroup: Stalls,
    /// Limits of the control group for I/O that were other ones during the run than at its start, each as it was then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_limits: Vec<IoLimit>,
}

/// Waits for each resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    pub cpu: Reading<Stall>,
    pub io: Reading<Stall>,
    pub memory: Reading<Stall>,
}

/// Time of waits for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stall {
    /// Microseconds in which at least one task waited.
    pub some_us: u64,
    /// Microseconds in which all runnable tasks waited.
    pub full_us: u64,
}

/// A block device, with its figures during the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskRecord {
    pub name: String,
    pub counters: DiskCounters,
    /// Counters of the devices that it consists of (md, dm); empty for a plain one.
    pub slaves: Vec<DiskCounters>,
}

/// Counters of a block device over the run (differences of `/sys/block/X/stat`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskCounters {
    /// I/Os: read, write.
    pub ios: [u64; 2],
    pub merges: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// Milliseconds of all I/Os, summed.
    pub ticks_ms: [u64; 2],
    /// Weighted milliseconds in queue.
    pub in_queue_ms: u64,
    /// Percent of the time that the device was busy, at most 100.
    pub util_percent: f64,
    /// Flushes of the device's cache; `None`: the kernel does not count them.
    #[serde(default)]
    pub n_flushes: Option<u64>,
}
