//! Messages of a worker to the supervisor, in the same form from a thread and from a process.
//!
//! Must not know: how messages travel. Start reading at [`WorkerMessage`].

use crate::error::Failure;
use crate::events::{MessageStream, RunEvent};
use ferrio_stats::wire::packed;
use ferrio_stats::{Note, SteadySample, ThreadStats};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WorkerMessage {
    Note(MessageStream, #[serde(with = "packed")] Note),
    /// Lines of `--debug`.
    Trace(String),
    /// Files are being laid out: their number and total size in bytes.
    LayingOut(u64, u64),
    /// Statistics so far, on request.
    Snapshot(#[serde(with = "packed")] Box<ThreadStats>),
    /// Statistics at the end of an interval.
    Interval(Box<WorkerSnapshot>),
    /// Figures of an interval for the search for a steady state.
    Steady(SteadySample),
    Outcome(Box<WorkerOutcome>),
}

/// All that a worker has counted up to a certain time. An interval ([`ferrio_stats::IntervalStats`]) is the difference of two of these: the
/// worker keeps no second set of counters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerSnapshot {
    /// The time on the run's clock, nanoseconds.
    pub at_ns: u64,
    /// The time at which the interval was to end; no I/O completed between it and `at_ns`, except at `at_ns` itself.
    pub due_ns: u64,
    #[serde(with = "packed")]
    pub stats: ThreadStats,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerOutcome {
    /// Statistics. Boxed: by value, each stack frame that the outcome passes through would cost memory in each of a
    /// thousand processes.
    #[serde(with = "packed")]
    pub stats: Box<ThreadStats>,
    /// The error that ended the job, if there was one.
    #[serde(with = "packed")]
    pub failure: Option<Failure>,
    /// The worker got as far as doing I/O.
    pub has_started: bool,
    /// The time of the figures on the run's clock, nanoseconds; `None`: the worker was lost, or never began.
    pub ended_at_ns: Option<u64>,
}

impl WorkerOutcome {
    /// Results; a failure is also recorded in the statistics.
    pub fn new(mut stats: Box<ThreadStats>, failure: Option<Failure>, has_started: bool) -> Self {
        if let Some(error) = &failure {
            stats.errno = error.errno;
        } else if stats.tolerated.n_total > 0 {
            stats.errno = stats.tolerated.first_errno;
        }
        Self { stats, failure, has_started, ended_at_ns: None }
    }
}

impl WorkerMessage {
    pub(crate) fn from_layout(event: RunEvent) -> Self {
        match event {
            RunEvent::LayingOut { n_files, total_bytes, .. } => Self::LayingOut(n_files, total_bytes),
            RunEvent::Message(stream, note) => Self::Note(stream, note),
            RunEvent::Trace(text) => Self::Trace(text),
            _ => Self::Trace(String::new()),
        }
    }
}
