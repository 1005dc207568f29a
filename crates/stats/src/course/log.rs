//! Performance logs: rows, log files, and the sink for rows.
//!
//! Must not know: how rows look on disk, where they come from. Start reading at [`LogRow`] and [`LogSink`].
//! Facts: reference "Performance logs".

use crate::distribution::histogram::N_BUCKETS;
use ferrio_units::DataDirection;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LogKind {
    /// Bandwidth: kB/s (1000) of one I/O, KiB/s (1024) of a window.
    Bw,
    /// I/Os per second of a window; 1 for a single I/O.
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

/// Optional columns of a log, beside time, value, direction, block size and priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogColumns {
    /// Maximum after the value (`log_window_value=both`).
    pub maximum: bool,
    /// Byte offset (`log_offset`).
    pub offset: bool,
    /// The whole priority (`log_prio`), not only 0 or 1.
    pub full_priority: bool,
    pub issue_time: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// Name before the kind: the option's value, or the name of the job.
    pub prefix: PathBuf,
    pub kind: LogKind,
    /// Number of the worker in the run, from 1. `None`: one file for all workers, to which they append.
    pub worker_number: Option<u32>,
    pub columns: LogColumns,
    /// `log_hist_coarseness`: how many neighbouring buckets are joined, as a power of two; 0 to 6.
    pub coarseness: u32,
    /// `log_store_compressed`: length of the records in one compressed piece, bytes; `None`: text.
    pub compressed_chunk_bytes: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRow {
    /// Milliseconds since the start of the job, or of the clock that the job asks for.
    pub time_ms: u64,
    pub value: u64,
    /// Largest value of a window; 0 for a single I/O.
    pub maximum: u64,
    /// Direction of the I/O, or of the window.
    pub direction: DataDirection,
    /// Length of the I/O, bytes; 0 for a window.
    pub block_bytes: u64,
    /// Offset of the I/O; 0 for a window.
    pub offset_bytes: u64,
    /// Priority of the I/O in the kernel's encoding; 0 for a window.
    pub ioprio: u16,
    /// Time of its submission, nanoseconds since the start of the job; 0 if it is not logged.
    pub issue_ns: u64,
}

impl LogRow {
    /// A row for a window, not for a single I/O.
    pub const fn of_window(time_ms: u64, direction: DataDirection, value: u64, maximum: u64) -> Self {
        Self { time_ms, value, maximum, direction, block_bytes: 0, offset_bytes: 0, ioprio: 0, issue_ns: 0 }
    }
}

/// A row of a histogram log: the counts since the last row of this direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramRow {
    /// Milliseconds since the start of the job, or of the clock that the job asks for.
    pub time_ms: u64,
    pub direction: DataDirection,
    /// Length of the last I/O in the interval, bytes.
    pub block_bytes: u64,
    /// Counts by bucket of [`crate::distribution::histogram`].
    pub counts: Box<[u64; N_BUCKETS]>,
}

/// Number of an open log, from its sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogId(pub usize);

/// Takes the rows of all logs of a run, in a separate thread.
///
/// Each call writes whole rows: they are in the file, or the call returns an error. After an error the log takes
/// nothing more, and its file ends with a whole row.
pub trait LogSink: Send {
    fn open(&mut self, file: &LogFile) -> io::Result<LogId>;
    fn rows(&mut self, log: LogId, rows: &[LogRow]) -> io::Result<()>;
    fn histogram(&mut self, log: LogId, row: &HistogramRow) -> io::Result<()>;
    fn close(&mut self, log: LogId) -> io::Result<()>;
    fn name(&self, file: &LogFile) -> PathBuf;
}
