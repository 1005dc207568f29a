//! What can go wrong before there are figures. An I/O that fails is no error of the library: its job has failed, and the measurement says so.
//!
//! Start reading at [`LibraryError`].

use ferrio_formats::ReadError;
use ferrio_job::Diagnostic;
use ferrio_run::RunError;
use std::io;
use std::path::PathBuf;

/// Why jobs cannot run, or a file cannot be read or written.
///
/// ```
/// use ferrio::{Error, Job, Runner};
///
/// let refused = Runner::new().add(&Job::new("a").option("rw", "randraed"));
/// let Err(Error::Option(why)) = refused else { panic!("the value is misspelt") };
/// assert_eq!(why.nearest.as_deref(), Some("randread"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// An option, or a job, was refused.
    #[error("{0}")]
    Option(Diagnostic),
    /// There is no job.
    #[error("there is no job")]
    NoJob,
    /// A command line or a job file was refused; the text is that of the program.
    #[error("{0}")]
    Usage(String),
    /// The run cannot be started or supervised.
    #[error("{0}")]
    Run(RunFault),
    /// A result cannot be read.
    #[error("{0}")]
    Read(String),
    /// A measurement cannot be saved.
    #[error("cannot write {path}: {reason}", path = .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: io::Error,
    },
    /// The measurement was read from a file, and is not that of a run of this program.
    #[error(
        "the measurement was read from a file: only that of a run of this program can be saved, or written as a report of fio"
    )]
    NotARun,
}

/// Why a run cannot be started or supervised.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RunFault(RunError);

impl From<Diagnostic> for LibraryError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Option(diagnostic)
    }
}

impl From<RunError> for LibraryError {
    fn from(error: RunError) -> Self {
        Self::Run(RunFault(error))
    }
}

impl From<ReadError> for LibraryError {
    fn from(error: ReadError) -> Self {
        Self::Read(error.to_string())
    }
}
