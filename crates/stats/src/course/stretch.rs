//! Figures of a worker over a stretch of time: an interval of a run, or all of it.
//!
//! Must not know: formats. Start reading at [`IntervalStats`].

use crate::{Failure, ReportMessage, ThreadStats};
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Figures of a worker over a stretch of time: the one form in which the supervisor, records of intervals, fleets and live views have an
/// interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalStats {
    pub job_name: String,
    /// Number of the worker in the run, from 1: clones have the same name.
    pub job_number: u32,
    pub group_index: u32,
    pub directions: PerDirection<bool>,
    /// `percentile_list`.
    pub percentiles: Vec<f64>,
    /// Start, nanoseconds since the start of the run.
    pub start_ns: u64,
    /// End, nanoseconds since the start of the run.
    pub end_ns: u64,
    /// Start of the run on the wall clock, milliseconds since 1970.
    pub run_epoch_ms: u64,
    /// Counts in this time.
    pub stats: ThreadStats,
    /// The worker's host, of a run on several; `None`: there is one.
    #[serde(default)]
    pub host: Option<StretchHost>,
}

/// A host of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StretchHost {
    pub name: String,
    /// Its rank, from 0.
    pub rank: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobEnd {
    /// The figures from the start of its I/O (after a ramp) to its end; an empty stretch if it never did I/O.
    pub stretch: IntervalStats,
    /// It got as far as doing I/O.
    pub has_started: bool,
    /// Process id, or thread id of a thread; 0: it was never started.
    pub pid: u32,
    /// The failure, if there was one.
    pub failure: Option<Failure>,
    pub killed_by: Option<i32>,
}

/// Something that was told in the course of a run of which intervals are recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LoggedEvent {
    /// Intervals are recorded from now on; told first.
    Begin {
        /// The run's start, milliseconds since 1970.
        run_epoch_ms: u64,
        interval_ns: u64,
    },
    Interval(Box<IntervalStats>),
    /// A worker has ended, or will never start.
    JobEnded(Box<JobEnd>),
    /// Something was said.
    Message {
        /// When, milliseconds since 1970.
        epoch_ms: u64,
        message: ReportMessage,
    },
    /// The run is over; told last.
    End {
        /// When, milliseconds since 1970.
        epoch_ms: u64,
        /// Exit code of the program.
        exit: u8,
        /// The signal that ended the run early.
        signal: Option<i32>,
        /// Time since its start.
        elapsed_ns: u64,
    },
}
