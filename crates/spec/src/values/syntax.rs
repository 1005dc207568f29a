//! Parts of the syntax of options: bounds of numbers, words to choose from.
//!
//! Must not know: which options exist, how a value is parsed, what it does.

use crate::Status;

/// Bounds of a number, in the unit of the option; `None` is unbounded on that side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub min: Option<i64>,
    pub max: Option<i64>,
}

impl Bounds {
    /// The same bounds, limited to numbers of 32 bits: signed if the number has to be positive, otherwise signed or
    /// unsigned.
    #[must_use]
    pub const fn in_32_bits(self) -> Self {
        let (least, most) = (i32::MIN as i64, u32::MAX as i64);
        let (min, is_positive) = match self.min {
            Some(min) => (min, min > 0),
            None => (least, false),
        };
        let max = match self.max {
            Some(max) => max,
            None if is_positive => i32::MAX as i64,
            None => most,
        };
        Self { min: Some(min), max: Some(max) }
    }
}

/// No bounds.
pub const ANY: Bounds = Bounds { min: None, max: None };

pub const fn at_least(min: i64) -> Bounds {
    Bounds { min: Some(min), max: None }
}

/// At most `max`. As in fio, a lower bound of 0 is not enforced.
pub const fn at_most(max: i64) -> Bounds {
    Bounds { min: None, max: Some(max) }
}

pub const fn between(min: i64, max: i64) -> Bounds {
    Bounds { min: Some(min), max: Some(max) }
}

/// One word of an enumeration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The word, case-sensitive.
    pub word: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// How much of this word is built.
    pub status: Status,
}

pub const fn choice(word: &'static str, help: &'static str) -> Choice {
    Choice { word, help, status: Status::Supported }
}

/// A word that is known but not built.
pub const fn planned_choice(word: &'static str, help: &'static str) -> Choice {
    Choice { word, help, status: Status::Planned(None) }
}

/// A word that will not come.
pub const fn refused_choice(word: &'static str, help: &'static str, why: &'static str) -> Choice {
    Choice { word, help, status: Status::NotApplicable(why) }
}
