//! Remarks and refusals of verification.
//!
//! Must not know: words. Start reading at [`VerifyNote`].

use super::{BadBlock, SystemError};
use serde::{Deserialize, Serialize};

/// A remark or a refusal of verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerifyNote {
    /// A block differs from what was written.
    BadBlock(Box<BadBlock>),
    /// A job has a file twice, and would overwrite its own blocks.
    HasFileTwice { file: String },
    /// More writes than can be remembered.
    TooManyWrites {
        /// The writes of a pass, if they were counted before it began.
        of_pass: Option<ManyWrites>,
        /// Number of writes that can be remembered.
        limit: u64,
        remedies: Vec<Remedy>,
    },
    /// `verify_only` of a job with a backlog whose writes overlap, where the number of its passes is unknown.
    UncountedPasses,
    /// `verify_only` of a job that has trimmed in several passes, or together with a backlog.
    UncountedTrims,
    /// `verify_only` of writes that overlapped in part and were in flight together.
    RacedWrites,
    /// A thread of `verify_async` has panicked.
    CheckerPanicked,
    /// There is no memory for the blocks of the threads of `verify_async`.
    NoMemoryToCheck { n_blocks: u64 },
    /// A job ends where the state of an earlier run ends.
    EndOfState {
        /// Number of the first write that is not known to be on the device.
        number: u64,
        /// Number of writes of that run; `None`: the write was in flight.
        n_writes: Option<u64>,
    },
    /// The state file of an earlier run cannot be read.
    StateUnreadable { path: String, errno: i32 },
    /// The file is no state.
    StateBroken { path: String, fault: StateFault },
    /// The state file cannot be written.
    StateNotWritten {
        path: String,
        /// The answer of the system; `None`: there are more writes than a file can list.
        error: Option<SystemError>,
    },
    /// `verify_crash_log` of a job whose writes do not all leave their data.
    JournalOfOtherWrites,
    /// `verify_crash_log` with an engine that stores no data.
    JournalOfNothing { engine: String },
    /// `verify_crash_log` names a file of its job.
    JournalIsOwnFile { path: String },
    /// `verify_crash_log` of a trace whose blocks cannot be judged.
    JournalOfTrace(UnjudgedTrace),
    /// `verify_state_load` of a trace that writes nothing.
    StateOfReads,
    /// The lengths of a trace's I/Os leave no room for headers.
    NoRoomForHeader {
        /// Length of header and checksum.
        area_bytes: u64,
        header_bytes: u64,
    },
}

/// Writes that are counted before the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManyWrites {
    pub n_writes: u64,
    /// Memory for the largest number that can be remembered.
    pub limit_bytes: u64,
}

/// A remedy against too many writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Remedy {
    LargerBlocks,
    FewerWrites,
    /// Read back between writes (`verify_backlog`).
    SmallBacklog,
    /// Make the writes again instead of remembering them (`experimental_verify`).
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
        /// Number of bytes found.
        found: u64,
        /// Expected number of bytes.
        wanted: u64,
    },
    /// The checksum is wrong, or the parts contradict each other.
    Corrupt,
}

/// Why the blocks of a trace cannot be judged after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnjudgedTrace {
    WritesNothing,
    Trims,
    /// Several of its names are the same file.
    SharesFiles,
    /// Its writes may overlap in part.
    WritesParts,
}
