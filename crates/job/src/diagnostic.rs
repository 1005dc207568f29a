//! Why options were refused, as values: programs that set options (sweeps, libraries) read these, and need no text of fio.
//!
//! Must not know: the lines of fio; those are made in [`crate::explain`]. Start reading at [`Diagnostic`].

use crate::origin::Origin;
use ferrio_units::byte_text;
use ferrio_units::terminal_text::escape_name;
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

/// One line, without the line's end: place, what was given, what is allowed, what is nearest or what to do. Control characters are escaped,
/// because a job file may hold any.
impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.origin.as_ref().and_then(Origin::with_column) {
            write!(formatter, "{}: ", shown(&place))?;
        }
        let before = match self.kind {
            DiagnosticKind::UnknownOption => "no option is called ",
            DiagnosticKind::OptionOfOtherEngine => "the engine of the job has no option ",
            DiagnosticKind::UnknownJob => "no job is called ",
            DiagnosticKind::UnknownEngine => "no engine is called ",
            _ => "",
        };
        write!(formatter, "{before}{}", shown(&self.given))?;
        if let Some(allowed) = &self.allowed {
            write!(formatter, ": {}", shown(allowed))?;
        }
        match (&self.nearest, &self.cure) {
            (Some(nearest), _) => write!(formatter, "; did you mean {}?", shown(nearest)),
            (None, Some(cure)) => write!(formatter, "; {}", shown(cure)),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// A text for a line on a terminal.
fn shown(text: &str) -> String {
    escape_name(&byte_text::shown(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_whatever_was_given() {
        let refusal = Diagnostic {
            kind: DiagnosticKind::BadValue,
            origin: None,
            given: "rw=\u{1b}[31m\n".to_owned(),
            allowed: Some("one; two".into()),
            nearest: None,
            cure: None,
        };
        assert_eq!(refusal.to_string(), "rw=\\x1b[31m\\x0a: one; two");
    }
}
