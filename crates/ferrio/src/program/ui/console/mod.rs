//! Destinations of output: standard output, standard error, and the file of `--output`.
//!
//! Must not know: the meaning of the texts. Start reading at [`Console`].

mod all_or_nothing;

use ferrio_formats::native::{for_terminal, note_text};
use ferrio_formats::words;
use ferrio_job::message::OutputStream;
use ferrio_job::{Message, UserLine};
use ferrio_stats::{MessageStream, Note, RunMessages};
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use ferrio_sys::terminal::{columns, is_dumb};
use ferrio_units::Wording;
use ferrio_units::terminal_text::escape_controls;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// The program of messages in the words of fio.
const OF_FIO: &str = "fio";

/// The streams of a run.
pub(crate) struct Console {
    /// Prefix of its own errors.
    program: &'static str,
    file: Option<File>,
    /// Reports and information share the standard output with a job's data: they go to the standard error.
    info_on_stderr: bool,
    /// Messages that were printed or collected so far.
    messages: RunMessages,
    /// True if the stream of the reports may contain nothing else. Other messages for that stream are then collected
    /// for the reports. Errors are collected, too, and also written to the standard error.
    has_reports_alone: bool,
    /// True if each line of that stream is a record: lines of `--debug` then go to the standard error.
    has_records: bool,
    /// True after a write failed.
    pub(crate) has_failed: bool,
}

impl Console {
    /// A console that uses the standard streams.
    pub(crate) fn standard() -> Self {
        Self {
            program: OF_FIO,
            file: None,
            info_on_stderr: false,
            messages: RunMessages::default(),
            has_reports_alone: false,
            has_records: false,
            has_failed: false,
        }
    }

    /// A console for a native command, whose errors begin with the command's name.
    pub(crate) fn of_command(program: &'static str) -> Self {
        Self { program, ..Self::standard() }
    }

    /// The same for a native command.
    pub(crate) fn named(self, program: &'static str) -> Self {
        Self { program, ..self }
    }

    /// Messages have the words of fio.
    fn is_of_fio(&self) -> bool {
        self.program == OF_FIO
    }

    fn wording(&self) -> Wording {
        if self.is_of_fio() { Wording::Fio } else { Wording::Own }
    }

    /// Information and errors to a file that is emptied first; errors to the standard error as well.
    pub(crate) fn to_file(path: &Path, kept: &ProtectedPaths) -> io::Result<Self> {
        Ok(Self { file: Some(output::open(path, OutputStart::Empty, kept)?), ..Self::standard() })
    }

    /// Keeps the standard output for a job that writes to it.
    pub(crate) fn keep_stdout_free(&mut self) {
        self.info_on_stderr = true;
    }

    /// Keeps the stream of the reports for them alone. fio does not: its notes make a document unreadable for programs.
    pub(crate) fn collect_messages(&mut self) {
        self.has_reports_alone = true;
    }

    /// Keeps lines of `--debug` from between records.
    pub(crate) fn keep_records_alone(&mut self) {
        self.has_records = true;
    }

    /// The collected messages; `None` if messages go to a stream instead.
    pub(crate) fn messages(&self) -> Option<&RunMessages> {
        self.has_reports_alone.then_some(&self.messages)
    }

    /// All messages so far, wherever they went.
    pub(crate) fn all_messages(&self) -> &RunMessages {
        &self.messages
    }

    /// A report or a record, in one piece: whole, or not at all where it can be taken back.
    pub(crate) fn report(&mut self, text: &str) {
        let result = match &mut self.file {
            Some(file) => all_or_nothing::write(file, text.as_bytes()),
            None if self.info_on_stderr => {
                all_or_nothing::write_to(&mut io::stderr(), self.shown(&io::stderr(), text).as_bytes())
            }
            None => all_or_nothing::write_to(&mut io::stdout(), self.shown(&io::stdout(), text).as_bytes()),
        };
        if let Err(error) = result {
            // A closed pipe is not reported: its reader wants no more output.
            if !self.has_failed && error.kind() != io::ErrorKind::BrokenPipe {
                let _ = writeln!(io::stderr(), "{}: cannot write the output: {error}", self.program);
            }
            self.has_failed = true;
        }
    }

    /// Prints information beside the reports.
    pub(crate) fn info(&mut self, text: &str) {
        self.messages.push(MessageStream::Info, Note::text(text));
        self.show_info(text);
    }

    /// Prints or collects a message of a run.
    pub(crate) fn say(&mut self, stream: MessageStream, note: Note) {
        let text = format!("{}\n", if self.is_of_fio() { words::note(&note) } else { note_text(&note) });
        self.messages.push(stream, note);
        match stream {
            MessageStream::Info => self.show_info(&text),
            MessageStream::Error => self.show_error(&text),
        }
    }

