//! Lines for the user, each with the stream it belongs to. The crate collects them; only the binary prints.
//!
//! Must not know: where and when messages are printed, or the format of the report.

use crate::diagnostic::Diagnostic;
use ferrio_spec::debug;
use ferrio_units::{Wording, byte_text};
use std::fmt;

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
pub type Message = (OutputStream, UserLine);

/// Words for the user, of one line or more: those of fio, and ferrio's own where they differ.
#[derive(Clone, PartialEq, Eq)]
pub struct UserLine {
    of_fio: String,
    /// `None`: the same.
    own: Option<String>,
}

impl UserLine {
    /// A sentence that fio begins with its name.
    pub(crate) fn named(sentence: impl Into<String>) -> Self {
        let own = sentence.into();
        Self { of_fio: format!("{}{own}", Wording::Fio.mark()), own: Some(own) }
    }

    /// What `words` says in each wording.
    pub(crate) fn of(words: impl Fn(Wording) -> String) -> Self {
        let (of_fio, own) = (words(Wording::Fio), words(Wording::Own));
        Self { own: (own != of_fio).then_some(own), of_fio }
    }

    /// Several lines as one text, with `between` between them.
    pub(crate) fn joined(lines: &[Self], between: &str) -> Self {
        Self::of(|wording| lines.iter().map(|line| line.text(wording)).collect::<Vec<_>>().join(between))
    }

    pub fn text(&self, wording: Wording) -> &str {
        match (wording, &self.own) {
            (Wording::Own, Some(own)) => own,
            _ => &self.of_fio,
        }
    }

    /// With an order to the user at the end of ferrio's own words.
    pub(crate) fn with_cure(self, cure: &str) -> Self {
        let own = format!("{}\nTo do: {cure}", self.text(Wording::Own));
        Self { own: Some(own), ..self }
    }

    /// The same words for a terminal, with `end` behind them.
    fn shown(&self, end: &str) -> Self {
        Self::of(|wording| format!("{}{end}", byte_text::shown(self.text(wording))))
    }
}

/// ferrio's own words.
impl fmt::Display for UserLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text(Wording::Own))
    }
}

impl fmt::Debug for UserLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.of_fio, formatter)
    }
}

/// The same words everywhere.
impl From<String> for UserLine {
    fn from(text: String) -> Self {
        Self { of_fio: text, own: None }
    }
}

impl From<&str> for UserLine {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// Tests read the words of fio.
#[cfg(test)]
impl std::ops::Deref for UserLine {
    type Target = str;

    fn deref(&self) -> &str {
        &self.of_fio
    }
}

#[cfg(test)]
impl PartialEq<&str> for UserLine {
    fn eq(&self, other: &&str) -> bool {
        self.of_fio == *other
    }
}

#[cfg(test)]
impl PartialEq<String> for UserLine {
    fn eq(&self, other: &String) -> bool {
        self.of_fio == *other
    }
}

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
    pub fn out(&mut self, line: impl Into<UserLine>) {
        self.push(OutputStream::Stdout, &line.into());
    }

    /// Adds a line for standard error; the line end is added here.
    pub fn err(&mut self, line: impl Into<UserLine>) {
        self.push(OutputStream::Stderr, &line.into());
    }

    /// Adds a text unchanged, without adding a line end.
    pub fn raw(&mut self, stream: OutputStream, text: impl Into<UserLine>) {
        self.list.push((stream, text.into()));
    }

    /// Adds a line of `--debug=parse`, where such lines are wanted.
    pub fn parse(&mut self, text: impl FnOnce() -> String) {
        if self.traces_parse {
            // The parser runs on the first thread of the process.
            let line = debug::line("parse", std::process::id(), &text());
            self.push(OutputStream::Trace, &line.into());
        }
    }

    pub fn extend(&mut self, lines: impl IntoIterator<Item = Message>) {
        self.list.extend(lines.into_iter().map(|(stream, text)| (stream, text.shown(""))));
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

    fn push(&mut self, stream: OutputStream, line: &UserLine) {
        self.list.push((stream, line.shown("\n")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_fio_are_in_its_words_alone() {
        let both = |line: &UserLine| Wording::ALL.map(|wording| line.text(wording).to_owned());
        assert_eq!(both(&UserLine::named("one")), ["fio: one", "one"]);
        assert_eq!(both(&"two".into()), ["two", "two"]);
        let joined = UserLine::joined(&["a", "b"].map(UserLine::named), "\n");
        assert_eq!(both(&joined), ["fio: a\nfio: b", "a\nb"]);
        let cured = UserLine::named("needs x").with_cure("give x");
        assert_eq!(both(&cured), ["fio: needs x", "needs x\nTo do: give x"]);
        assert_eq!(cured.to_string(), cured.text(Wording::Own));
    }
}
