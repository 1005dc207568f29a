//! Why options were refused, as values: programs that set options (sweeps, libraries) read these, and need no text of fio.
//!
//! Must not know: lines for people; those are made in [`crate::explain`]. Start reading at [`Diagnostic`].

use crate::origin::Origin;
use std::fmt;

/// The kind of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// No option has this name.
    UnknownOption,
    /// The option belongs to other engines than that of the job.
    OptionOfOtherEngine,
    /// No engine has this name.
    UnknownEngine,
    /// No job has this name.
    UnknownJob,
    /// The option does not take this value.
    BadValue,
    /// The option needs a value.
    ValueMissing,
    /// The option, or this value of it, is one of fio that ferrio does not support yet.
    NotBuilt,
    /// The option is one of fio that ferrio will not support.
    NotApplicable,
    /// A job file cannot be read.
    JobFile,
    /// Options of a job, or of two jobs, cannot go together.
    Conflict,
}

/// Why an option was refused, or several together. Its text (`Display`) has all of it in one line, with what is nearest or what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Its kind.
    pub kind: DiagnosticKind,
    /// Where it was written; `None`: it has no one place.
    pub origin: Option<Origin>,
    /// The option as it was written (`iodepth=many`), or the name of the job whose options do not go together.
    pub given: String,
    /// What the option takes, or why it is refused; without a full stop.
    pub allowed: Option<Box<str>>,
    /// The nearest known name or word.
    pub nearest: Option<Box<str>>,
    /// What a user can do about it, as an order without a full stop (`write iodepth`); `None`: it depends on the job.
    pub cure: Option<Box<str>>,
}

/// One line, without the line's end: place, what was given, what is allowed, what is nearest or what to do.
impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.origin.as_ref().and_then(Origin::with_column) {
            write!(formatter, "{place}: ")?;
        }
        match self.kind {
            DiagnosticKind::UnknownOption => write!(formatter, "no option is called {}", self.given)?,
            DiagnosticKind::OptionOfOtherEngine => {
                write!(formatter, "the engine of the job has no option {}", self.given)?;
            }
            DiagnosticKind::UnknownJob => write!(formatter, "no job is called {}", self.given)?,
            DiagnosticKind::UnknownEngine => write!(formatter, "no engine is called {}", self.given)?,
            _ => formatter.write_str(&self.given)?,
        }
        if let Some(allowed) = &self.allowed {
            write!(formatter, ": {allowed}")?;
        }
        match (&self.nearest, &self.cure) {
            (Some(nearest), _) => write!(formatter, "; did you mean {nearest}?"),
            (None, Some(cure)) => write!(formatter, "; {cure}"),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// A text without the name of fio.
pub(crate) fn plain(text: &str) -> String {
    text.strip_prefix("fio: ").unwrap_or(text).trim_end().to_owned()
}
