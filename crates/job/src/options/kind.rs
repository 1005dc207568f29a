//! The kinds of values that options take: their syntax and their bounds.
//!
//! Must not know: which options exist, how a value acts. Parsing is in [`crate::value`].

pub use ferrio_spec::syntax::{
    ANY, Bounds, Choice, at_least, at_most, between, choice, planned_choice, refused_choice,
};

use ferrio_units::Wording;

/// An example of a value, in the help of an option.
enum Example {
    None,
    Form(&'static str),
    /// Any text would do, and ferrio's own words leave it out.
    AnyText,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// `0` or `1`.
    Bool,
    /// No value (on), or a number (0 is off).
    Flag,
    /// A number of 32 bits, with the suffixes of sizes.
    Int(Bounds),
    /// One to three numbers as for `Int`: read, write, trim.
    IntPerDirection(Bounds),
    /// A number of 64 bits, with the suffixes of sizes.
    Size(Bounds),
    /// Bytes, `N%` (at most 100) or `Nz` (zones).
    SizeOrPercent,
    /// The same, also above 100 %.
    SizeOrManyPercent,
    /// Two sizes, low and high, or one for both.
    SizePair(Bounds),
    /// One to three sizes: read, write, trim.
    SizePerDirection(Bounds),
    /// One to three ranges of sizes: read, write, trim.
    RangePerDirection(Bounds),
    /// A time; a bare number counts seconds.
    Seconds,
    /// A time as for `Seconds`, a range `LOW-HIGH`, or a distribution, as for `DrawnMicroseconds`.
    DrawnSeconds,
    /// Two such times, low and high, or one for both.
    SecondsPair,
    /// A time; a bare number counts microseconds.
    Microseconds,
    /// A time as for `Microseconds`, or a distribution from which times are drawn: `exponential:MEAN`, `uniform:LOW-HIGH`.
    DrawnMicroseconds,
    /// One to three times as for `Microseconds`: read, write, trim.
    MicrosecondsPerDirection,
    /// A word; the option's own function parses the text after a `:` or `,`.
    Choice(&'static [Choice]),
    /// A word, and after `:` lists joined by commas.
    ChoiceAndLists(&'static [Choice]),
    /// Words joined by commas, and after `:` a number.
    ChoiceSet(&'static [Choice]),
    /// Numbers with decimals, at most `max_len` of them, joined by colons.
    FloatList {
        max_len: usize,
        min: Option<f64>,
        max: Option<f64>,
    },
    Text,
    /// A text, or nothing.
    OptionalText,
    /// Bytes to repeat: decimals, hex, quoted text, quoted file name.
    Pattern,
    /// CPUs: numbers and ranges joined by commas.
    CpuList,
    /// Error names or numbers joined by colons, one list for each of read, write, verify, joined by commas.
    ErrorLists,
    /// Accepted with a note; has no effect.
    Deprecated,
    /// Refused with a note.
    Removed,
}

impl Kind {
    /// The bounds of a whole number, or of each of several; `None`: it takes no whole number that could have any.
    pub const fn bounds(self) -> Option<Bounds> {
        match self {
            Self::Int(bounds)
            | Self::IntPerDirection(bounds)
            | Self::Size(bounds)
            | Self::SizePair(bounds)
            | Self::SizePerDirection(bounds)
            | Self::RangePerDirection(bounds) => Some(bounds),
            _ => None,
        }
    }

    /// True for a single number, size, time or boolean: a list is no value.
    pub const fn takes_one_number(self) -> bool {
        matches!(
            self,
            Self::Bool
                | Self::Int(_)
                | Self::Size(_)
                | Self::SizeOrPercent
                | Self::SizeOrManyPercent
                | Self::Seconds
                | Self::Microseconds
        )
    }

    /// True when the command line accepts the name without `=value`.
    pub const fn value_is_optional(self) -> bool {
        matches!(self, Self::Flag)
    }

    /// The words of an enumeration.
    pub const fn choices(self) -> Option<&'static [Choice]> {
        match self {
            Self::Choice(choices) | Self::ChoiceAndLists(choices) | Self::ChoiceSet(choices) => Some(choices),
            _ => None,
        }
    }

    /// The type's name in lines of `--debug=parse`.
    pub const fn debug_name(self) -> &'static str {
        match self {
            Self::Bool => "OPT_BOOL",
            Self::Flag => "OPT_STR_SET",
            Self::Int(_)
            | Self::IntPerDirection(_)
            | Self::Microseconds
            | Self::DrawnMicroseconds
            | Self::MicrosecondsPerDirection => "OPT_INT",
            Self::Size(_) | Self::SizePerDirection(_) => "OPT_ULL",
            Self::SizeOrPercent | Self::SizeOrManyPercent => "OPT_STR_VAL_ZONE",
            Self::SizePair(_) | Self::RangePerDirection(_) => "OPT_RANGE",
            Self::Seconds | Self::DrawnSeconds | Self::SecondsPair => "OPT_STR_VAL_TIME",
            Self::FloatList { .. } => "OPT_FLOAT_LIST",
            Self::Text => "OPT_STR_STORE",
            Self::Deprecated => "OPT_DEPRECATED",
            Self::Removed => "OPT_UNSUPPORTED",
            Self::OptionalText
            | Self::Pattern
            | Self::CpuList
            | Self::ErrorLists
            | Self::Choice(_)
            | Self::ChoiceAndLists(_)
            | Self::ChoiceSet(_) => "OPT_STR",
        }
    }

    const fn words(self) -> (&'static str, Example) {
        match self {
            Self::Bool => ("boolean value", Example::Form("1")),
            Self::Flag => ("empty or boolean value ([0|1])", Example::None),
            Self::Int(_) | Self::IntPerDirection(_) | Self::SizePerDirection(_) => {
                ("integer value", Example::Form("100"))
            }
            Self::Microseconds | Self::DrawnMicroseconds | Self::MicrosecondsPerDirection => {
                ("time, default unit us", Example::Form("100"))
            }
            Self::Size(_) => ("integer value with possible k/m/g postfix", Example::Form("4k")),
            Self::SizeOrPercent | Self::SizeOrManyPercent => ("size or percentage", Example::Form("4k|50%")),
            Self::SizePair(_) => ("one size, or a low-high range", Example::Form("4k[-8k]")),
            Self::RangePerDirection(_) => ("one to three ranges", Example::Form("1k-4k[,4k-8k[,1k-8k]]")),
            Self::Seconds | Self::DrawnSeconds | Self::SecondsPair => {
                ("string with time postfix", Example::Form("10s"))
            }
            Self::FloatList { .. } => ("list of floating point values separated by ':'", Example::Form("5.9:7.8")),
            Self::CpuList => ("list of CPUs", Example::Form("0,2-5")),
            Self::Deprecated | Self::Removed => ("deprecated", Example::None),
            Self::OptionalText => ("empty or string", Example::AnyText),
            Self::Choice(_)
            | Self::ChoiceAndLists(_)
            | Self::ChoiceSet(_)
            | Self::Text
            | Self::Pattern
            | Self::ErrorLists => ("string", Example::AnyText),
        }
    }

    /// The `type:` line of the option help.
    pub fn describe(self, wording: Wording) -> String {
        let (what, example) = self.words();
        match (wording, example) {
            (_, Example::None) | (Wording::Own, Example::AnyText) => what.to_owned(),
            (Wording::Fio, Example::AnyText) => format!("{what} (opt=bla)"),
            (Wording::Fio, Example::Form(form)) => format!("{what} (opt={form})"),
            (Wording::Own, Example::Form(form)) => format!("{what} (such as {form})"),
        }
    }
}
