//! Remarks and refusals of verification, beside what is wrong with blocks.
//!
//! Must not know: words. Start reading at [`VerifyNote`].

use super::SystemError;
use serde::{Deserialize, Serialize};

/// A remark or a refusal of verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerifyNote {
    /// A job has a file twice, and would write over its own blocks.
    HasFileTwice {
        /// Name of the file.
        file: String,
    },
    /// More writes than can be remembered.
    TooManyWrites {
        /// Those of a pass, where they were counted before it began.
        of_pass: Option<ManyWrites>,
        /// How many can be remembered.
        limit: u64,
        /// What helps.
        remedies: Vec<Remedy>,
    },
    /// `verify_only` of a job with a backlog whose writes lie over others in passes that nobody has counted.
    UncountedPasses,
    /// `verify_only` of a job that has trimmed in several passes, or beside a backlog.
    UncountedTrims,
    /// `verify_only` of writes over parts of others that were in flight together.
    RacedWrites,
    /// A thread of `verify_async` has panicked.
    CheckerPanicked,
    /// There is no memory for the blocks of the threads of `verify_async`.
    NoMemoryToCheck {
        /// Their blocks.
        n_blocks: u64,
    },
    /// A job ends where the state of an earlier run does.
    EndOfState {
        /// Number of the first write that is not known to be there.
        number: u64,
        /// Writes of that run; `None`: the write was in flight.
        n_writes: Option<u64>,
    },
    /// The state file of an earlier run cannot be read.
    StateUnreadable {
        /// Its path.
        path: String,
        /// The answer.
        errno: i32,
    },
    /// What is there is no state.
    StateBroken {
        /// Its path.
        path: String,
        /// What is wrong.
        fault: StateFault,
    },
    /// The state file cannot be written.
    StateNotWritten {
        /// Its path.
        path: String,
        /// What the system said; `None`: there is more to tell than a file holds.
        error: Option<SystemError>,
    },
    /// `verify_crash_log` with an engine that keeps nothing.
    JournalOfNothing {
        /// Name of the engine.
        engine: String,
    },
    /// `verify_crash_log` names a file of its job.
    JournalIsOwnFile {
        /// Its path.
        path: String,
    },
    /// `verify_crash_log` of a trace whose blocks could not be judged.
    JournalOfTrace(UnjudgedTrace),
    /// `verify_state_load` of a trace that writes nothing.
    StateOfReads,
    /// The lengths of a trace leave no room for headers.
    NoRoomForHeader {
        /// Header and checksum.
        area_bytes: u64,
        /// The header.
        header_bytes: u64,
    },
}

/// Writes that are counted before the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManyWrites {
    /// How many.
    pub n_writes: u64,
    /// The memory that as many as can be remembered take.
    pub limit_bytes: u64,
}

/// What helps against more writes than can be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Remedy {
    /// Larger blocks.
    LargerBlocks,
    /// Fewer writes.
    FewerWrites,
    /// Reading back between writes (`verify_backlog`).
    SmallBacklog,
    /// Generating again what is read back (`experimental_verify`).
    Regeneration,
}

/// Why bytes are no state of a verified job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StateFault {
    /// There are fewer bytes than the head has.
    NoHeader,
    /// The version is unknown.
    Version(u64),
    /// The length differs from that in the head, or is larger than that of any state.
    Length {
        /// How many bytes there are.
        found: u64,
        /// How many there are to be.
        wanted: u64,
    },
    /// The checksum is wrong, or the parts contradict each other.
    Corrupt,
}

/// Why the blocks of a trace could not be judged after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnjudgedTrace {
    /// It writes nothing.
    WritesNothing,
    /// It trims.
    Trims,
    /// Several of its files are one.
    SharesFiles,
    /// Its writes may lie over parts of others.
    WritesParts,
}
