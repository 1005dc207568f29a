//! Refusals of the system, with the action that was refused.
//!
//! Must not know: words. Start reading at [`During`].

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;

/// The refused action, or the object for which it was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum During {
    /// None: the error alone is enough.
    Nothing,
    Job(String),
    File(String),
    Option(Cow<'static, str>),
    /// Opening a file, in a process that may have this many descriptors.
    Descriptors(u64),
    /// Dropping the cache of a file.
    CacheInvalidation(String),
    /// Searching for files below a directory (`opendir`).
    OpenDirectory(String),
    /// A command of a job (`exec_prerun`, `exec_postrun`).
    Command {
        /// `prerun`, `postrun`.
        kind: String,
        /// The command, or the file for its output.
        what: String,
    },
    /// `ioscheduler`, with its value.
    Scheduler(String),
    WriteIolog(String),
    /// `verify_crash_log`, with its path.
    CrashLog(String),
    /// Starting a thread of `verify_async`.
    CheckingThread {
        /// Number of the thread, from 1.
        number: usize,
        n_threads: usize,
    },
    StartTrigger,
    /// Waiting for the command of the trigger.
    AwaitTrigger,
    /// Measuring the idleness of the CPUs.
    Idleness,
    /// Writing rows of a performance log.
    WriteLog(String),
    CloseLog(Cow<'static, str>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SystemError {
    Call {
        operation: Cow<'static, str>,
        target: String,
        errno: i32,
    },
    /// Only an errno.
    Errno(i32),
    /// An error without an errno, in the words of the layer that found it.
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
