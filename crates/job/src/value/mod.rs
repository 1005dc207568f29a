//! From the text of an option to a [`Value`], by the option's [`Kind`].
//!
//! Must not know: which option it is beyond its row, where the value goes.
//! Start reading at [`parse`].

pub mod errno;
pub mod lists;
pub(crate) mod pattern;
pub mod scalar;

use crate::error::JobError;
use crate::options::kind::{Bounds, Choice, Kind};
use ferrio_spec::{DrawnTime, SizeSpec};
use ferrio_units::value::{TimeUnit, is_list, parse_flag};
use ferrio_units::{KbBase, PerDirection};
use lists::{directions, pair};
use scalar::{integer, time_us};

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value was needed, and none given.
    Nothing,
    Bool(bool),
    /// A number, in the unit of the option; sizes in bytes, times in microseconds.
    Number(i64),
    /// Numbers for read, write, trim; `None` keeps the previous setting.
    Numbers(PerDirection<Option<i64>>),
    /// Bytes or percent.
    Size(SizeSpec),
    Zones(u64),
    /// Low and high bound, in the unit of the option.
    Pair(u64, u64),
    Drawn(DrawnTime),
    /// Ranges in bytes for read, write, trim; `None` keeps the previous setting.
    Ranges(PerDirection<Option<(u64, u64)>>),
    /// A word of an enumeration, and the text after the colon.
    Word(&'static Choice, Option<String>),
    /// Words of an enumeration, and the text after the colon.
    Words(Vec<&'static Choice>, Option<String>),
    /// Decimals, and the largest number of digits after a point.
    Floats(Vec<f64>, u32),
    Text(String),
    /// CPU numbers, ascending, each once.
    Cpus(Vec<u32>),
    /// Error numbers for read, write, verify.
    Errors([Option<Vec<i32>>; 3]),
}

/// Settings that parsing a value depends on, beside the row of the table.
#[derive(Debug, Clone, Copy)]
pub struct ValueContext {
    pub kb_base: KbBase,
    /// Number of CPUs of the machine.
    pub n_cpus: u32,
}

/// A parsed value, and lines about parts of it that were left out.
pub type Parsed = (Value, Vec<String>);

/// What parsing has to know of an option.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueSyntax {
    pub name: &'static str,
    pub kind: Kind,
    /// It belongs to an engine: as in fio, `kb_base` does not apply to it.
    pub is_of_engine: bool,
}

/// Parses `text` (`None`: the option has no value) by the kind of its option.
pub fn parse(option: ValueSyntax, text: Option<&str>, context: ValueContext) -> Result<Parsed, JobError> {
    if let Kind::FloatList { max_len, min, max } = option.kind {
        let text = text.ok_or(JobError::ValueMissing(option.name))?;
        let (values, digits, remarks) = lists::floats(text, max_len, min, max)?;
        if values.is_empty() {
            return Err(JobError::Said(remarks.join("\n").into()));
        }
        return Ok((Value::Floats(values, digits), remarks));
    }
    parse_plain(option, text, context).map(|value| (value, Vec::new()))
}

fn parse_plain(option: ValueSyntax, text: Option<&str>, context: ValueContext) -> Result<Value, JobError> {
    match option.kind {
        Kind::Flag => flag(text),
        Kind::OptionalText => Ok(text.map_or(Value::Nothing, |text| Value::Text(text.to_owned()))),
        Kind::Deprecated | Kind::Removed if text.is_none() => Err(JobError::ValueMissing(option.name)),
        Kind::Deprecated => Ok(Value::Nothing),
        Kind::Removed => Err(JobError::Removed(option.name)),
        Kind::Choice(choices) => word(choices, text, false),
        Kind::ChoiceAndLists(choices) => word(choices, text, true),
        Kind::ChoiceSet(choices) => words(choices, text.ok_or(JobError::ValueMissing(option.name))?),
        _ => {
            let text = required(option, text)?;
            // From such a list fio takes the first number for some options and the last for others; here it is refused.
            let is_wrong_list = option.kind.takes_one_number() && is_list(text);
            if is_wrong_list { Err(JobError::NotParsed) } else { parse_required(option, text, context) }
        }
    }
}

