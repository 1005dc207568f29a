//! What keeps a sweep from its runs.
//!
//! Start reading at [`SweepError`].

use crate::space::SpaceError;
use ferrio_job::Diagnostic;
use ferrio_run::RunError;
use std::path::PathBuf;

/// Why a sweep cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The parameters are none.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The jobs refuse the options of a point.
    #[error("{point}: {diagnostic}")]
    Point {
        /// The point, or the option with its value.
        point: String,
        /// Why.
        diagnostic: Box<Diagnostic>,
    },
    /// Two parameters set one option of the same jobs.
    #[error("the sweep sets {option} twice, as {first} and as {second}: leave out one of them")]
    OneOption {
        /// The option, by its own name.
        option: &'static str,
        /// One of the parameters, as it was written.
        first: String,
        /// The other one.
        second: String,
    },
    /// A file of the folder cannot be read or written.
    #[error("{}: {}", .path.display(), ferrio_units::error_text(.source))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The folder of a new sweep is there already.
    #[error("{} is there already: go on with its sweep (--resume {}), or give another folder (--folder)", .0.display(), .0.display())]
    FolderExists(PathBuf),
    /// The folder has no plan.
    #[error("{} holds no sweep: it has no plan.json", .0.display())]
    NoSweep(PathBuf),
    /// Another program works in the folder.
    #[error("{}: another program makes the runs of this sweep", .0.display())]
    InUse(PathBuf),
    /// The plan cannot be read.
    #[error("{}: it is no plan of a sweep: {reason}", .path.display())]
    Plan {
        /// The plan.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A run cannot be started or supervised.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The jobs that prepare a run have failed.
    #[error("{0} of the jobs that prepare the runs have failed")]
    Beside(u32),
    /// The points have no open loop.
    #[error("no open loop can be run beside these points: together the jobs reach fewer than 20 IOPS")]
    NoOpenLoop,
    /// The page cache cannot be dropped.
    #[error("the page cache cannot be dropped: {}", ferrio_units::error_text(.0))]
    Caches(#[source] std::io::Error),
    /// A record cannot be read.
    #[error("{}: {reason}", .path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}
