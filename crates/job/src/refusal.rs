//! Refusals of values and of job files as [`Diagnostic`]s: what was given, what is allowed, and what is nearest.
//!
//! Must not know: the lines of fio. Start reading at [`Diagnostic::refused`].

use crate::cure;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::error::JobError;
use crate::message::UserLine;
use crate::options::definition::OptionDef;
use crate::options::kind::Choice;
use crate::origin::Origin;
use crate::suggest::nearest;
use ferrio_spec::engines::ENGINES;
use ferrio_units::{Wording, byte_text};

impl Diagnostic {
    /// A name that no option of the job's engine has.
    pub(crate) fn unknown(name: &str, nearest: Option<String>, origin: &Origin) -> Self {
        let is_of_others = cure::owner(name).is_some();
        let nearest = nearest.filter(|_| !is_of_others);
        let (origin, cure) = (Some(origin.clone()), Some(cure::of_name(name, nearest.as_deref()).into()));
        Self {
            kind: if is_of_others { DiagnosticKind::OptionOfOtherEngine } else { DiagnosticKind::UnknownOption },
            origin,
            given: byte_text::shown(name).into_owned(),
            allowed: None,
            nearest: nearest.map(Into::into),
            cure,
        }
    }

    /// A name that none of these jobs has.
    pub(crate) fn unknown_job<'a>(name: &str, jobs: impl Iterator<Item = &'a str> + Clone) -> Self {
        let cure = cure::of_job(jobs.clone()).map(Into::into);
        let near = nearest(name, jobs).filter(|(_, distance)| *distance <= name.len().div_ceil(2));
        let nearest = near.map(|(near, _)| near.into());
        Self { kind: DiagnosticKind::UnknownJob, origin: None, given: name.to_owned(), allowed: None, nearest, cure }
    }

    /// Options of a job that cannot go together; `lines` say why, the last one foremost.
    pub(crate) fn conflict(job: &str, lines: &[UserLine]) -> Self {
        let allowed = lines.last().map(|line| in_one_line(line).into());
        let given = format!("job {job}");
        Self { kind: DiagnosticKind::Conflict, origin: None, given, allowed, nearest: None, cure: None }
    }

    /// A refused value. `text` is the option as it was written; `takes` says what it takes.
    pub(crate) fn refused(error: &JobError, text: &str, takes: String, origin: &Origin) -> Self {
        let value = text.split_once('=').map_or("", |(_, value)| value.trim());
        let (kind, allowed, nearest) = match error {
            JobError::UnknownEngine(name) => (DiagnosticKind::UnknownEngine, None, near_engine(name)),
            JobError::ValueMissing(_) => (DiagnosticKind::ValueMissing, Some(takes), None),
            JobError::NotYet(_) => (DiagnosticKind::NotBuilt, Some(error.to_string()), None),
            JobError::NotApplicable(_) => (DiagnosticKind::NotApplicable, Some(error.to_string()), None),
            JobError::UnknownWord(choices) => {
                (DiagnosticKind::BadValue, Some(words(choices)), near_word(choices, value))
            }
            JobError::NotParsed | JobError::Value(_) => (DiagnosticKind::BadValue, Some(takes), None),
            JobError::BelowMinimum { min, .. } => {
                (DiagnosticKind::BadValue, Some(format!("at least {min}; {takes}")), None)
            }
            JobError::AboveMaximum { max, .. } => {
                (DiagnosticKind::BadValue, Some(format!("at most {max}; {takes}")), None)
            }
            _ => (DiagnosticKind::BadValue, Some(in_one_line(&error.line())), None),
        };
        let given = if let JobError::UnknownEngine(name) = error { name } else { text };
        let given = byte_text::shown(given).into_owned();
        let option = text.split_once('=').map_or(text, |(option, _)| option.trim());
        let cure = Some(cure::of_value(error, option, nearest.as_deref()).into());
        let (allowed, nearest) = (allowed.map(Into::into), nearest.map(Into::into));
        Self { kind, origin: Some(origin.clone()), given, allowed, nearest, cure }
    }

    /// A job file that cannot be read, and why.
    pub(crate) fn job_file(error: &JobError) -> Self {
        let given = in_one_line(&error.line());
        let allowed = error.file_reason().map(String::into_boxed_str);
        Self { kind: DiagnosticKind::JobFile, origin: None, given, allowed, nearest: None, cure: None }
    }
}

/// ferrio's own words, the lines after each other.
fn in_one_line(line: &UserLine) -> String {
    line.text(Wording::Own).lines().map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

fn words(choices: &[Choice]) -> String {
    let words: Vec<&str> = choices.iter().map(|choice| choice.word).collect();
    format!("one of {}", words.join(", "))
}

/// The known word that is nearest to a given one, if it is near.
pub(crate) fn near_word(choices: &[Choice], given: &str) -> Option<String> {
    let (near, distance) = nearest(given, choices.iter().map(|choice| choice.word))?;
    (distance <= given.len() / 2).then(|| near.to_owned())
}

/// The engine whose name is nearest to a given one, if it is near.
pub(crate) fn near_engine(name: &str) -> Option<String> {
    let (near, distance) = nearest(name, ENGINES.iter().map(|engine| engine.name))?;
    (distance <= name.len().div_ceil(2)).then(|| near.to_owned())
}

pub(crate) fn written(def: &OptionDef, value: Option<&str>) -> String {
    value.map_or_else(|| def.name.to_owned(), |value| format!("{}={value}", def.name))
}
