//! What keeps storage from being profiled.
//!
//! Start reading at [`ProfileError`].

use crate::session::runs::RunsError;
use crate::sweep::SweepError;
use std::path::PathBuf;

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The jobs of a part are refused here.
    #[error("{section}: {reason}")]
    Jobs {
        /// The part.
        section: &'static str,
        /// Why.
        reason: String,
    },
    /// A point of a part is refused here.
    #[error(transparent)]
    Point(Box<SweepError>),
    /// A run cannot be made.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// A job has failed.
    #[error("{section} failed: {reason}")]
    Failed {
        /// The part.
        section: &'static str,
        /// What the job said.
        reason: String,
    },
    /// The file could not be written within its time.
    #[error("{written_bytes} bytes could be written in the time of the first part: that is too little to measure with")]
    TooSlow {
        /// Bytes that were written.
        written_bytes: u64,
    },
    /// The file cannot be cut to what was written.
    #[error("{}: {}", .path.display(), ferrio_units::error_text(.source))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The driver has ended the runs.
    #[error("ended before the last run")]
    Stopped,
}

impl From<SweepError> for ProfileError {
    fn from(error: SweepError) -> Self {
        Self::Point(Box::new(error))
    }
}
