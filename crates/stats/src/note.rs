//! Notes of a run: remarks and explanations of failures, as values. `formats` makes their words.
//!
//! Must not know: words, how notes are shown. Start reading at [`Note`].

mod block;
mod during;
mod engine;
mod file;
mod io;
mod replay;
mod run;
mod verify;
mod zone;

pub use block::{BadBlock, BlockDump, Damage, Fault, FaultKind};
pub use during::{During, SystemError};
pub use engine::EngineNote;
pub use ferrio_sys::scsi::queue::ScsiStatus;
pub use file::{DeviceUsage, FileNote};
pub use io::{DeviceStatus, IoNote, ProtectionField, RateMiss, StreamFault};
pub use replay::{MergeFault, MergeNote, ReplayNote, TraceFault, TracePlace, TraceRemark, TraceTrouble};
pub use run::RunNote;
pub use verify::{ManyWrites, Remedy, StateFault, UnjudgedTrace, VerifyNote};
pub use zone::ZoneNote;

use crate::Failure;
use ferrio_units::Wording;
use serde::{Deserialize, Serialize};

/// A remark, or the explanation of a failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Note {
    /// A text of the program or of the parsers. A run makes none.
    Text(String),
    /// A text of the program or of the parsers that fio words in another way than native commands.
    Worded {
        of_fio: String,
        /// The words of native commands.
        own: String,
    },
    Failed {
        /// Its process; 0: it was never started.
        pid: u32,
        failure: Box<Failure>,
    },
    /// The system has refused something.
    System {
        /// The action, or the object for which it was done.
        during: During,
        error: SystemError,
    },
    /// A note about the run, or about the set-up of a job.
    Run(RunNote),
    File(FileNote),
    Io(IoNote),
    Zone(ZoneNote),
    Verify(VerifyNote),
    Replay(ReplayNote),
    Engine {
        /// Name of the job, where the line has it.
        job: Option<String>,
        note: EngineNote,
    },
    /// The stream of I/Os of a job cannot be made.
    Stream {
        job: String,
        fault: StreamFault,
    },
    /// A signal has killed a job.
    Killed {
        pid: u32,
        signal: i32,
    },
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
    pub fn text(words: impl Into<String>) -> Self {
        Self::Text(words.into())
    }

    /// A sentence of the program that fio begins with its name.
    pub fn named(sentence: impl Into<String>) -> Self {
        let own = sentence.into();
        Self::Worded { of_fio: format!("{}{own}", Wording::Fio.mark()), own }
    }

    pub fn system(during: During, error: impl Into<SystemError>) -> Self {
        Self::System { during, error: error.into() }
    }
}
