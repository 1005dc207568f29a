//! What keeps storage from being preconditioned.
//!
//! Start reading at [`PreconditionError`].

use ferrio_run::RunError;
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
    /// A file of the folder cannot be read or written.
    #[error("{}: {}", .path.display(), ferrio_units::error_text(.source))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The new folder is there already.
    #[error("{} is there already: go on with its work (--resume {}), or give another folder (--folder)", .0.display(), .0.display())]
    FolderExists(PathBuf),
    /// The folder has no plan.
    #[error("{} holds no preconditioning: it has no plan.json", .0.display())]
    NoPlan(PathBuf),
    /// Another program works in the folder.
    #[error("{}: another program is at work there", .0.display())]
    InUse(PathBuf),
    /// A file of the folder has another form.
    #[error("{}: it cannot be understood: {reason}", .path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A run cannot be started or supervised.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A job has failed.
    #[error("{what} failed: {reason}")]
    Failed {
        /// What was done.
        what: &'static str,
        /// What the job said.
        reason: String,
    },
}
