//! Errors of a run: those of the whole run, and the error that ends a single job.
//!
//! Must not know: how messages are shown. Start reading at [`RunError`].

use ferrio_stats::note::MergeNote;
use ferrio_units::humanize::{bytes_text, thousands};
use std::io;

/// Why a run cannot be started or supervised.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The operating system refused something that every run needs.
    #[error("{0}")]
    System(#[from] ferrio_sys::Error),
    #[error("{job}: engine {engine} is not built in")]
    Engine { job: String, engine: String },
    /// A process that is forked while the C library's I/O threads run inherits their state but not the threads, and
    /// would wait for them for ever.
    #[error(
        "{job}: engine {engine} is used by threads and by processes of one run: give all these jobs the option thread, or none"
    )]
    ThreadsAndProcesses {
        /// Name of the first such job that runs as a process.
        job: String,
        engine: &'static str,
    },
    /// Jobs that share a stream have different blocks.
    #[error(
        "{job}: shared_stream={stream}: jobs of a stream have the same filename, directory, size, offset, bs, loops and time_based, and \
         this one has not those of the first"
    )]
    SharedStream { job: String, stream: String },
    /// The machine cannot carry so many jobs.
    #[error("{0}")]
    TooManyJobs(TooManyJobs),
    /// The traces of a job cannot be merged; the note names the job and the reason.
    #[error("traces cannot be merged: {0:?}")]
    Merge(MergeNote),
    /// A job on virtual time that waits for another's lock would block in real time.
    #[error("lockfile and serialize_overlap between jobs cannot be used on virtual time")]
    LocksOnVirtualTime,
    /// A job on real time among others on virtual time: neither could wait for the other.
    #[error(
        "{job}: other jobs of the run are on virtual time (sim_time=virtual), so this one needs ioengine=sim and sim_time=virtual too"
    )]
    MixedTimes {
        /// Name of the first job on real time.
        job: String,
    },
    /// The run was to be made by something else than this process, and could not.
    #[error("{0}")]
    Elsewhere(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The thread that writes performance logs cannot be started.
    #[error("cannot start to write logs: {0}")]
    Logs(io::Error),
}

/// What a machine has too little of for the jobs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooManyJobs {
    #[error(
        "{} jobs at the same time, and the system allows {} processes and threads ({setting}): set a lower numjobs",
        thousands(*.n_jobs), thousands(*.limit)
    )]
    Processes {
        /// The number of jobs at the same time.
        n_jobs: u64,
        /// The largest number of processes and threads.
        limit: u64,
        /// What sets the limit.
        setting: &'static str,
    },
    #[error(
        "{} jobs take at least {} of memory, and there are {}: set a lower numjobs",
        thousands(*.n_jobs), bytes_text(*.needed_bytes), bytes_text(*.limit_bytes)
    )]
    Memory {
        n_jobs: u64,
        /// Memory that they take at least.
        needed_bytes: u64,
        /// Memory of the machine, or that the process may take.
        limit_bytes: u64,
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
