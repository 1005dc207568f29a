//! Remarks and refusals of replays and of merging traces.
//!
//! Must not know: words. Start reading at [`ReplayNote`], then [`MergeNote`].

use super::SystemError;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A remark or a refusal of the replay of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplayNote {
    /// Something in a trace says nothing.
    Remark {
        /// Name of the trace; of the job, where traces are merged.
        whose: String,
        /// What it is.
        remark: TraceRemark,
    },
    /// A trace cannot be looked through.
    Refused {
        /// Name of the trace.
        trace: String,
        /// Why.
        why: TraceTrouble,
    },
    /// A trace that was looked through cannot be replayed, or not to its end.
    Broken(TraceTrouble),
    /// A device of a trace is none of this machine.
    NoDevice {
        /// Its major number.
        major: u32,
        /// Its minor number.
        minor: u32,
    },
}

/// Why a trace cannot be read on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceTrouble {
    /// The system has refused it.
    System(SystemError),
    /// What is in it.
    Fault(TraceFault),
    /// The run ended.
    Stopped,
}

/// What is in a trace, or not in it, so that it cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceFault {
    /// Nothing is in it.
    Empty,
    /// It is of no format that is known.
    Unsupported,
    /// It is none of blktrace, and only those can be merged.
    NotBlktrace,
    /// A record of blktrace has another magic number.
    Magic {
        /// What stands there.
        magic: u32,
        /// Where the record begins.
        offset: u64,
    },
    /// A record of blktrace has another version.
    Version {
        /// What stands there.
        version: u32,
        /// Where the record begins.
        offset: u64,
    },
    /// It names more files than a job may have.
    TooManyFiles {
        /// Files up to there.
        n_files: usize,
    },
    /// There is no I/O in it.
    NoIo {
        /// The trace's format.
        format: Cow<'static, str>,
    },
    /// There are only I/Os that `--readonly` leaves out.
    Readonly {
        /// The trace's format.
        format: Cow<'static, str>,
        /// I/Os left out.
        n_forbidden: u64,
    },
    /// It is not what it was in the first pass.
    Changed,
}

/// What is wrong with a trace and does not end its replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceRemark {
    /// A line that is none of its version.
    BadLine {
        /// Number of the line, from 1.
        number: u64,
        /// Version of the trace.
        version: u32,
        /// The line, as it may be shown.
        line: String,
    },
    /// A line with an action that files do not have.
    BadAction {
        /// Number of the line, from 1.
        number: u64,
        /// The line, as it may be shown.
        line: String,
    },
    /// A wait, which version 3 does not have.
    IgnoredWait {
        /// Number of the line, from 1.
        number: u64,
        /// The line, as it may be shown.
        line: String,
    },
    /// A line that is longer than any may be.
    LongLine {
        /// Number of the line, from 1.
        number: u64,
    },
    /// The trace ends within a record.
    CutRecord {
        /// Where the record begins.
        offset: u64,
    },
    /// I/Os without bytes, which are left out.
    EmptyIos {
        /// Where the first of them is.
        offset: u64,
    },
    /// An I/O of a place that no device has.
    ImpossibleIo {
        /// Where its record is.
        offset: u64,
        /// Its bytes.
        length_bytes: u32,
        /// Its place.
        sector: u64,
    },
    /// An I/O that `replay_align` moves past all that is.
    Unaligned {
        /// Its bytes.
        length_bytes: u64,
        /// Its place.
        offset_bytes: u64,
    },
    /// `--readonly` leaves out what is no read.
    Forbidden {
        /// How many.
        n_ios: u64,
    },
    /// There are more of these remarks.
    More {
        /// How many.
        n_more: u64,
    },
}

/// Why traces cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MergeNote {
    /// No job wants it, and nothing else is to be done.
    NothingToMerge,
    /// The traces of a job were not merged before the second signal.
    Stuck {
        /// Name of the job.
        job: String,
    },
    /// The traces of a job cannot be merged.
    Failed {
        /// Name of the job.
        job: String,
        /// Why.
        why: MergeFault,
    },
}

/// What is in the way of a merged trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MergeFault {
    /// Another job makes the same file of other traces.
    OutputOfAnotherJob {
        /// The file.
        output: String,
    },
    /// The file is there and no regular one.
    OutputIsNoFile {
        /// The file.
        output: String,
    },
    /// The file is one of the traces.
    OutputIsTrace {
        /// The file.
        output: String,
    },
    /// The file cannot be written.
    Output {
        /// The file.
        output: String,
        /// What the system said.
        error: SystemError,
    },
    /// One of the traces cannot be read.
    Trace {
        /// Name of the trace.
        trace: String,
        /// Why.
        why: TraceTrouble,
    },
    /// Some trace cannot be read on.
    Record(TraceTrouble),
}
