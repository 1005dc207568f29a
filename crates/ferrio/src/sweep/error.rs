//! What keeps a sweep from its runs.
//!
//! Start reading at [`SweepError`].

use crate::session::runs::RunsError;
use crate::session::runs::folder::FolderError;
use crate::sweep::space::SpaceError;
use ferrio_job::Diagnostic;
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
    /// The folder cannot be made, read or written, or is another program's.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The folder has no plan.
    #[error("{} holds no sweep: it has no plan.json", .0.display())]
    NoSweep(PathBuf),
    /// The plan cannot be read.
    #[error("{}: it is no plan of a sweep: {fault}", .path.display())]
    Plan {
        /// The plan.
        path: PathBuf,
        /// Why.
        #[source]
        fault: PlanFault,
    },
    /// A run cannot be made.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// The points have no open loop.
    #[error("no open loop can be run beside these points: together the jobs reach fewer than 20 IOPS")]
    NoOpenLoop,
}

/// Why a file is no plan that can be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanFault {
    /// It is no JSON of a plan.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Another version has written it.
    #[error("its form is {found}, and this version reads form {}", super::plan::FORM)]
    Form {
        /// The form of the file.
        found: u32,
    },
    /// It has no points, or no repeats.
    #[error("it has no runs")]
    NoRuns,
    /// A point has other options than the parameters.
    #[error("a point does not fit its parameters")]
    Point,
    /// Points times repeats are too many.
    #[error("it has {n_runs} runs, and at most {} are made", super::plan::MOST_RUNS)]
    TooManyRuns {
        /// How many there would be.
        n_runs: usize,
    },
}
