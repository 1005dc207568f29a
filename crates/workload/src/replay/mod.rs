//! Replay of a trace: its entries, and the time at which each is due.
//!
//! A trace is never held in memory: a first pass ([`survey()`]) finds names and sizes, the replay reads it again.
//! Must not know: files, sockets, clocks. Start reading at [`survey()`], then `stream`.
//! Facts: reference, "`read_iolog` text format", "blktrace input".

mod blktrace;
mod depth;
mod merge;
mod names;
mod reader;
mod record;
mod remarks;
mod rules;
mod stream;
mod survey;
mod text;
mod trace;
mod window;

pub use merge::{Merge, MergeInput};
pub use names::TraceFile;
pub use remarks::Remarks;
pub use rules::ReplayRules;
pub use stream::{ReplayFigures, ReplayPlan};
pub use survey::{FileUse, Lengths, TraceSurvey, survey};
pub use window::TraceBytes;

pub(crate) use stream::ReplayStream;

use std::io;

/// Why a trace cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Reading failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The trace is empty.
    #[error("fio: unable to read iolog")]
    Empty,
    /// The format is unknown.
    #[error("fio: iolog version 1 is no longer supported")]
    Unsupported,
    /// The trace is not in the format of blktrace, the only one that can be merged.
    #[error("fio: file is not a blktrace")]
    NotBlktrace,
    /// A record of blktrace has another magic number.
    #[error("fio: bad magic in blktrace data: {magic:x} (at byte {offset})")]
    Magic {
        /// The number found.
        magic: u32,
        /// Offset of the record.
        offset: u64,
    },
    /// A record of blktrace has another version.
    #[error("fio: bad blktrace version {version} (at byte {offset})")]
    Version {
        /// The number found.
        version: u32,
        /// Offset of the record.
        offset: u64,
    },
    /// The trace names more files than a job may have.
    #[error("fio: the trace names more than {n_files} files")]
    TooManyFiles {
        /// Files named up to that point.
        n_files: usize,
    },
    /// The trace has no I/O.
    #[error("fio: found no ios in {0} data")]
    NoIo(&'static str),
    /// The trace has only I/Os that `--readonly` leaves out.
    #[error("fio: found no ios in {format} data that --readonly allows: it leaves out {n_forbidden} writes and trims")]
    Readonly {
        /// The trace's format.
        format: &'static str,
        /// I/Os left out.
        n_forbidden: u64,
    },
    /// The trace has changed since the first pass.
    #[error("fio: the trace changed while it was read")]
    Changed,
    /// The run ended while the trace was read.
    #[error("stopped")]
    Stopped,
}

#[cfg(test)]
mod tests;
