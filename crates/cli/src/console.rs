//! Where output goes: standard output and error, and the file of `--output`.
//!
//! Must not know: what is printed. Start reading at [`Console`].

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The streams of a run.
pub(crate) struct Console {
    file: Option<File>,
    /// Reports and information share the standard output with a job's data: they go to the standard error.
    info_on_stderr: bool,
    /// Something could not be written.
    pub(crate) has_failed: bool,
}

impl Console {
    /// Everything to the standard streams.
    pub(crate) fn standard() -> Self {
        Self { file: None, info_on_stderr: false, has_failed: false }
    }

    /// Information and errors to a file that is emptied first; errors to the standard error as well.
    pub(crate) fn to_file(path: &Path) -> io::Result<Self> {
        Ok(Self { file: Some(File::create(path)?), ..Self::standard() })
    }

    /// Keeps the standard output for a job that writes to it.
    pub(crate) fn keep_stdout_free(&mut self) {
        self.info_on_stderr = true;
    }

    /// Reports and information.
    pub(crate) fn info(&mut self, text: &str) {
        let result = match &mut self.file {
            Some(file) => file.write_all(text.as_bytes()),
            None if self.info_on_stderr => io::stderr().write_all(text.as_bytes()),
            None => write_out(text),
        };
        if let Err(error) = result {
            // A reader that has seen enough is told nothing.
            if !self.has_failed && error.kind() != io::ErrorKind::BrokenPipe {
                let _ = writeln!(io::stderr(), "fio: cannot write the output: {error}");
            }
            self.has_failed = true;
        }
    }

    /// Errors and warnings.
    pub(crate) fn error(&mut self, text: &str) {
        // Nothing is left to tell a failure to.
        let _ = io::stderr().write_all(text.as_bytes());
        if let Some(file) = &mut self.file {
            self.has_failed |= file.write_all(text.as_bytes()).is_err();
        }
    }
}

/// The progress line: always to the standard output.
pub(crate) fn show_progress(text: &str) {
    // A terminal that is gone needs no progress.
    let _ = write_out(text);
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
