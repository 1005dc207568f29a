//! The types that values of engines' options have: how a kept value becomes one, and back.
//!
//! Must not know: names of options, their help. Start reading at [`OptionType`].

use crate::EngineValue;
use crate::values::syntax::Choice;

/// A type that values of options have. It is also the type of the default, with `None` where there is none.
pub trait OptionType: Copy {
    type Given<'a>;
    /// A value that is read: the one that was given, or the default.
    type Read<'a>;

    /// The value in force. A value of another kind counts as not given; parsed ones have the right kind.
    fn read(default: Self, given: Option<&EngineValue>) -> Self::Read<'_>;

    /// The form in which a job keeps a value.
    fn keep(value: Self::Given<'_>) -> EngineValue;
}

/// An enum whose variants are the words of an option; `words!` makes one.
pub trait Word: Copy + 'static {
    /// The variants. The first one is the default.
    const ALL: &'static [Self];
    /// Their words and help, in the same order.
    const CHOICES: &'static [Choice];

    /// Index of the variant in both lists.
    fn index(self) -> usize;
}

impl OptionType for bool {
    type Given<'a> = bool;
    type Read<'a> = bool;

    fn read(default: bool, given: Option<&EngineValue>) -> bool {
        match given {
            Some(EngineValue::Bool(is_on)) => *is_on,
            Some(EngineValue::Int(number)) => *number != 0,
            _ => default,
        }
    }

    fn keep(is_on: bool) -> EngineValue {
        EngineValue::Bool(is_on)
    }
}

impl OptionType for Option<i64> {
    type Given<'a> = i64;
    type Read<'a> = Option<i64>;

    fn read(default: Option<i64>, given: Option<&EngineValue>) -> Option<i64> {
        match given {
            Some(EngineValue::Int(number)) => Some(*number),
            Some(EngineValue::Bool(is_on)) => Some(i64::from(*is_on)),
            _ => default,
        }
    }

    fn keep(number: i64) -> EngineValue {
        EngineValue::Int(number)
    }
}

impl OptionType for i64 {
    type Given<'a> = i64;
    type Read<'a> = i64;

    fn read(default: i64, given: Option<&EngineValue>) -> i64 {
        Option::<i64>::read(None, given).unwrap_or(default)
    }

    fn keep(number: i64) -> EngineValue {
        EngineValue::Int(number)
    }
}

impl OptionType for Option<&'static str> {
    type Given<'a> = &'a str;
    type Read<'a> = Option<&'a str>;

    fn read<'a>(default: Option<&'static str>, given: Option<&'a EngineValue>) -> Option<&'a str> {
        match given {
            Some(EngineValue::Text(text)) => Some(text),
            Some(EngineValue::Secret(secret)) => secret.value(),
            _ => default,
        }
    }

    fn keep(text: &str) -> EngineValue {
        EngineValue::Text(text.to_owned())
    }
}

impl OptionType for &'static str {
    type Given<'a> = &'a str;
    type Read<'a> = &'a str;

    fn read<'a>(default: &'static str, given: Option<&'a EngineValue>) -> &'a str {
        Option::<&'static str>::read(None, given).unwrap_or(default)
    }

    fn keep(text: &str) -> EngineValue {
        EngineValue::Text(text.to_owned())
    }
}

impl<W: Word> OptionType for W {
    type Given<'a> = W;
    type Read<'a> = W;

    fn read(default: W, given: Option<&EngineValue>) -> W {
        let Some(EngineValue::Text(text)) = given else { return default };
        let index = W::CHOICES.iter().position(|choice| choice.word == text);
        index.and_then(|index| W::ALL.get(index)).copied().unwrap_or(default)
    }

    fn keep(word: W) -> EngineValue {
        EngineValue::Text(W::CHOICES[word.index()].word.to_owned())
    }
}
