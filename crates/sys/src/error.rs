//! The one error type of this crate.
//!
//! Must not know: who reports it. Every variant that comes from the kernel keeps the `std::io::Error` with its errno as
//! source, and has the operation and its object.

use std::io;

/// Result of all functions of this crate that are not called for each I/O. The calls of the hot path return
/// [`crate::Errno`] instead.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error("{operation}{}{target}: {source}", if .target.is_empty() { "" } else { " " })]
    Call {
        /// Name of the system call or of the step, such as `open`.
        operation: &'static str,
        /// Object of the operation: a path, a process id, a size.
        target: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Memory for I/O buffers could not be had.
    #[error("{kind} memory of {size_bytes} bytes: {source}{hint}")]
    Arena {
        /// The kind of memory, as a user asks for it.
        kind: String,
        /// Usable bytes that were wanted.
        size_bytes: usize,
        /// A likely reason, as ` (...)`, or empty.
        hint: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A text from the kernel or from a user has another form than documented.
    #[error("unexpected {what}: {text:?}")]
    Parse {
        /// The expected form of the text.
        what: &'static str,
        /// The text, or the part of it that does not fit.
        text: String,
    },
    /// This machine or kernel does not offer the requested feature.
    #[error("{what} is not available: {reason}")]
    Unavailable { what: &'static str, reason: String },
}

impl Error {
    /// The errno behind the error, if the kernel gave one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Call { source, .. } | Self::Arena { source, .. } => source.raw_os_error(),
            Self::Parse { .. } | Self::Unavailable { .. } => None,
        }
    }
}

/// Adds operation and target to a bare errno.
pub(crate) trait Context<T> {
    /// Adds the operation and its object.
    fn context(self, operation: &'static str, target: impl ToString) -> Result<T>;
}

impl<T, E: Into<io::Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, operation: &'static str, target: impl ToString) -> Result<T> {
        self.map_err(|source| Error::Call { operation, target: target.to_string(), source: source.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_names_operation_target_and_errno() {
        let failed: std::result::Result<(), _> = Err(io::Error::from_raw_os_error(libc::ENOENT));
        let error = failed.context("open", "/no/such/file").unwrap_err();
        assert_eq!(error.errno(), Some(libc::ENOENT));
        assert!(error.to_string().starts_with("open /no/such/file: No such file or directory"), "{error}");
    }
}
