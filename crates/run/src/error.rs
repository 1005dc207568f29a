//! Errors of a run: those of the whole run, and the error that ends a single job.
//!
//! Must not know: how messages are shown. Start reading at [`RunError`].

use ferrio_stats::note::MergeNote;
use std::io;

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
    /// A job on virtual time that waits for another's lock would block in real time.
    #[error("lockfile and serialize_overlap between jobs cannot be used on virtual time")]
    LocksOnVirtualTime,
    /// The thread that writes performance logs cannot be started.
    #[error("cannot start to write logs: {0}")]
    Logs(io::Error),
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
