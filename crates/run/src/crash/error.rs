//! Why a check after a crash can say nothing.
//!
//! Must not know: how messages are shown. Start reading at [`CrashError`].

use crate::crash::history::Overlap;
use std::io;
use std::path::PathBuf;

/// Why a check after a crash can say nothing.
#[derive(Debug, thiserror::Error)]
pub enum CrashError {
    /// No job has a journal for the check after a crash.
    #[error("no job has a verify_crash_log")]
    NoJournal,
    /// A journal cannot be used to check a device after a crash.
    #[error("verify_crash_log {path}: {why}", path = .path.display())]
    Journal { path: PathBuf, why: JournalError },
}

/// Reason why a journal cannot be used to check a device after a crash.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is shorter than its head.
    #[error("it is no crash journal")]
    NoJournal,
    /// It does not begin like a journal of this version.
    #[error("it is no crash journal of this version")]
    Version,
    /// The checksum of its description is wrong.
    #[error("its first part is damaged")]
    Damaged,
    /// Its description cannot be parsed.
    #[error(transparent)]
    Description(#[from] serde_json::Error),
    /// Its block size is invalid.
    #[error("blocks of {block_bytes} bytes")]
    BlockSize { block_bytes: u64 },
    /// Bytes before the end are no record, and a crash does not leave such bytes. The records behind them are missing, so every
    /// verdict could be wrong.
    #[error(
        "it is damaged at byte {offset_bytes}, {n_bytes} bytes before its end: a crash only cuts the end off, so nothing is judged"
    )]
    DamagedRecord {
        /// Offset of the first record that is none, bytes.
        offset_bytes: u64,
        n_bytes: u64,
    },
    /// A record is of something that the job does not have.
    #[error("a record is of no file of the job, or of no block")]
    NoBlock,
    /// Some writes overlap others in part.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// Two jobs wrote to one place.
    #[error(
        "the job of {other} wrote to the same part of {file}: which write is the newest, no journal says",
        other = .other.display()
    )]
    Shared { other: PathBuf, file: String },
}
