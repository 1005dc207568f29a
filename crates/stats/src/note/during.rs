//! What the system refused, and what was tried.
//!
//! Must not know: words. Start reading at [`During`].

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;

/// What was tried when the system refused, or for whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum During {
    /// The error says all.
    Nothing,
    /// For a job of this name.
    Job(String),
    /// For a file of this name.
    File(String),
    /// For an option of this name.
    Option(Cow<'static, str>),
    /// A file was to be opened, and a process may have so many descriptors.
    Descriptors(u64),
    /// The cache of a file was to be dropped.
    CacheInvalidation(String),
    /// The files below a directory were looked for (`opendir`).
    OpenDirectory(String),
    /// A command of a job (`exec_prerun`, `exec_postrun`).
    Command {
        /// `prerun`, `postrun`.
        kind: String,
        /// The command, or the file for what it prints.
        what: String,
    },
    /// `ioscheduler`, with its value.
    Scheduler(String),
    /// `write_iolog`, with its path.
    WriteIolog(String),
    /// `verify_crash_log`, with its path.
    CrashLog(String),
    /// A thread of `verify_async` was started.
    CheckingThread {
        /// Which, from 1.
        number: usize,
        /// Of how many.
        n_threads: usize,
    },
    /// The command of the trigger was started.
    StartTrigger,
    /// The command of the trigger was waited for.
    AwaitTrigger,
    /// How idle the CPUs are was to be measured.
    Idleness,
    /// Rows of a performance log were written.
    WriteLog(String),
    /// A performance log of this kind was closed.
    CloseLog(Cow<'static, str>),
}

/// What the system said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SystemError {
    /// A call failed.
    Call {
        /// Name of the call or of the step.
        operation: Cow<'static, str>,
        /// What it was done to.
        target: String,
        /// The answer.
        errno: i32,
    },
    /// An answer without further facts.
    Errno(i32),
    /// Something that has no errno, in the words of the layer that found it.
    Other(String),
}

impl From<&io::Error> for SystemError {
    fn from(error: &io::Error) -> Self {
        error.raw_os_error().map_or_else(|| Self::Other(error.to_string()), Self::Errno)
    }
}

impl From<&ferrio_sys::Error> for SystemError {
    fn from(error: &ferrio_sys::Error) -> Self {
        match error {
            ferrio_sys::Error::Call { operation, target, source } => match source.raw_os_error() {
                Some(errno) => Self::Call { operation: Cow::Borrowed(operation), target: target.clone(), errno },
                None => Self::Other(error.to_string()),
            },
            other => Self::Other(other.to_string()),
        }
    }
}
