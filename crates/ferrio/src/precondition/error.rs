//! What keeps storage from being preconditioned.
//!
//! Start reading at [`PreconditionError`].

use crate::session::runs::RunsError;
use crate::session::runs::folder::FolderError;
use std::path::PathBuf;

/// Why it cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum PreconditionError {
    /// The target is none, or must not be written to.
    #[error("{}: {reason}", .path.display())]
    Target {
        /// The target.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The target is another one than at the beginning.
    #[error("{} is not the target with which it began: {was} then, and {is} now", .path.display())]
    OtherTarget {
        /// The target.
        path: PathBuf,
        /// What it was.
        was: String,
        /// What it is.
        is: String,
    },
    /// The load is none that can be run here.
    #[error("{0}")]
    Load(String),
    /// The folder cannot be made, read or written, or is another program's.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The folder has no plan.
    #[error("{} holds no preconditioning: it has no plan.json", .0.display())]
    NoPlan(PathBuf),
    /// A file of the folder has another form.
    #[error("{}: it cannot be understood: {reason}", .path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A run cannot be made.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// A job has failed.
    #[error("{what} failed: {reason}")]
    Failed {
        /// What was done.
        what: &'static str,
        /// What the job said.
        reason: String,
    },
}
