//! Runs that are kept: whole results in a database of the user, to be listed, shown and compared later.
//!
//! The database is one file of `SQLite` in WAL mode, `$XDG_STATE_HOME/ferrio/history.sqlite`, readable by its user alone. A run is there
//! as soon as [`RunHistory::keep`] has returned, whatever happens to the process or the machine then. Its bytes are not trusted: a file that
//! is no history, or a damaged one, is an error, and is left as it is.
//! Must not know: terminals, arguments, how runs are compared. Start reading at [`RunHistory`].

mod baselines;
mod content;
mod database;
mod error;
mod forms;
mod last_runs;
mod name;
mod place;
mod run;
mod run_history;
mod selector;
mod summary;

pub use error::HistoryError;
pub use last_runs::{LastRun, TargetState, last_runs};
pub use name::{MAX_NAME_CHARS, NameError, RunName};
pub use place::HistoryPlace;
pub use run::{NewRun, StoredForm, StoredRun};
pub use run_history::RunHistory;
pub use selector::RunSelector;
pub use summary::{KeptFigures, KeptVerdict, RunSummary};
