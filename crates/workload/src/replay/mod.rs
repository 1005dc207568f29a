//! Replay of a trace: its entries, and the time at which each is due.
//!
//! A trace is never held in memory: a first pass ([`survey()`]) finds names and sizes, the replay reads it again.
//! Must not know: files, sockets, clocks. Start reading at [`survey()`], then `stream`.
//! Facts: reference, "`read_iolog` text format", "blktrace input".

mod blktrace;
mod depth;
mod events;
mod merge;
mod names;
mod profile;
mod profiled_task;
mod reader;
mod record;
mod rules;
mod stream;
mod survey;
mod text;
mod trace;
mod window;

pub use merge::{Merge, MergeInput};
pub use names::TraceFile;
pub use profile::{TraceProfile, profile};
pub use profiled_task::{DirectionProfile, ProfiledTask};
pub use rules::Remarks;
pub use rules::ReplayRules;
pub use stream::{ReplayPlan, ReplayStream};
pub use survey::{FileReach, FileUse, Lengths, TraceSurvey, survey};
pub use window::TraceBytes;

use ferrio_stats::note::{TraceFault, TraceTrouble};
use std::io;

/// Why a trace cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Reading failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is not a trace, or it cannot be replayed.
    #[error("the trace cannot be replayed: {0:?}")]
    Fault(TraceFault),
    /// The run ended while the trace was read.
    #[error("stopped")]
    Stopped,
}

impl From<TraceFault> for TraceError {
    fn from(fault: TraceFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<&TraceError> for TraceTrouble {
    fn from(error: &TraceError) -> Self {
        match error {
            TraceError::Io(error) => Self::System(error.into()),
            TraceError::Fault(fault) => Self::Fault(fault.clone()),
            TraceError::Stopped => Self::Stopped,
        }
    }
}

#[cfg(test)]
mod tests;
