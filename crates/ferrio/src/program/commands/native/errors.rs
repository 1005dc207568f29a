//! Errors of runs in the words of native commands.
//!
//! Must not know: where they are shown. Start reading at [`run_error_text`].

use ferrio_formats::words;
use ferrio_run::RunError;
use ferrio_units::Wording;

/// The reason why a run could not be started or supervised.
pub(crate) fn run_error_text(error: &RunError) -> String {
    match error {
        RunError::Merge(note) => words::merge(note, Wording::Own),
        error => error.to_string(),
    }
}
