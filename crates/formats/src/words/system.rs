//! Refusals of the system, in words.
//!
//! Must not know: the caller. Start reading at [`text`].

use ferrio_stats::note::{During, SystemError};
use std::io;

/// The line.
pub(super) fn text(during: &During, error: &SystemError) -> String {
    let is_invalid = |errno: i32| io::Error::from_raw_os_error(errno).kind() == io::ErrorKind::InvalidInput;
    let is_unknown = matches!(error, SystemError::Call { errno, .. } if is_invalid(*errno));
    let error = said(error);
    match during {
        During::Nothing => format!("fio: {error}"),
        During::Job(name) | During::File(name) => format!("fio: {name}: {error}"),
        During::Option(name) => format!("fio: {name}: {error}"),
        During::Descriptors(limit) => {
            format!("fio: {error}: the limit is {limit} descriptors; raise it (ulimit -n) or set openfiles= below it")
        }
        During::CacheInvalidation(file) => format!("fio: cache invalidation of {file} failed: {error}"),
        During::OpenDirectory(tree) => format!("fio: opendir {tree}: {error}"),
        During::Command { kind, what } => format!("fio: exec_{kind}: {what}: {error}"),
        // As in fio; the kernel does not know the name, and no more is to be said.
        During::Scheduler(name) if is_unknown => format!("fio: unable to set io scheduler to {name}"),
        During::Scheduler(name) => format!("fio: unable to set io scheduler to {name}: {error}"),
        During::WriteIolog(path) => format!("fio: open write iolog {path}: {error}"),
        During::CrashLog(path) => format!("fio: verify_crash_log {path}: {error}"),
        During::CheckingThread { number, n_threads } => {
            format!("fio: verify_async: thread {number} of {n_threads}: {error}")
        }
        During::StartTrigger => format!("fio: cannot run the trigger command: {error}"),
        During::AwaitTrigger => format!("fio: lost the trigger command: {error}"),
        During::Idleness => format!("fio: how idle the CPUs are is not measured: {error}"),
        During::WriteLog(name) => format!("fio: cannot write log {name}: {error}"),
        During::CloseLog(kind) => format!("fio: cannot write {kind} log: {error}"),
    }
}

/// The text of the error itself, with its number.
pub(super) fn said(error: &SystemError) -> String {
    let of_errno = |errno: i32| io::Error::from_raw_os_error(errno).to_string();
    match error {
        SystemError::Call { operation, target, errno } => format!("{operation} {target}: {}", of_errno(*errno)),
        SystemError::Errno(errno) => of_errno(*errno),
        SystemError::Other(text) => text.clone(),
    }
}
