//! The history of the user, as commands open it and look runs up in it.
//!
//! Must not know: what is done with runs. Start reading at [`opened`].

use ferrio::history::{HistoryPlace, KeptRun, RunHistory, RunSelector};

/// The history of the user; `None`: there is none yet.
///
/// # Errors
/// In words: why it cannot be used.
pub(crate) fn existing() -> Result<Option<RunHistory>, String> {
    HistoryPlace::of_user().and_then(|place| RunHistory::open(&place)).map_err(|error| error.to_string())
}

/// The history of the user, where it has runs to choose from.
///
/// # Errors
/// In words: there is none, or why it cannot be used.
pub(crate) fn opened() -> Result<RunHistory, String> {
    existing()?.ok_or_else(|| "no run is kept yet: 'ferrio run --keep' keeps one".to_owned())
}

/// The run that a word names.
///
/// # Errors
/// In words: there is no such run, or the history cannot be read.
pub(crate) fn found(history: &RunHistory, word: &str) -> Result<KeptRun, String> {
    history.find(&RunSelector::of(word)).map_err(|error| error.to_string())
}
