//! Why the kernel's counters of a file are not known.
//!
//! Must not know: single counters. Start reading at [`CounterError`].

use std::io;
use std::path::{Path, PathBuf};

/// Why counters are not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CounterError {
    /// Their file cannot be read.
    #[error("{}: {why}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The answer of the system.
        why: String,
    },
    /// Their file has another form than it has on the kernels that are known.
    #[error("{} is not understood", .0.display())]
    NotUnderstood(PathBuf),
}

pub(super) fn read_counters<T>(
    path: impl AsRef<Path>,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, CounterError> {
    let path = path.as_ref();
    let unreadable = |error: io::Error| CounterError::Unreadable { path: path.to_owned(), why: error.to_string() };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(&text).ok_or_else(|| CounterError::NotUnderstood(path.to_owned()))
}
