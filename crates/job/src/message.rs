//! Lines for the user, each with the stream it belongs to. The crate collects them; only the binary prints.
//!
//! Must not know: where and when messages are printed, or the format of the report.

use crate::diagnostic::Diagnostic;
use ferrio_spec::debug;
use ferrio_units::byte_text;

/// Destination of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output (with `--output` the output file).
    Stdout,
    /// Standard error (with `--output` the output file as well).
    Stderr,
    /// Lines of `--debug`: go to the destination of the report, before it.
    Trace,
    /// Standard output, also with `--output`.
    Terminal,
}

/// One piece of text for the user, complete with its line ends.
pub type Message = (OutputStream, String);

/// Messages in the order in which they must be printed. Bytes of a value that are not UTF-8 are shown as U+FFFD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserMessages {
    list: Vec<Message>,
    diagnostics: Vec<Diagnostic>,
    /// If `--debug=parse` lines are recorded from now on.
    pub traces_parse: bool,
}

impl UserMessages {
    /// No message yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line for standard output; the line end is added here.
    pub fn out(&mut self, line: impl Into<String>) {
        self.push(OutputStream::Stdout, &line.into());
    }

    /// Adds a line for standard error; the line end is added here.
    pub fn err(&mut self, line: impl Into<String>) {
        self.push(OutputStream::Stderr, &line.into());
    }

    /// Adds a text unchanged, without adding a line end.
    pub fn raw(&mut self, stream: OutputStream, text: String) {
        self.list.push((stream, text));
    }

    /// Adds a line of `--debug=parse`, where such lines are wanted.
    pub fn parse(&mut self, text: impl FnOnce() -> String) {
        if self.traces_parse {
            // The parser runs on the first thread of the process.
            let line = debug::line("parse", std::process::id(), &text());
            self.push(OutputStream::Trace, &line);
        }
    }

    /// Adds all of `lines`.
    pub fn extend(&mut self, lines: impl IntoIterator<Item = Message>) {
        self.list.extend(lines.into_iter().map(|(stream, text)| (stream, byte_text::shown(&text).into_owned())));
    }

    /// Adds a refusal as a value; its lines for people are added separately.
    pub(crate) fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// All refusals so far; there are none afterwards.
    pub(crate) fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    /// Everything collected so far.
    pub fn into_vec(self) -> Vec<Message> {
        self.list
    }

    /// Everything collected so far; this list is empty afterwards.
    pub fn take(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.list)
    }

    fn push(&mut self, stream: OutputStream, line: &str) {
        let mut line = byte_text::shown(line).into_owned();
        line.push('\n');
        self.list.push((stream, line));
    }
}
