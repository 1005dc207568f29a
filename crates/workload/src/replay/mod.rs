//! Replaying a trace: what it holds, entry by entry, and when each is due.
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
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Nothing is in it.
    #[error("fio: unable to read iolog")]
    Empty,
    /// It is of no format that is known.
    #[error("fio: iolog version 1 is no longer supported")]
    Unsupported,
    /// It is none of blktrace, and only those can be merged.
    #[error("fio: file is not a blktrace")]
    NotBlktrace,
    /// A record of blktrace has another magic number.
    #[error("fio: bad magic in blktrace data: {magic:x} (at byte {offset})")]
    Magic {
        /// What stands there.
        magic: u32,
        /// Where the record begins.
        offset: u64,
    },
    /// A record of blktrace has another version.
    #[error("fio: bad blktrace version {version} (at byte {offset})")]
    Version {
        /// What stands there.
        version: u32,
        /// Where the record begins.
        offset: u64,
    },
    /// It names more files than a job may have.
    #[error("fio: the trace names more than {n_files} files")]
    TooManyFiles {
        /// Files up to there.
        n_files: usize,
    },
    /// There is no I/O in it.
    #[error("fio: found no ios in {0} data")]
    NoIo(&'static str),
    /// There are only I/Os that `--readonly` leaves out.
    #[error("fio: found no ios in {format} data that --readonly allows: it leaves out {n_forbidden} writes and trims")]
    Readonly {
        /// The trace's format.
        format: &'static str,
        /// I/Os left out.
        n_forbidden: u64,
    },
    /// It is not what it was in the first pass.
    #[error("fio: the trace changed while it was read")]
    Changed,
    /// The run ended while the trace was read.
    #[error("stopped")]
    Stopped,
}

#[cfg(test)]
mod tests;
