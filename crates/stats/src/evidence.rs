//! What was measured beside the jobs while a run went on: what its devices did, how idle its CPUs were.
//!
//! Must not know: who measures, formats. Start reading at [`Evidence`]; what a new probe measures is a variant of it.

use crate::CpuIdleness;
use serde::{Deserialize, Serialize};

/// What one probe measured. Serialised, it is an object of one key: the name of the variant, in small letters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// What the devices behind the files did; an empty list where none was found.
    Disks(Vec<DiskRecord>),
    /// How idle the CPUs were.
    CpuIdleness(CpuIdleness),
    /// What the kernel counted for the processes of the run.
    ProcessIo(ProcessIo),
    /// What the page cache did, and what it holds of the files.
    PageCache(PageCache),
    /// How long somebody waited for a CPU, for I/O, for memory.
    Pressure(Pressure),
}

impl Evidence {
    /// Formats of fio have keys of their own for it.
    pub fn is_known_to_fio(&self) -> bool {
        matches!(self, Self::Disks(_) | Self::CpuIdleness(_))
    }
}

/// A figure, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading<T> {
    /// It was read.
    Value(T),
    /// It could not be read, for this reason.
    Missing(String),
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

/// I/O as the kernel accounts it to processes (`/proc/PID/io`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIo {
    /// All processes of the run together: this one with all its threads, and workers that were processes once they have ended.
    pub total: Reading<IoCounters>,
    /// Each worker that was a process and has done its work, in the order of their ends.
    pub workers: Vec<WorkerIo>,
}

/// What the kernel counted for one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerIo {
    /// Number of the worker in the run, from 1.
    pub number: u32,
    /// Process id.
    pub pid: u32,
    /// What was counted from its start to its last I/O.
    pub counters: Reading<IoCounters>,
}

/// Counters of `/proc/PID/io`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoCounters {
    /// Bytes that system calls have read, from the page cache too.
    pub rchar: u64,
    /// Bytes that system calls have written, to the page cache too.
    pub wchar: u64,
    /// Bytes that were read from the storage.
    pub read_bytes: u64,
    /// Bytes that were, or will be, written to the storage.
    pub write_bytes: u64,
    /// Of these, bytes that never will: they were dropped from the page cache before.
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

/// What the page cache of the machine did in a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CacheCourse {
    /// Bytes that wait to be written: at the start.
    pub dirty_before_bytes: u64,
    /// The most that was seen; it is looked at once a second.
    pub dirty_most_bytes: u64,
    /// Now.
    pub dirty_bytes: u64,
    /// Bytes that are being written now.
    pub writeback_bytes: u64,
    /// Bytes that became dirty.
    pub dirtied_bytes: u64,
    /// Bytes that were written back.
    pub written_bytes: u64,
}

/// What the page cache holds of files (`cachestat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileCache {
    /// Regular files that were asked about.
    pub n_files: u64,
    /// Files that were not: they are no regular ones, are gone, or are more than are asked about.
    pub n_left_out: u64,
    /// Bytes in the cache.
    pub cached_bytes: u64,
    /// Bytes that wait to be written.
    pub dirty_bytes: u64,
    /// Bytes that are being written.
    pub writeback_bytes: u64,
    /// Bytes that were in the cache and were dropped.
    pub evicted_bytes: u64,
}

/// Pressure stall information, as differences over the time of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// All of the machine.
    pub machine: Stalls,
    /// The control group of this process.
    pub cgroup: Stalls,
}

/// Waits for each resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// For a CPU.
    pub cpu: Reading<Stall>,
    /// For I/O.
    pub io: Reading<Stall>,
    /// For memory.
    pub memory: Reading<Stall>,
}

/// How long it was waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stall {
    /// Microseconds in which at least one task waited.
    pub some_us: u64,
    /// Microseconds in which all tasks waited that could have run.
    pub full_us: u64,
}

/// A block device and what it did while the run went on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskRecord {
    /// Name in `/sys/block`.
    pub name: String,
    /// What it did.
    pub counters: DiskCounters,
    /// What the devices did that it is made of (md, dm); empty for a plain one.
    pub slaves: Vec<DiskCounters>,
}

/// Counters of a block device over the run (differences of `/sys/block/X/stat`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskCounters {
    /// I/Os: read, write.
    pub ios: [u64; 2],
    /// Merged I/Os.
    pub merges: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// Milliseconds that I/Os took in sum.
    pub ticks_ms: [u64; 2],
    /// Weighted milliseconds in queue.
    pub in_queue_ms: u64,
    /// Percent of the time that the device was busy, at most 100.
    pub util_percent: f64,
}
