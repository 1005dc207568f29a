//! The words of a run's notes: remarks, and failures in reports and messages.
//!
//! Must not know: when and where notes are shown. Start reading at [`note`].

mod block;
mod engine;
mod file;
mod io;
mod replay;
mod run;
mod scsi;
mod stream;
mod system;
mod verify;
mod zone;

use ferrio_stats::note::{MergeNote, SystemError};
use ferrio_stats::{Failure, Note};
use ferrio_units::errno_text;

/// Length of the text in a report's brackets, bytes.
const MAX_FAILURE_BYTES: usize = 127;

/// Lines for the user, without the newline at the end.
pub fn note(note: &Note) -> String {
    match note {
        Note::Text(text) => text.clone(),
        Note::Failed { pid, failure } => {
            format!("fio: pid={pid}, err={}/{}", failure.errno, self::failure(failure))
        }
        Note::System { during, error } => system::text(during, error),
        Note::Run(note) => run::text(note),
        Note::File(note) => file::text(note),
        Note::Io(note) => io::text(note),
        Note::Zone(note) => zone::text(note),
        Note::Verify(note) => verify::text(note),
        Note::Replay(note) => replay::text(note),
        Note::Engine { job, note } => engine::text(job.as_deref(), note),
        Note::Stream { job, fault } => stream::text(job, fault),
        Note::Killed { pid, signal } => format!("fio: pid={pid}, got signal={signal}"),
    }
}

/// The line of traces that cannot be merged, without the newline at the end.
pub fn merge(note: &MergeNote) -> String {
    replay::merge(note)
}

/// The answer of the system, with its number.
pub fn system_error(error: &SystemError) -> String {
    system::said(error)
}

/// The text of the report's brackets: `file:SRC:LINE, func=STEP, error=TEXT`, at most 127 bytes.
pub fn failure(failure: &Failure) -> String {
    let Failure { errno, place, step, .. } = failure;
    let mut text = format!("file:{place}, func={}, error={}", step.name(), errno_text(*errno));
    let mut end = text.len().min(MAX_FAILURE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests;
