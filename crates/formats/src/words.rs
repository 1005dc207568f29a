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
use ferrio_units::{Wording, errno_text};

/// Length of the text in a report's brackets, bytes.
const MAX_FAILURE_BYTES: usize = 127;

/// Lines for the user in fio's words, without the newline at the end.
pub fn note(note: &Note) -> String {
    note_in(note, Wording::Fio)
}

/// Lines for the user, without the newline at the end.
pub(crate) fn note_in(note: &Note, wording: Wording) -> String {
    let mark = wording.mark();
    match note {
        Note::Text(text) => text.clone(),
        Note::Worded { of_fio, own } => match wording {
            Wording::Fio => of_fio.clone(),
            Wording::Own => own.clone(),
        },
        Note::Failed { pid, failure } => {
            format!("{mark}pid={pid}, err={}/{}", failure.errno, self::failure(failure))
        }
        Note::System { during, error } => system::text(during, error, mark),
        Note::Run(note) => run::text(note, mark),
        Note::File(note) => file::text(note, mark),
        Note::Io(note) => io::text(note, mark),
        Note::Zone(note) => zone::text(note, mark),
        Note::Verify(note) => verify::text(note, mark),
        Note::Replay(note) => replay::text(note, mark),
        Note::Engine { job, note } => engine::text(job.as_deref(), note, mark),
        Note::Stream { job, fault } => stream::text(job, fault, mark),
        Note::Killed { pid, signal } => format!("{mark}pid={pid}, got signal={signal}"),
    }
}

/// The line of traces that cannot be merged, without the newline at the end.
pub fn merge(note: &MergeNote, wording: Wording) -> String {
    replay::merge(note, wording.mark())
}

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
