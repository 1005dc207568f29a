//! What goes wrong in a run: errors of the whole run, and the one error that ends a job.
//!
//! Must not know: where messages go. Start reading at [`JobError`].

use serde::{Deserialize, Serialize};

const EINTR: i32 = 4;

/// Step of [`JobError::stopped`].
const STOPPED: &str = "stopped";

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
    /// The thread that writes performance logs cannot be started.
    #[error("cannot start to write logs: {0}")]
    Logs(std::io::Error),
}

/// What ended a job: the errno of the exit code and the report, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobError {
    /// errno; never 0.
    pub errno: i32,
    /// Source file and line.
    pub place: String,
    /// Step that failed, a short name.
    pub step: String,
    /// Lines for the user, shown before the line of the error itself. Empty: nothing to add.
    pub message: String,
}

impl JobError {
    /// An error of a step, without further explanation. `place` is `file!():line!()`.
    pub fn new(errno: i32, place: impl Into<String>, step: impl Into<String>) -> Self {
        Self { errno, place: place.into(), step: step.into(), message: String::new() }
    }

    /// The run ended while the job was being set up: no error of the job.
    pub(crate) fn stopped() -> Self {
        Self::new(EINTR, "", STOPPED)
    }

    /// True for [`JobError::stopped`].
    pub(crate) fn is_stopped(&self) -> bool {
        self.errno == EINTR && self.step == STOPPED
    }

    /// Adds a line that explains it.
    #[must_use]
    pub fn explained(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The text of the report's brackets: `file:SRC:LINE, func=STEP, error=TEXT`, at most 127 bytes.
    pub fn report_text(&self) -> String {
        let mut text =
            format!("file:{}, func={}, error={}", self.place, self.step, ferrio_units::errno_text(self.errno));
        let mut end = text.len().min(127);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    }
}

/// A [`JobError`] of this place in the source.
macro_rules! job_error {
    ($errno:expr, $step:expr) => {
        $crate::error::JobError::new(
            $errno,
            format!("{}:{}", file!().rsplit('/').next().unwrap_or_default(), line!()),
            $step,
        )
    };
}
pub(crate) use job_error;

/// errno of an error of `ferrio-sys`; EIO when the kernel gave none.
pub(crate) fn errno_of(error: &ferrio_sys::Error) -> i32 {
    error.errno().unwrap_or(5)
}
