//! Errors of a run: those of the whole run, and the error that ends a single job.
//!
//! Must not know: how messages are shown. Start reading at [`RunError`].

use ferrio_stats::note::MergeNote;
use ferrio_workload::verify::crash::history::Overlap;
use std::io;
use std::path::PathBuf;

/// Why a run cannot be started or supervised.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The operating system refused something that every run needs.
    #[error("{0}")]
    System(#[from] ferrio_sys::Error),
    /// A job asks for an engine that is not built.
    #[error("{job}: engine {engine} is not built in")]
    Engine {
        /// Name of the job.
        job: String,
        /// Name of the engine.
        engine: String,
    },
    /// A process that is forked while the C library's I/O threads run inherits their state but not the threads, and
    /// would wait for them for ever.
    #[error(
        "{job}: engine {engine} is used by threads and by processes of one run: give all these jobs the option thread, or none"
    )]
    ThreadsAndProcesses {
        /// Name of the first such job that runs as a process.
        job: String,
        /// Name of the engine.
        engine: &'static str,
    },
    /// The traces of a job cannot be merged; the note names the job and the reason.
    #[error("traces cannot be merged: {0:?}")]
    Merge(MergeNote),
    /// No job has a journal for the check after a crash.
    #[error("no job has a verify_crash_log")]
    NoJournal,
    /// A journal cannot be used to check a device after a crash.
    #[error("verify_crash_log {path}: {why}", path = .path.display())]
    Journal {
        /// Its path.
        path: PathBuf,
        /// Why.
        why: JournalError,
    },
    /// A job on virtual time that waits for another's lock would block in real time.
    #[error("lockfile and serialize_overlap between jobs cannot be used on virtual time")]
    LocksOnVirtualTime,
    /// The thread that writes performance logs cannot be started.
    #[error("cannot start to write logs: {0}")]
    Logs(io::Error),
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
    BlockSize {
        /// The size.
        block_bytes: u64,
    },
    /// Bytes before the end are no record, and a crash does not leave such bytes. The records behind them are missing, so every
    /// verdict could be wrong.
    #[error(
        "it is damaged at byte {offset_bytes}, {n_bytes} bytes before its end: a crash only cuts the end off, so nothing is judged"
    )]
    DamagedRecord {
        /// Offset of the first record that is none, bytes.
        offset_bytes: u64,
        /// Number of bytes from there to the end.
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
    Shared {
        /// Path of the other journal.
        other: PathBuf,
        /// Name of the file.
        file: String,
    },
}

pub use ferrio_stats::Failure;

/// Makes a [`Failure`] with the place in the source.
macro_rules! failure {
    ($errno:expr, $step:expr) => {
        $crate::error::Failure::new(
            $errno,
            format!("{}:{}", file!().rsplit('/').next().unwrap_or_default(), line!()),
            $step,
        )
    };
}
pub(crate) use failure;

/// Makes a [`Failure`] of an error that an engine has before the first I/O; `$step`: the step, where the error names none.
macro_rules! engine_failure {
    ($error:expr, $step:expr) => {{
        let error = $error;
        $crate::error::failure!(error.errno(), error.step().unwrap_or($step))
            .explained($crate::engine_notes::refused(None, &error))
    }};
}
pub(crate) use engine_failure;

/// The errno of an error of `ferrio-sys`; EIO if the kernel gave none.
pub(crate) fn errno_of(error: &ferrio_sys::Error) -> i32 {
    error.errno().unwrap_or(ferrio_sys::errno::EIO)
}
