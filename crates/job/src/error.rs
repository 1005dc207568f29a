//! Errors of a single option, as values with their sentences; [`JobError::lines`] are those for users.
//!
//! Must not know: the place of the option (the caller adds it) and where messages are printed.

use crate::message::{Message, UserLine, UserMessages};
use crate::options::kind::Choice;
use crate::refused_value::{DistributionError, PrioritySplitError, RefusedValue};
use ferrio_units::{ParseError, Wording};
use thiserror::Error;

/// Reason why a value was refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum JobError {
    /// The text is not a value of the option's kind.
    #[error("not a value of this kind")]
    NotParsed,
    /// The text is not a value of the option's kind, and why.
    #[error(transparent)]
    Value(#[from] ParseError),
    /// The option needs a value and got none.
    #[error("option {0} requires an argument")]
    ValueMissing(&'static str),
    /// A number below the bound.
    #[error("{name}: min value out of range: {value} ({min} min)")]
    BelowMinimum { name: &'static str, value: i128, min: i64 },
    /// A number above the bound.
    #[error("{name}: max value out of range: {value} ({max} max)")]
    AboveMaximum { name: &'static str, value: i128, max: i64 },
    /// A boolean above 1.
    #[error("max value out of range: {0} (1 max)")]
    NotBoolean(i128),
    /// A count of zones where none is possible.
    #[error("{0}: 'z' suffix isn't applicable")]
    ZonesNotPossible(&'static str),
    /// The word is not in the enumeration; the known words.
    #[error("not one of the valid values")]
    UnknownWord(&'static [Choice]),
    /// An option's own check failed.
    #[error("{}", .0.line())]
    Refused(#[from] RefusedValue),
    /// A job writes or trims, and the program is told not to.
    #[error("job <{job}> has write or trim bit set, but fio is in read-only mode")]
    ReadOnly { job: String },
    /// An option that fio removed.
    #[error("Option {0} is deprecated")]
    Removed(&'static str),
    /// A system call failed while the value was checked; the text names the check.
    #[error("{line}")]
    System {
        call: &'static str,
        /// The system's words for the error.
        reason: String,
        line: UserLine,
    },
    #[error("engine {0} not loadable")]
    UnknownEngine(String),
    /// A job file or included file could not be opened.
    #[error("unable to open '{name}' job file")]
    Unopened {
        /// The file as it was named.
        name: String,
        /// The system's words.
        reason: String,
        /// Place of the `include` line, if the file was included.
        included: Option<String>,
    },
    #[error("No new sections in included files")]
    SectionIncluded {
        /// The file as it was named.
        name: String,
        place: String,
    },
    /// An option line before the first section.
    #[error("option <{text}> outside of [] job section")]
    OutsideSection {
        /// The line.
        text: String,
        /// Place of the line.
        place: String,
    },
    /// A job file that cannot be read on.
    #[error("{place}: {what}")]
    BadFile {
        /// File, line, column.
        place: String,
        /// Description of the error.
        what: String,
    },
    /// Known, but not built. If only a value of the option is not built, the text names it.
    #[error("known, but not yet supported by ferrio{0}")]
    NotYet(String),
    /// Known, and will not come.
    #[error("known, but not applicable to ferrio: {0}")]
    NotApplicable(String),
}

impl From<DistributionError> for JobError {
    fn from(error: DistributionError) -> Self {
        RefusedValue::from(error).into()
    }
}

impl From<PrioritySplitError> for JobError {
    fn from(error: PrioritySplitError) -> Self {
        RefusedValue::from(error).into()
    }
}

impl JobError {
    /// True when only ferrio refuses this, not fio: the one line with the option's place is then the whole message.
    pub const fn is_ferrios_own(&self) -> bool {
        matches!(self, Self::NotYet(_) | Self::NotApplicable(_))
    }

    /// The lines that come before `failed parsing`.
    pub fn lines(&self) -> Vec<Message> {
        let mut lines = UserMessages::new();
        match self {
            // fio reads such values as others, so the reason is not known to its users.
            Self::Value(error @ (ParseError::LeftOver { .. } | ParseError::RangeNotAllowed { .. })) => {
                lines.err(UserLine::named(error.to_string()));
            }
            Self::NotParsed | Self::Value(_) => {}
            Self::UnknownWord(choices) => lines.out(valid_values(choices)),
            Self::Removed(_) => lines.out(self.to_string()),
            Self::System { call, reason, line } => {
                lines.out(failed_call(call, reason));
                lines.err(line.clone());
            }
            _ => {
                lines.err(self.line());
                for line in self.file_lines() {
                    lines.err(line);
                }
            }
        }
        lines.into_vec()
    }
}

/// The line of a system call that failed, to which fio adds its place in the source.
fn failed_call(call: &str, reason: &str) -> UserLine {
    UserLine::of(|wording| match wording {
        Wording::Fio => format!("fio: file:error.rs:{}, func={call}, error={reason}", line!()),
        Wording::Own => format!("{call}: {reason}"),
    })
}

impl JobError {
    /// The first line about it.
    pub(crate) fn line(&self) -> UserLine {
        match self {
            Self::Refused(value) => value.line(),
            Self::System { line, .. } => line.clone(),
            Self::ValueMissing(_)
            | Self::ReadOnly { .. }
            | Self::UnknownEngine(_)
            | Self::Unopened { .. }
            | Self::OutsideSection { .. }
            | Self::BadFile { .. } => UserLine::named(self.to_string()),
            _ => self.to_string().into(),
        }
    }

    /// Why a job file cannot be read, with the place if it is within the file; `None`: the error itself says it.
    pub(crate) fn file_reason(&self) -> Option<String> {
        match self {
            Self::Unopened { reason, included: None, .. } => Some(reason.clone()),
            error => error.file_lines().pop(),
        }
    }

    /// Lines after the first one of an error about a job file.
    fn file_lines(&self) -> Vec<String> {
        let included = |name: &str| format!("Error 1 while parsing include file {name}");
        match self {
            Self::Unopened { name, reason, included: None } => vec![format!("{name}: {reason}")],
            Self::Unopened { name, reason, included: Some(place) } => {
                vec![included(name), format!("{place}: {reason}")]
            }
            Self::SectionIncluded { name, place } => {
                vec![included(name), format!("{place}: sections belong into the job file itself")]
            }
            Self::OutsideSection { place, .. } => vec![format!("{place}: a section such as [job] must come first")],
            _ => Vec::new(),
        }
    }
}

/// The block that lists the words of an enumeration, with an empty line at its end.
pub fn valid_values(choices: &[Choice]) -> String {
    let mut text = String::new();
    for (index, choice) in choices.iter().enumerate() {
        let head = if index == 0 { "valid values:" } else { "            :" };
        let line = format!("{head:>21} {:<10} {}\n", choice.word, choice.help);
        text.push_str(&line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::OutputStream;
    use crate::options::kind::choice;

    // The layout is that of fio's `failed parsing rw=sideways`.
    #[test]
    fn words_are_listed_on_stdout() {
        const WORDS: &[Choice] = &[choice("read", "Sequential read"), choice("randtrimwrite", "Both")];
        let lines = JobError::UnknownWord(WORDS).lines();
        let expected = "        valid values: read       Sequential read\n                    : randtrimwrite Both\n\n";
        assert_eq!(lines, vec![(OutputStream::Stdout, expected.into())]);
    }
}
