//! Messages of a run, kept for the reports that show them.
//!
//! Must not know: how messages are shown. Start reading at [`RunMessages`].

use crate::Note;
use serde::{Deserialize, Serialize};

/// Number of messages that are kept, so that a job with a message for each I/O does not take unbounded memory.
const MAX_KEPT: usize = 1_000;
/// Length of a message that is kept, bytes.
const MAX_TEXT_BYTES: usize = 16 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageStream {
    /// Information: fio's standard output.
    Info,
    /// Errors and warnings: fio's standard error.
    Error,
}

impl MessageStream {
    /// `info`, `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Error => "error",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportMessage {
    pub stream: MessageStream,
    pub note: Note,
}

/// Messages in order: the first thousand, and the number of later ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunMessages {
    kept: Vec<ReportMessage>,
    n_left_out: u64,
}

impl RunMessages {
    /// Adds a message. Its text is stored without surrounding line ends, up to 16 KiB; a text of line ends alone is not
    /// stored.
    pub fn push(&mut self, stream: MessageStream, note: Note) {
        let note = match note {
            Note::Text(text) => Note::Text(kept_part(&text)),
            Note::Worded { of_fio, own } => Note::Worded { of_fio: kept_part(&of_fio), own: kept_part(&own) },
            note => note,
        };
        if matches!(&note, Note::Text(text) if text.is_empty()) {
            return;
        }
        if self.kept.len() == MAX_KEPT {
            self.n_left_out = self.n_left_out.saturating_add(1);
            return;
        }
        self.kept.push(ReportMessage { stream, note });
    }

    pub fn kept(&self) -> &[ReportMessage] {
        &self.kept
    }

    /// Number of messages that came when there was no more room.
    pub fn n_left_out(&self) -> u64 {
        self.n_left_out
    }

    /// True if there were no messages.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

/// A text without surrounding line ends, up to the length that is kept.
fn kept_part(text: &str) -> String {
    shortened(text.trim_matches(['\n', '\r'])).to_owned()
}

fn shortened(text: &str) -> &str {
    // At most three bytes of a character are cut off.
    let end = (0..=MAX_TEXT_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_around_a_message_are_not_part_of_it() {
        let mut messages = RunMessages::default();
        messages.push(MessageStream::Info, Note::text("\nfio: terminating on signal 2\n"));
        messages.push(MessageStream::Error, Note::text("\n"));
        messages.push(MessageStream::Error, Note::text("two\nlines\n"));
        let texts: Vec<&Note> = messages.kept().iter().map(|message| &message.note).collect();
        assert_eq!(texts, [&Note::text("fio: terminating on signal 2"), &Note::text("two\nlines")]);
    }

    #[test]
    fn memory_is_bounded() {
        let mut messages = RunMessages::default();
        let long = "\u{e9}".repeat(MAX_TEXT_BYTES);
        (0..MAX_KEPT + 7).for_each(|_| messages.push(MessageStream::Error, Note::text(long.as_str())));
        assert_eq!((messages.kept().len(), messages.n_left_out()), (MAX_KEPT, 7));
        assert!(messages.kept().iter().all(|message| message.note == Note::text(&long[..MAX_TEXT_BYTES])));
    }
}
