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
    #[error("{}: {fault}", .path.display())]
    Target {
        /// The target.
        path: PathBuf,
        /// Why.
        #[source]
        fault: TargetFault,
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

/// Why a target cannot be preconditioned.
#[derive(Debug, thiserror::Error)]
pub enum TargetFault {
    /// It cannot be opened or read.
    #[error("{}", ferrio_units::error_text(.0))]
    Io(#[from] std::io::Error),
    /// The system says nothing of it.
    #[error(transparent)]
    System(#[from] ferrio_sys::Error),
    /// It is a directory.
    #[error("it is a directory: name a block device, or a file")]
    Directory,
    /// It is a pipe, a socket or a character device.
    #[error("it is neither a block device nor a file")]
    Kind,
    /// It is smaller than a block.
    #[error("it has no room: at least 4 KiB are needed")]
    NoRoom,
    /// It is mounted, or held by another device or program.
    #[error("it is {0}")]
    Used(String),
    /// A device stands on the file.
    #[error("it is in use by {0}")]
    UsedBy(String),
    /// A check that could not be made has not passed.
    #[error("whether it is in use cannot be found out: {0}")]
    UseUnknown(String),
    /// The devices of the machine could not be listed.
    #[error("its users cannot be found out: {0}")]
    UsersUnknown(String),
    /// It takes no writes.
    #[error("it is read-only")]
    ReadOnly,
    /// It takes sequential writes alone; the kind of its zones.
    #[error("it is {0} (zoned), which takes no random writes")]
    Zoned(String),
}
