//! What goes wrong in a run: errors of the whole run, and the one error that ends a job.
//!
//! Must not know: where messages go. Start reading at [`RunError`].

/// Why a run cannot be started or supervised.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The operating system refused something that every run needs.
    #[error("{0}")]
    System(#[from] ferrio_sys::Error),
    /// A job asks for an engine that is not built in.
    #[error("{job}: engine {engine} is not built in")]
    Engine {
        /// Name of the job.
        job: String,
        /// Name of the engine.
        engine: String,
    },
    /// A process that is forked beside threads of the C library would wait for them for ever.
    #[error(
        "{job}: engine {engine} is used by threads and by processes of one run: give all these jobs the option thread, or none"
    )]
    ThreadsAndProcesses {
        /// Name of the first such job that is a process.
        job: String,
        /// Name of the engine.
        engine: &'static str,
    },
    /// The traces of a job cannot be merged: which job, and why.
    #[error("{0}")]
    Merge(String),
    /// The traces of a job could not be merged before the second signal.
    #[error("fio: {0}: stuck while its traces are merged, given up after the second signal")]
    StuckMerge(String),
    /// Jobs on virtual time would wait for each other's locks for real.
    #[error("lockfile and serialize_overlap between jobs cannot be used on virtual time")]
    LocksOnVirtualTime,
    /// The thread that writes performance logs cannot be started.
    #[error("cannot start to write logs: {0}")]
    Logs(std::io::Error),
}

pub use ferrio_stats::Failure;

/// A [`Failure`] of this place in the source.
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

/// errno of an error of `ferrio-sys`; EIO when the kernel gave none.
pub(crate) fn errno_of(error: &ferrio_sys::Error) -> i32 {
    error.errno().unwrap_or(ferrio_sys::errno::EIO)
}
