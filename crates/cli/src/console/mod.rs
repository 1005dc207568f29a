//! Where output goes: standard output and error, and the file of `--output`.
//!
//! Must not know: what is printed. Start reading at [`Console`].

mod whole;

use ferrio_stats::{MessageStream, Messages};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The streams of a run.
pub(crate) struct Console {
    file: Option<File>,
    /// Reports and information share the standard output with a job's data: they go to the standard error.
    info_on_stderr: bool,
    /// Nothing but reports goes to their stream: what would go there beside them is kept for the reports, and so are
    /// the errors, which go to the standard error as well.
    messages: Option<Messages>,
    /// Something could not be written.
    pub(crate) has_failed: bool,
}

impl Console {
    /// Everything to the standard streams.
    pub(crate) fn standard() -> Self {
        Self { file: None, info_on_stderr: false, messages: None, has_failed: false }
    }

    /// Information and errors to a file that is emptied first; errors to the standard error as well.
    pub(crate) fn to_file(path: &Path) -> io::Result<Self> {
        Ok(Self { file: Some(File::create(path)?), ..Self::standard() })
    }

    /// Keeps the standard output for a job that writes to it.
    pub(crate) fn keep_stdout_free(&mut self) {
        self.info_on_stderr = true;
    }

    /// Keeps the stream of the reports for them alone. fio does not: its notes make a document unreadable for programs.
    pub(crate) fn collect_messages(&mut self) {
        self.messages.get_or_insert_default();
    }

    /// What was collected; `None` where messages have a stream.
    pub(crate) fn messages(&self) -> Option<&Messages> {
        self.messages.as_ref()
    }

    /// A report or a record, in one piece: whole, or not at all where it can be taken back.
    pub(crate) fn report(&mut self, text: &str) {
        let result = match &mut self.file {
            Some(file) => whole::write(file, text.as_bytes()),
            None if self.info_on_stderr => whole::write_to(&mut io::stderr(), text.as_bytes()),
            None => whole::write_to(&mut io::stdout(), text.as_bytes()),
        };
        if let Err(error) = result {
            // A reader that has seen enough is told nothing.
            if !self.has_failed && error.kind() != io::ErrorKind::BrokenPipe {
                let _ = writeln!(io::stderr(), "fio: cannot write the output: {error}");
            }
            self.has_failed = true;
        }
    }

    /// Information beside the reports.
    pub(crate) fn info(&mut self, text: &str) {
        match &mut self.messages {
            Some(messages) => messages.push(MessageStream::Info, text),
            None => self.report(text),
        }
    }

    /// Lines of `--debug`: information, but too much of it to be collected.
    pub(crate) fn trace(&mut self, text: &str) {
        if self.messages.is_some() {
            // Nothing is left to tell a failure to.
            let _ = io::stderr().write_all(text.as_bytes());
        } else {
            self.info(text);
        }
    }

    /// Errors and warnings.
    pub(crate) fn error(&mut self, text: &str) {
        let is_among_documents = self.messages.is_some() && self.file.is_none() && self.info_on_stderr;
        if !is_among_documents {
            // Nothing is left to tell a failure to.
            let _ = io::stderr().write_all(text.as_bytes());
        }
        if let Some(messages) = &mut self.messages {
            messages.push(MessageStream::Error, text);
        } else if let Some(file) = &mut self.file {
            self.has_failed |= file.write_all(text.as_bytes()).is_err();
        }
    }
}

/// The progress line: always to the standard output.
pub(crate) fn show_progress(text: &str) {
    // A terminal that is gone needs no progress.
    let _ = whole::write_to(&mut io::stdout(), text.as_bytes());
}
