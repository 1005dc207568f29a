//! What a worker sends to the supervisor, in one form whether it is a thread or a process.
//!
//! Must not know: how messages travel. Start reading at [`WorkerMessage`].

use crate::error::Failure;
use crate::events::{MessageStream, RunEvent};
use ferrio_stats::{Note, SteadySample, ThreadStats};
use serde::{Deserialize, Serialize};

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WorkerMessage {
    /// Something is said.
    Note(MessageStream, Note),
    /// Lines of `--debug`.
    Trace(String),
    /// Files are laid out now: number and bytes.
    LayingOut(u64, u64),
    /// Statistics so far, as they were asked for.
    Snapshot(Box<ThreadStats>),
    /// All that was counted until the end of an interval.
    Interval(Box<IntervalFigures>),
    /// What it did in an interval, for a search for a steady state.
    Steady(SteadySample),
    /// The worker is done.
    Outcome(Box<WorkerOutcome>),
}

/// What a worker had counted at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalFigures {
    /// The moment on the run's clock, nanoseconds.
    pub at_ns: u64,
    /// All that it had counted.
    pub stats: ThreadStats,
}

/// Results of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerOutcome {
    /// What it counted; boxed, because each frame that it passes through by value is memory of each of a thousand processes.
    pub stats: Box<ThreadStats>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// It got as far as doing I/O.
    pub has_started: bool,
    /// The moment to which the figures belong on the run's clock, nanoseconds; `None`: it was lost, or never began.
    pub ended_at_ns: Option<u64>,
}

impl WorkerOutcome {
    /// Results, with the failure entered into the statistics.
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
    /// The message for an event of the layout.
    pub(crate) fn from_layout(event: RunEvent) -> Self {
        match event {
            RunEvent::LayingOut { n_files, total_bytes, .. } => Self::LayingOut(n_files, total_bytes),
            RunEvent::Message(stream, note) => Self::Note(stream, note),
            RunEvent::Trace(text) => Self::Trace(text),
            _ => Self::Trace(String::new()),
        }
    }
}
