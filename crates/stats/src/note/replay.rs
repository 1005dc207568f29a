//! Remarks and refusals of replays and of merging traces.
//!
//! Must not know: words. Start reading at [`ReplayNote`], then [`MergeNote`].

use super::SystemError;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A remark or a refusal of the replay of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplayNote {
    /// A part of a trace is ignored.
    Remark {
        /// Name of the trace; if traces are merged, of the job.
        whose: String,
        remark: TraceRemark,
    },
    /// The survey of a trace failed.
    Refused { trace: String, why: TraceTrouble },
    /// An I/O that `replay_offset` moves beyond the end of its file or device.
    BeyondEnd {
        trace: String,
        /// Place of the I/O that reaches furthest in the file.
        place: TracePlace,
        file: String,
        /// End of the I/O after the move, bytes.
        end_bytes: u64,
        /// Size of the file or device, bytes.
        size_bytes: u64,
    },
    /// A trace was surveyed but cannot be replayed, or not to its end.
    Broken(TraceTrouble),
    /// This machine does not have a device of a trace.
    NoDevice { major: u32, minor: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TracePlace {
    /// Number of a line, from 1.
    Line(u64),
    /// Offset of a record of blktrace, bytes.
    Byte(u64),
}

/// Why reading a trace ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceTrouble {
    System(SystemError),
    Fault(TraceFault),
    /// The run ended.
    Stopped,
}

/// A fault of a trace that prevents its replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceFault {
    Empty,
    /// The format is unknown.
    Unsupported,
    /// The trace is not in the format of blktrace, the only one that can be merged.
    NotBlktrace,
    /// A record of blktrace has another magic number.
    Magic {
        magic: u32,
        offset: u64,
    },
    /// A record of blktrace has another version.
    Version {
        version: u32,
        offset: u64,
    },
    /// The trace names more files than a job may have.
    TooManyFiles {
        /// Files named up to that point.
        n_files: usize,
    },
    NoIo {
        format: Cow<'static, str>,
    },
    /// The trace has only I/Os that `--readonly` leaves out.
    Readonly {
        format: Cow<'static, str>,
        /// I/Os left out.
        n_forbidden: u64,
    },
    /// An I/O that `replay_offset` moves behind all possible offsets.
    MovedAway {
        place: TracePlace,
        length_bytes: u64,
        /// Its offset before the move, bytes.
        offset_bytes: u64,
        /// By how much it would be moved, bytes.
        by_bytes: u64,
    },
    /// The trace has changed since the first pass.
    Changed,
}

/// A fault of a trace that does not end its replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceRemark {
    /// A line that is invalid in its version.
    BadLine {
        /// Number of the line, from 1.
        number: u64,
        version: u32,
        /// The line, in printable form.
        line: String,
    },
    /// A line with an unknown file action.
    BadAction {
        /// Number of the line, from 1.
        number: u64,
        /// The line, in printable form.
        line: String,
    },
    /// A `wait`, which version 3 does not have.
    IgnoredWait {
        /// Number of the line, from 1.
        number: u64,
        /// The line, in printable form.
        line: String,
    },
    /// A line that is too long.
    LongLine {
        /// Number of the line, from 1.
        number: u64,
    },
    /// The trace ends within a record.
    CutRecord { offset: u64 },
    /// I/Os of length 0, which are left out.
    EmptyIos {
        /// Offset of the first of them.
        offset: u64,
    },
    ImpossibleIo {
        offset: u64,
        length_bytes: u32,
        /// Its first sector.
        sector: u64,
    },
    /// An I/O that `replay_align` moves behind all possible offsets.
    Unaligned { length_bytes: u64, offset_bytes: u64 },
    /// Writes and trims that `--readonly` leaves out.
    Forbidden { n_ios: u64 },
    /// Further remarks that are not shown.
    More { n_more: u64 },
}

/// Reason why traces cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MergeNote {
    /// No job wants a merge, and nothing else is to be done.
    NothingToMerge,
    /// The traces of a job were not merged before the second signal.
    Stuck { job: String },
    /// The traces of a job cannot be merged.
    Failed { job: String, why: MergeFault },
    /// The thread that merges the traces of a job could not be started.
    NoThread { job: String, errno: i32 },
}

/// Why a merged trace cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MergeFault {
    /// Another job makes the same file from other traces.
    OutputOfAnotherJob {
        output: String,
    },
    /// The file exists and is not a regular one.
    OutputIsNoFile {
        output: String,
    },
    OutputIsTrace {
        output: String,
    },
    /// The file cannot be written.
    Output {
        output: String,
        error: SystemError,
    },
    /// One of the traces cannot be read.
    Trace {
        trace: String,
        why: TraceTrouble,
    },
    /// Reading one of the traces ended early.
    Record(TraceTrouble),
}
