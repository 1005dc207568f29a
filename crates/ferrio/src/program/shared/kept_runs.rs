//! The history of the user, as commands open it and look runs up in it.
//!
//! Must not know: what is done with runs. Start reading at [`opened`].

use anyhow::anyhow;
use ferrio::history::{HistoryPlace, RunHistory, RunSelector, StoredRun};

/// The history of the user; `None`: there is none yet.
pub(crate) fn existing() -> anyhow::Result<Option<RunHistory>> {
    HistoryPlace::of_user().and_then(|place| RunHistory::open(&place)).map_err(anyhow::Error::from)
}

/// The history of the user, where it has runs to choose from.
pub(crate) fn opened() -> anyhow::Result<RunHistory> {
    existing()?.ok_or_else(|| anyhow!("no run is kept yet: 'ferrio run --keep' keeps one"))
}

/// The run that a word names.
///
/// # Errors
/// In words: there is no such run, or the history cannot be read.
pub(crate) fn found(history: &RunHistory, word: &str) -> anyhow::Result<StoredRun> {
    history.find(&RunSelector::of(word)).map_err(anyhow::Error::from)
}
