//! What a run has to say: remarks and explanations of failures, as values. Their words are made by who shows them.
//!
//! Must not know: words, where anything is shown. Start reading at [`Note`].

mod during;
mod file;
mod io;
mod replay;
mod run;
mod verify;
mod zone;

pub use during::{During, SystemError};
pub use file::{DeviceUsage, FileNote};
pub use io::{IoNote, RateMiss};
pub use replay::{MergeFault, MergeNote, ReplayNote, TraceFault, TraceRemark, TraceTrouble};
pub use run::RunNote;
pub use verify::{ManyWrites, Remedy, StateFault, UnjudgedTrace, VerifyNote};
pub use zone::ZoneNote;

use crate::Failure;
use serde::{Deserialize, Serialize};

/// A remark, or the explanation of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// Words as they are: of who read the arguments, of an engine, or of a part of the run whose remarks are no values yet.
    Text(String),
    /// A job has failed.
    Failed {
        /// Its process; 0: it was never there.
        pid: u32,
        /// Why.
        failure: Box<Failure>,
    },
    /// The system has refused something.
    System {
        /// What was tried, or for whom.
        during: During,
        /// What it said.
        error: SystemError,
    },
    /// Of the run or of the set-up of a job.
    Run(RunNote),
    /// Of the files of a job.
    File(FileNote),
    /// Of the I/O of a job.
    Io(IoNote),
    /// Of the zones of a job.
    Zone(ZoneNote),
    /// Of verification.
    Verify(VerifyNote),
    /// Of the replay of a trace.
    Replay(ReplayNote),
    /// A signal has killed a job.
    Killed {
        /// Its process.
        pid: u32,
        /// The signal.
        signal: i32,
    },
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Note {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<RunNote> for Note {
    fn from(note: RunNote) -> Self {
        Self::Run(note)
    }
}

impl From<FileNote> for Note {
    fn from(note: FileNote) -> Self {
        Self::File(note)
    }
}

impl From<IoNote> for Note {
    fn from(note: IoNote) -> Self {
        Self::Io(note)
    }
}

impl From<ZoneNote> for Note {
    fn from(note: ZoneNote) -> Self {
        Self::Zone(note)
    }
}

impl From<VerifyNote> for Note {
    fn from(note: VerifyNote) -> Self {
        Self::Verify(note)
    }
}

impl From<ReplayNote> for Note {
    fn from(note: ReplayNote) -> Self {
        Self::Replay(note)
    }
}

impl Note {
    /// What the system has said.
    pub fn system(during: During, error: impl Into<SystemError>) -> Self {
        Self::System { during, error: error.into() }
    }
}