fn parse_required(option: ValueSyntax, text: &str, context: ValueContext) -> Result<Value, JobError> {
    let (name, kb_base) = (option.name, if option.is_of_engine { KbBase::Binary } else { context.kb_base });
    let bounded = |bounds: Bounds| move |text: &str| integer(name, text, kb_base, bounds);
    let in_unit = |unit: TimeUnit| move |text: &str| time_us(name, text, unit);
    match option.kind {
        Kind::Bool => scalar::boolean(text).map(Value::Bool),
        Kind::Int(bounds) => bounded(bounds.in_32_bits())(text).map(Value::Number),
        Kind::Size(bounds) => bounded(bounds)(text).map(Value::Number),
        Kind::IntPerDirection(bounds) => directions(text, bounded(bounds.in_32_bits())).map(Value::Numbers),
        Kind::SizePerDirection(bounds) => directions(text, bounded(bounds)).map(Value::Numbers),
        Kind::SizeOrPercent => scalar::size(name, text, kb_base, 100),
        Kind::SizeOrManyPercent => scalar::size(name, text, kb_base, u32::MAX),
        Kind::SizePair(bounds) => pair(text, bounded(bounds)).map(|(low, high)| Value::Pair(low, high)),
        Kind::RangePerDirection(bounds) => {
            let min = bounds.min.map_or(0, i64::unsigned_abs);
            lists::ranges(name, text, kb_base, min).map(Value::Ranges)
        }
        Kind::Seconds => in_unit(TimeUnit::Seconds)(text).map(Value::Number),
        Kind::DrawnSeconds => scalar::drawn_length(name, text, TimeUnit::Seconds),
        Kind::SecondsPair => pair(text, in_unit(TimeUnit::Seconds)).map(|(low, high)| Value::Pair(low, high)),
        Kind::Microseconds => in_unit(TimeUnit::Microseconds)(text).map(Value::Number),
        Kind::DrawnMicroseconds => scalar::drawn_time(name, text, TimeUnit::Microseconds),
        Kind::MicrosecondsPerDirection => directions(text, in_unit(TimeUnit::Microseconds)).map(Value::Numbers),
        Kind::CpuList => lists::cpus(text, context.n_cpus).map(Value::Cpus),
        Kind::ErrorLists => lists::errors(text).map(Value::Errors),
        _ => Ok(Value::Text(text.to_owned())),
    }
}

fn required(option: ValueSyntax, text: Option<&str>) -> Result<&str, JobError> {
    text.filter(|text| !text.is_empty()).ok_or(JobError::ValueMissing(option.name))
}

fn flag(text: Option<&str>) -> Result<Value, JobError> {
    if text.is_some_and(is_list) {
        return Err(JobError::NotParsed);
    }
    Ok(Value::Bool(text.map_or(Ok(true), parse_flag)?))
}

/// The word ends at the first comma, or without a comma at the first colon; the text after a comma is not part of the
/// value. With `takes_lists`, commas after the colon are part of the value.
fn word(choices: &'static [Choice], text: Option<&str>, takes_lists: bool) -> Result<Value, JobError> {
    let text = text.unwrap_or_default();
    let end = if takes_lists { text.find([',', ':']) } else { text.find(',').or_else(|| text.find(':')) };
    let (head, rest) = match end {
        Some(position) => (&text[..position], text[position..].strip_prefix(':').map(str::to_owned)),
        None => (text, None),
    };
    let found = find(choices, head).ok_or(JobError::UnknownWord(choices))?;
    Ok(Value::Word(found, rest))
}

fn words(choices: &'static [Choice], text: &str) -> Result<Value, JobError> {
    let (head, rest) = match text.split_once(':') {
        Some((head, rest)) => (head, Some(rest.to_owned())),
        None => (text, None),
    };
    let found: Option<Vec<_>> = head.split(',').map(|word| find(choices, word)).collect();
    Ok(Value::Words(found.ok_or(JobError::UnknownWord(choices))?, rest))
}

fn find(choices: &'static [Choice], word: &str) -> Option<&'static Choice> {
    choices.iter().find(|choice| choice.word == word)
}

/// Access by the variant that the option's kind promises.
impl Value {
    pub fn bool(&self) -> Result<bool, JobError> {
        if let Self::Bool(on) = self { Ok(*on) } else { Err(JobError::NotParsed) }
    }

    pub fn number(&self) -> Result<i64, JobError> {
        if let Self::Number(number) = self { Ok(*number) } else { Err(JobError::NotParsed) }
    }

    /// Numbers for read, write, trim.
    pub fn numbers(&self) -> Result<&PerDirection<Option<i64>>, JobError> {
        if let Self::Numbers(numbers) = self { Ok(numbers) } else { Err(JobError::NotParsed) }
    }

    pub fn zones(&self) -> Option<u64> {
        if let Self::Zones(n_zones) = self { Some(*n_zones) } else { None }
    }

    /// Bytes or percent.
    pub fn size(&self) -> Result<SizeSpec, JobError> {
        if let Self::Size(size) = self { Ok(*size) } else { Err(JobError::NotParsed) }
    }

    /// Low and high bound.
    pub fn pair(&self) -> Result<(u64, u64), JobError> {
        if let Self::Pair(low, high) = self { Ok((*low, *high)) } else { Err(JobError::NotParsed) }
    }

    /// Ranges for read, write, trim.
    pub fn ranges(&self) -> Result<&PerDirection<Option<(u64, u64)>>, JobError> {
        if let Self::Ranges(ranges) = self { Ok(ranges) } else { Err(JobError::NotParsed) }
    }

    pub fn text(&self) -> Result<&str, JobError> {
        if let Self::Text(text) = self { Ok(text) } else { Err(JobError::NotParsed) }
    }

    pub fn word(&self) -> Result<&'static str, JobError> {
        if let Self::Word(choice, _) = self { Ok(choice.word) } else { Err(JobError::NotParsed) }
    }

    /// Words of an enumeration, and the text after the colon.
    pub fn words(&self) -> Result<(&[&'static Choice], Option<&str>), JobError> {
        if let Self::Words(words, rest) = self { Ok((words, rest.as_deref())) } else { Err(JobError::NotParsed) }
    }

    /// The text after the colon of a word.
    pub fn rest(&self) -> Option<&str> {
        if let Self::Word(_, rest) = self { rest.as_deref() } else { None }
    }
}
