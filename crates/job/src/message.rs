//! Lines for the user, each with the stream it belongs to. The crate collects them; only the binary prints.
//!
//! Must not know: who prints, when, or in which format the run reports.

use ferrio_units::byte_text;

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output (with `--output` the output file).
    Stdout,
    /// Standard error (with `--output` the output file as well).
    Stderr,
}

/// One piece of text for the user, complete with its line ends.
pub type Message = (Stream, String);

/// Messages in the order in which they must be printed. What is no UTF-8 in a value is shown as U+FFFD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages(Vec<Message>);

impl Messages {
    /// No message yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line for standard output; the line end is added here.
    pub fn out(&mut self, line: impl Into<String>) {
        self.push(Stream::Stdout, &line.into());
    }

    /// Adds a line for standard error; the line end is added here.
    pub fn err(&mut self, line: impl Into<String>) {
        self.push(Stream::Stderr, &line.into());
    }

    /// Adds a text as it is, without a further line end.
    pub fn raw(&mut self, stream: Stream, text: String) {
        self.0.push((stream, text));
    }

    /// Adds all of `lines`.
    pub fn extend(&mut self, lines: impl IntoIterator<Item = Message>) {
        self.0.extend(lines.into_iter().map(|(stream, text)| (stream, byte_text::shown(&text).into_owned())));
    }

    /// Everything collected so far.
    pub fn into_vec(self) -> Vec<Message> {
        self.0
    }

    /// Everything collected so far; this list is empty afterwards.
    pub fn take(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.0)
    }

    fn push(&mut self, stream: Stream, line: &str) {
        let mut line = byte_text::shown(line).into_owned();
        line.push('\n');
        self.0.push((stream, line));
    }
}
