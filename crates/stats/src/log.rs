//! Performance logs: what a row says, what a log file is, and who takes the rows.
//!
//! Must not know: how rows look on disk, who makes them. Start reading at [`LogRow`] and [`LogSink`].
//! Facts: reference "Performance logs".

use crate::histogram::N_BUCKETS;
use ferrio_units::DataDirection;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// What the values of a log are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LogKind {
    /// Bandwidth: kB/s (1000) of one I/O, KiB/s (1024) of a window.
    Bw,
    /// I/Os per second of a window; 1 for each I/O.
    Iops,
    /// Submission latency, nanoseconds.
    Slat,
    /// Completion latency, nanoseconds.
    Clat,
    /// Total latency, nanoseconds.
    Lat,
    /// Histograms of completion latencies.
    ClatHist,
}

impl LogKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::Bw, Self::Iops, Self::Slat, Self::Clat, Self::Lat, Self::ClatHist];

    /// The word in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bw => "bw",
            Self::Iops => "iops",
            Self::Slat => "slat",
            Self::Clat => "clat",
            Self::Lat => "lat",
            Self::ClatHist => "clat_hist",
        }
    }
}

/// Columns that a log may have beside time, value, direction, block size and priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogColumns {
    /// Maximum after the value (`log_window_value=both`).
    pub maximum: bool,
    /// Byte offset (`log_offset`).
    pub offset: bool,
    /// Priority in full (`log_prio`), not as 0 or 1.
    pub full_priority: bool,
    /// Issue time (`log_issue_time`).
    pub issue_time: bool,
}

/// A log file to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// Name up to the kind: the option's value, or the name of the job.
    pub prefix: PathBuf,
    /// What is logged.
    pub kind: LogKind,
    /// Number of the worker in the run, from 1. `None`: one file for all workers, which is appended to.
    pub worker_number: Option<u32>,
    /// Columns.
    pub columns: LogColumns,
    /// `log_hist_coarseness`: neighbouring buckets that are one, as a power of two; 0 to 6.
    pub coarseness: u32,
    /// `log_store_compressed`: bytes of records that go into one compressed piece; `None`: text.
    pub compressed_chunk_bytes: Option<usize>,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRow {
    /// Milliseconds since the job's start, or of the clock that the job wants.
    pub time_ms: u64,
    /// The value, in the unit of its [`LogKind`].
    pub value: u64,
    /// Largest value of a window; 0 for a single I/O.
    pub maximum: u64,
    /// Direction of the I/O, or of the window.
    pub direction: DataDirection,
    /// Bytes of the I/O; 0 for a window.
    pub block_bytes: u64,
    /// Where the I/O was; 0 for a window.
    pub offset_bytes: u64,
    /// Its priority as the kernel has it; 0 for a window.
    pub ioprio: u16,
    /// When it was issued, nanoseconds since the job's start; 0 where it is not logged.
    pub issue_ns: u64,
}

impl LogRow {
    /// A row for a stretch of time, which is no single I/O.
    pub const fn of_window(time_ms: u64, direction: DataDirection, value: u64, maximum: u64) -> Self {
        Self { time_ms, value, maximum, direction, block_bytes: 0, offset_bytes: 0, ioprio: 0, issue_ns: 0 }
    }
}

/// One row of a histogram log: what came since the last of this direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramRow {
    /// Milliseconds since the job's start, or of the clock that the job wants.
    pub time_ms: u64,
    /// Direction.
    pub direction: DataDirection,
    /// Bytes of the I/O that ended the interval.
    pub block_bytes: u64,
    /// Counts by bucket of [`crate::histogram`].
    pub counts: Box<[u64; N_BUCKETS]>,
}

/// Number of an open log, from its sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogId(pub usize);

/// Takes the rows of all logs of a run, as they come, on a thread of its own.
///
/// Each call writes whole rows: what was taken is in the file, or an error says so. After an error a log takes nothing
/// more, and its file ends with a whole row.
pub trait LogSink: Send {
    /// Opens a log.
    fn open(&mut self, file: &LogFile) -> io::Result<LogId>;
    /// Takes rows.
    fn rows(&mut self, log: LogId, rows: &[LogRow]) -> io::Result<()>;
    /// Takes a row of a histogram log.
    fn histogram(&mut self, log: LogId, row: &HistogramRow) -> io::Result<()>;
    /// Ends a log.
    fn close(&mut self, log: LogId) -> io::Result<()>;
    /// Name of the file, for messages.
    fn name(&self, file: &LogFile) -> PathBuf;
}