    fn show_info(&mut self, text: &str) {
        if !self.has_reports_alone {
            self.report(text);
        }
    }

    /// Prints lines of `--debug` to the stream of the report, before it. As in fio, even if the report is a document.
    pub(crate) fn trace(&mut self, text: &str) {
        if self.has_records {
            // A failure of the standard error cannot be reported anywhere.
            let _ = io::stderr().write_all(self.shown(&io::stderr(), text).as_bytes());
        } else {
            self.report(text);
        }
    }

    /// A line that was there before the file of the report.
    pub(crate) fn tell_terminal(&mut self, text: &str) {
        if self.has_records || self.info_on_stderr {
            // A failure of the standard error cannot be reported anywhere.
            let _ = io::stderr().write_all(self.shown(&io::stderr(), text).as_bytes());
        } else {
            show_progress(&self.shown(&io::stdout(), text));
        }
    }

    /// Errors and warnings.
    pub(crate) fn error(&mut self, text: &str) {
        self.messages.push(MessageStream::Error, Note::text(text));
        self.show_error(text);
    }

    /// A sentence about what went wrong, which fio begins with its name.
    pub(crate) fn complain(&mut self, sentence: &str) {
        self.say(MessageStream::Error, Note::named(sentence));
    }

    /// Prints each message of the parsers on its stream.
    pub(crate) fn print_all(&mut self, messages: &[Message]) {
        for (stream, line) in messages {
            let text = line.text(self.wording());
            match stream {
                OutputStream::Stdout => {
                    self.messages.push(MessageStream::Info, note_of(line));
                    self.show_info(text);
                }
                OutputStream::Stderr => self.error_line(line),
                OutputStream::Trace => self.trace(text),
                OutputStream::Terminal => self.tell_terminal(text),
            }
        }
    }

    /// Prints an error of the parsers; its line end is a part of it.
    pub(crate) fn error_line(&mut self, line: &UserLine) {
        self.messages.push(MessageStream::Error, note_of(line));
        self.show_error(line.text(self.wording()));
    }

    /// A text as its stream gets it. What native commands print is often shown later, from a file; fio's words stay as fio writes them,
    /// but on a terminal.
    fn shown<'a>(&self, stream: &impl IsTerminal, text: &'a str) -> Cow<'a, str> {
        if self.is_of_fio() || stream.is_terminal() { shown(stream, text) } else { escape_controls(text) }
    }

    fn show_error(&mut self, text: &str) {
        let is_among_documents = self.has_reports_alone && self.file.is_none() && self.info_on_stderr;
        if !is_among_documents {
            // A failure of the standard error cannot be reported anywhere.
            let _ = io::stderr().write_all(self.shown(&io::stderr(), text).as_bytes());
        }
        if let Some(file) = self.file.as_mut().filter(|_| !self.has_reports_alone) {
            self.has_failed |= file.write_all(text.as_bytes()).is_err();
        }
    }
}

/// A message of the parsers as records keep it.
fn note_of(line: &UserLine) -> Note {
    let [of_fio, own] = Wording::ALL.map(|wording| line.text(wording).to_owned());
    if of_fio == own { Note::Text(own) } else { Note::Worded { of_fio, own } }
}

/// A text as a terminal gets it: what would steer it, as a part of a name, is escaped.
fn shown<'a>(stream: &impl IsTerminal, text: &'a str) -> Cow<'a, str> {
    let may_be_plain = text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte));
    if may_be_plain || !stream.is_terminal() { Cow::Borrowed(text) } else { Cow::Owned(for_terminal(text)) }
}

/// True if reports on the standard output may have colours.
pub(crate) fn has_colour() -> bool {
    can_be_steered(&io::stdout()) && std::env::var_os("NO_COLOR").is_none()
}

/// True if a stream is a terminal that knows control sequences.
pub(crate) fn can_be_steered(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && !is_dumb(std::env::var_os("TERM").as_deref())
}

/// Width of the terminal behind the standard output, for lines that are written anew in their place; `None`: it is no terminal, or one that
/// knows no control sequences.
pub(crate) fn columns_to_steer() -> Option<usize> {
    columns(io::stdout()).filter(|_| can_be_steered(&io::stdout()))
}

/// A line for the user beside all reports: it goes to the standard error alone, and is no message of the run.
pub(crate) fn show_aside(text: &str) {
    // A failure of the standard error cannot be reported anywhere.
    let _ = io::stderr().write_all(shown(&io::stderr(), text).as_bytes());
}

/// The progress line: always to the standard output.
pub(crate) fn show_progress(text: &str) {
    // A terminal that is gone needs no progress.
    let _ = all_or_nothing::write_to(&mut io::stdout(), text.as_bytes());
}
