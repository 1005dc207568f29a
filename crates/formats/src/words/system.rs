//! Refusals of the system, in words.
//!
//! Must not know: the caller. Start reading at [`text`].

use ferrio_stats::note::{During, SystemError};
use std::io;

/// The line.
pub(super) fn text(during: &During, error: &SystemError, mark: &str) -> String {
    let is_invalid = |errno: i32| io::Error::from_raw_os_error(errno).kind() == io::ErrorKind::InvalidInput;
    let is_unknown = matches!(error, SystemError::Call { errno, .. } if is_invalid(*errno));
    let error = said(error);
    match during {
        During::Nothing => format!("{mark}{error}"),
        During::Job(name) | During::File(name) => format!("{mark}{name}: {error}"),
        During::Option(name) => format!("{mark}{name}: {error}"),
        During::Descriptors(limit) => {
            format!("{mark}{error}: the limit is {limit} descriptors; raise it (ulimit -n) or set openfiles= below it")
        }
        During::CacheInvalidation(file) => format!("{mark}cache invalidation of {file} failed: {error}"),
        During::OpenDirectory(tree) => format!("{mark}opendir {tree}: {error}"),
        During::Command { kind, what } => format!("{mark}exec_{kind}: {what}: {error}"),
        // As in fio; the kernel does not know the name, and no more is to be said.
        During::Scheduler(name) if is_unknown => format!("{mark}unable to set io scheduler to {name}"),
        During::Scheduler(name) => format!("{mark}unable to set io scheduler to {name}: {error}"),
        During::WriteIolog(path) => format!("{mark}open write iolog {path}: {error}"),
        During::CrashLog(path) => format!("{mark}verify_crash_log {path}: {error}"),
        During::CheckingThread { number, n_threads } => {
            format!("{mark}verify_async: thread {number} of {n_threads}: {error}")
        }
        During::StartTrigger => format!("{mark}cannot run the trigger command: {error}"),
        During::AwaitTrigger => format!("{mark}lost the trigger command: {error}"),
        During::Idleness => format!("{mark}how idle the CPUs are is not measured: {error}"),
        During::WriteLog(name) => format!("{mark}cannot write log {name}: {error}"),
        During::CloseLog(kind) => format!("{mark}cannot write {kind} log: {error}"),
    }
}

pub(super) fn said(error: &SystemError) -> String {
    let of_errno = |errno: i32| io::Error::from_raw_os_error(errno).to_string();
    match error {
        SystemError::Call { operation, target, errno } => format!("{operation} {target}: {}", of_errno(*errno)),
        SystemError::Errno(errno) => of_errno(*errno),
        SystemError::Other(text) => text.clone(),
    }
}
