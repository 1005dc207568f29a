//! Lines that explain why an option was refused: fio's lines, and the option's place in a job file.
//!
//! Must not know: how job files and command lines are read.

use crate::cure;
use crate::diagnostic::Diagnostic;
use crate::error::{JobError, valid_values};
use crate::help;
use crate::message::{UserLine, UserMessages};
use crate::options::OPTIONS;
use crate::options::definition::OptionDef;
use crate::origin::Origin;
use crate::refusal::{near_engine, near_word};
use crate::suggest::nearest;
use ferrio_units::value::is_list;
use ferrio_units::{ParseError, Wording};
use std::fmt;

/// Reports a refused value. `text` is the option as it was written.
pub fn refused(messages: &mut UserMessages, error: &JobError, def: &OptionDef, text: &str, origin: &Origin) {
    messages.diagnose(Diagnostic::refused(error, text, expected(def, error, text, Wording::Own), origin));
    if error.is_ferrios_own() {
        messages.err(UserLine::named(format!("option {} ({origin}): {error}", def.name)));
        return;
    }
    match (error, origin) {
        // In a job file, fio collects options without `=` in a list beside the errors, but passes over options with
        // nothing after the `=`.
        (JobError::ValueMissing(name), Origin::File { .. }) if !text.contains('=') => {
            messages.out(format!("Option {name} requires an argument"));
        }
        (JobError::ValueMissing(_), Origin::File { .. }) => {}
        _ => messages.extend(error.lines()),
    }
    match error {
        JobError::UnknownEngine(name) => {
            messages.err(UserLine::named("failed to load engine"));
            tell_near_engine(messages, name, origin);
            return;
        }
        JobError::SaidWithHelp(_) => {
            messages.err(UserLine::of(|wording| help::correct_format(def, wording)));
            messages.out(valid_values(def.kind.choices().unwrap_or_default()));
        }
        _ => {}
    }
    if !matches!((error, origin), (JobError::ValueMissing(_), Origin::CommandLine)) {
        messages.err(UserLine::named(format!("failed parsing {text}")));
    }
    let place = origin.place();
    messages.err(UserLine::of(|wording| format!("{place}: {}", expected(def, error, text, wording))));
}

/// Warns that an option of a profile has no effect in a job.
pub fn without_effect(messages: &mut UserMessages, def: &OptionDef, origin: &Origin) {
    if let Some(profile) = def.profile {
        let name = def.name;
        messages.err(format!(
            "{}: {name} is an option of the profile {profile}: it has no effect on a job",
            origin.place()
        ));
    }
}

/// True when the rest of the section is skipped after this error.
pub fn stops_at_once(error: &JobError) -> bool {
    error.is_ferrios_own() || matches!(error, JobError::UnknownEngine(_))
}

/// Adds the place of an unknown option, and a similar name if there is one.
pub fn unknown(messages: &mut UserMessages, name: &str, engine: &str, origin: &Origin) {
    let place = origin.place();
    let owner = cure::owner(name);
    let mut line = format!("{place}: unknown option {}", shortened(name));
    let near = near_name(name, engine).filter(|_| owner.is_none());
    messages.diagnose(Diagnostic::unknown(&shortened(name), near.as_ref().map(Near::name), origin));
    if let Some(def) = owner {
        let has = if def.engines.len() == 1 { "has" } else { "have" };
        line.extend([format!(" (the engine {engine} has none; {} {has})", def.engines.join(", "))]);
    } else if let Some(near) = &near {
        line.extend([format!("; the nearest known name is {near}")]);
    }
    messages.err(line);
}

/// A known name of an option that is near to a given one.
pub(crate) struct Near {
    name: &'static str,
    /// The engines that have the option, none of which is that of the job; empty: the job may use it.
    engines: &'static [&'static str],
}

impl Near {
    pub(crate) fn name(&self) -> String {
        self.name.to_owned()
    }
}

impl fmt::Display for Near {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)?;
        if self.engines.is_empty() { Ok(()) } else { write!(formatter, ", an option of {}", self.engines.join(", ")) }
    }
}

/// The nearest name of an option that the job may use; that of another engine's option if it is nearer and hardly differs.
pub(crate) fn near_name(name: &str, engine: &str) -> Option<Near> {
    const N_SLIPS: usize = 2;
    let is_usable = |def: &OptionDef| def.is_general() || def.engines.contains(&engine);
    let near = nearest(name, OPTIONS.iter().filter(|def| is_usable(def)).flat_map(OptionDef::names));
    let elsewhere = OPTIONS.iter().filter(|def| !is_usable(def) && def.profile.is_none());
    if let Some((other, distance)) = nearest(name, elsewhere.clone().flat_map(OptionDef::names))
        && distance <= N_SLIPS
        && near.is_none_or(|(_, of_near)| distance < of_near)
        && let Some(def) = elsewhere.clone().find(|def| def.is_called(other))
    {
        return Some(Near { name: other, engines: def.engines });
    }
    let (near, distance) = near?;
    (distance <= name.chars().count().div_ceil(3)).then_some(Near { name: near, engines: &[] })
}

fn tell_near_engine(messages: &mut UserMessages, name: &str, origin: &Origin) {
    let place = origin.place();
    match near_engine(name) {
        Some(near) => messages.err(format!("{place}: no such engine; the nearest known name is {near}")),
        None => messages.err(format!("{place}: no such engine")),
    }
}

pub(crate) fn expected(def: &OptionDef, error: &JobError, text: &str, wording: Wording) -> String {
    match error {
        JobError::UnknownWord(choices) => {
            let given = text.split_once('=').map_or("", |(_, value)| value.trim());
            let near = near_word(choices, given).map_or(String::new(), |near| format!("; did you mean {near}?"));
            format!("{} takes one of the valid values{near}", def.name)
        }
        JobError::Value(ParseError::TooManyValues { max: 3, .. }) => {
            format!("{} takes at most three values: read,write,trim", def.name)
        }
        JobError::Value(ParseError::TooManyValues { max, .. }) => format!("{} takes at most {max} values", def.name),
        JobError::NotParsed if def.kind.takes_one_number() && has_list(text) => {
            format!("{} takes one value, not a list: {}", def.name, def.kind.describe(wording))
        }
        // A number without a value has no reason of its own.
        JobError::Value(reason) if *reason != ParseError::Empty => {
            format!("{} takes: {}; {reason}", def.name, def.kind.describe(wording))
        }
        _ => format!("{} takes: {}", def.name, def.kind.describe(wording)),
    }
}

fn has_list(text: &str) -> bool {
    text.split_once('=').is_some_and(|(_, value)| is_list(value))
}

/// A name short enough for a message.
fn shortened(name: &str) -> String {
    const MAX_CHARS: usize = 64;
    match name.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}
