//! What keeps a fit from a verdict.
//!
//! Start reading at [`FitError`].

use crate::session::runs::RunsError;
use ferrio_units::glance::bytes_text;
use std::path::PathBuf;

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// No recipe has this name.
    #[error("no recipe is called {name}{}; there are {}", .nearest.as_ref().map(|nearest| format!(" (did you mean {nearest}?)")).unwrap_or_default(), .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The most similar one.
        nearest: Option<String>,
        /// All of them.
        known: Vec<String>,
    },
    /// A file is no recipe.
    #[error("{place}: it is no recipe: {reason}")]
    Recipe {
        /// The file.
        place: String,
        /// Why.
        reason: String,
    },
    /// A file cannot be read.
    #[error("{}: {}", .path.display(), ferrio_units::error_text(.source))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The jobs of a load are refused.
    #[error("load {load}: {reason}")]
    Jobs {
        /// The load.
        load: String,
        /// Why.
        reason: String,
    },
    /// The files of the loads do not fit.
    #[error("the files of the loads take up to {}, and {} are free", bytes_text(*.needed_bytes), bytes_text(*.available_bytes))]
    NoRoom {
        /// Space that they take.
        needed_bytes: u64,
        /// Free space.
        available_bytes: u64,
    },
    /// A run cannot be made.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// A job of a load failed.
    #[error("load {load}: a job failed: {reason}")]
    Failed {
        /// The load.
        load: String,
        /// What the run said.
        reason: String,
    },
    /// The driver has ended the runs.
    #[error("ended before there was a verdict")]
    Stopped,
}
