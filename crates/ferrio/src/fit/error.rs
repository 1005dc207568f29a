//! What keeps a fit from a verdict.
//!
//! Start reading at [`FitError`].

use crate::fit::recipe::MOST_TOGETHER;
use crate::fit::scale::NotScaled;
use crate::session::runs::RunsError;
use ferrio_stats::Metric;
use ferrio_units::humanize::bytes_text;
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
    #[error("{place}: it is no recipe: {fault}")]
    Recipe {
        /// The file.
        place: String,
        /// Why.
        #[source]
        fault: RecipeFault,
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

/// Why a file is no recipe.
#[derive(Debug, thiserror::Error)]
pub enum RecipeFault {
    /// It is no TOML of a recipe.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// Its name has other letters.
    #[error("name = {0:?}: a name has lower-case letters, digits and -")]
    Name(String),
    /// Nothing is run.
    #[error("it has no load")]
    NoLoad,
    /// Two loads have one name.
    #[error("load {0} is there twice")]
    LoadTwice(String),
    /// A load is too short or too long.
    #[error("load {load}: seconds = {seconds} is not between 4 and 86400")]
    Seconds {
        /// The load.
        load: String,
        /// How long it is.
        seconds: u32,
    },
    /// A load cannot be made larger.
    #[error("load {load}: {fault}")]
    Scale {
        /// The load.
        load: String,
        /// Why.
        #[source]
        fault: NotScaled,
    },
    /// A limit cannot be judged.
    #[error("limit of {limit}: {fault}")]
    Limit {
        /// Figure, job and load.
        limit: String,
        /// Why.
        #[source]
        fault: FitLimitFault,
    },
}

/// Why a limit of a recipe cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FitLimitFault {
    /// Its load is missing.
    #[error("there is no such load")]
    Load,
    /// The name of its figure has one word.
    #[error("a figure is a kind and a metric, such as sync.p99")]
    Figure,
    /// The first word of its figure.
    #[error("its kind is read, write, trim or sync")]
    Kind,
    /// The second word of its figure.
    #[error("its metric is none of {}", Metric::names(|_| true))]
    Metric,
    /// A number without the unit of the figure.
    #[error("{0:?} is no value of this figure (10ms; 500; 50MB/s)")]
    Value(String),
    /// It has two bounds, or none.
    #[error("it has either most or least")]
    Bounds,
    /// `together` beside another figure, or too many I/Os.
    #[error(
        "together: it is for a percentile of syncs with most, with 1 to {MOST_TOGETHER} syncs and at most {MOST_TOGETHER} writes"
    )]
    Together,
}
