//! The declaration of a private option of an engine: its row for parser and help, and the type that the engine reads.
//!
//! An option is a constant of the type [`EngineOption`], made by the function for its syntax ([`flag`], [`number`], ...)
//! and the methods chained to it, within `engine_options!`. Must not know: how texts are parsed, which options exist.
//! Start reading at [`EngineOption`].

use super::typed::{OptionType, Word};
use crate::values::syntax::{Bounds, Choice};
use crate::{DeviationKind, EngineValue, OptionRow, Secrecy, Status};
use std::ops::Deref;

/// A private option of an engine, whose values have the type `T`: `bool`, `i64`, a text or an enum of words, and
/// `Option` of these where the option has no default. It has the type `()` while nothing reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOption<T> {
    def: EngineOptionDef,
    default: T,
}

/// The row of a private option of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOptionDef {
    /// What help and parser know about every option.
    pub row: OptionRow,
    pub syntax: OptionSyntax,
    pub goes_to: GoesTo,
    /// An option of ferrio's own, of an engine that fio has too.
    pub is_own: bool,
}

impl Deref for EngineOptionDef {
    type Target = OptionRow;

    fn deref(&self) -> &OptionRow {
        &self.row
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionSyntax {
    /// `0` or `1`.
    Bool,
    /// No value (on), or a number (0 is off).
    Flag,
    /// A number of 32 bits, with the suffixes of sizes.
    Int(Bounds),
    /// One to three such numbers: read, write, trim.
    IntPerDirection(Bounds),
    /// A number of 64 bits, with the suffixes of sizes.
    Size(Bounds),
    Text,
    Word(&'static [Choice]),
}

/// Where the value of an engine's option goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoesTo {
    /// To the engine, which reads it by the declaration.
    Engine,
    /// Into the priorities of single I/Os.
    CommandPriority(CommandPriorityPart),
}

/// Parts of the priorities of single I/Os that options set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandPriorityPart {
    /// Shares of all I/Os.
    Percentage,
    Class,
    Hint,
    /// Level within the class.
    Level,
    /// Shares by block size.
    Splits,
}

const fn built<T>(name: &'static str, help: &'static str, syntax: OptionSyntax, default: T) -> EngineOption<T> {
    let def = EngineOptionDef {
        row: OptionRow::new(name, help, Status::Supported),
        syntax,
        goes_to: GoesTo::Engine,
        is_own: false,
    };
    EngineOption { def, default }
}

/// An option that is on when its name is given; off by default.
pub const fn flag(name: &'static str, help: &'static str) -> EngineOption<bool> {
    built(name, help, OptionSyntax::Flag, false)
}

/// A boolean; off by default.
pub const fn boolean(name: &'static str, help: &'static str) -> EngineOption<bool> {
    built(name, help, OptionSyntax::Bool, false)
}

/// A number of which only matters whether it is 0, which is off and the default.
pub const fn number_flag(name: &'static str, help: &'static str, bounds: Bounds) -> EngineOption<bool> {
    built(name, help, OptionSyntax::Int(bounds), false)
}

/// A number of 32 bits.
pub const fn number(name: &'static str, help: &'static str, bounds: Bounds) -> EngineOption<Option<i64>> {
    built(name, help, OptionSyntax::Int(bounds), None)
}

/// A number of 64 bits; one above the largest `i64` is read as the negative number with the same bits.
pub const fn size(name: &'static str, help: &'static str, bounds: Bounds) -> EngineOption<Option<i64>> {
    built(name, help, OptionSyntax::Size(bounds), None)
}

pub const fn text(name: &'static str, help: &'static str) -> EngineOption<Option<&'static str>> {
    built(name, help, OptionSyntax::Text, None)
}

/// One of the words of an enum. The first one is the default.
pub const fn word<W: Word>(name: &'static str, help: &'static str) -> EngineOption<W> {
    let mut option = built(name, help, OptionSyntax::Word(W::CHOICES), W::ALL[0]);
    option.def.row.default = Some(W::CHOICES[0].word);
    option
}

/// One of these words, in an option that is not built.
pub const fn untyped_word(name: &'static str, help: &'static str, words: &'static [Choice]) -> EngineOption<()> {
    built(name, help, OptionSyntax::Word(words), ()).planned()
}

/// Help on `server_timeout`, which all engines for storage behind a server have.
pub(super) const SERVER_TIMEOUT_HELP: &str = "An option of ferrio's own. If the job waits for I/Os and none is answered for so long, they fail with ETIMEDOUT, and the job ends; fio \
     waits for ever. The end of runtime, and a stop, wait no longer than a second or two for answers, whatever this says.";

/// An option whose value goes into the priorities of single I/Os.
pub const fn of_command_priority(
    name: &'static str,
    help: &'static str,
    syntax: OptionSyntax,
    part: CommandPriorityPart,
) -> EngineOption<()> {
    let mut option = built(name, help, syntax, ());
    option.def.goes_to = GoesTo::CommandPriority(part);
    option
}

impl<T> EngineOption<T> {
    pub const fn name(&self) -> &'static str {
        self.def.row.name
    }

    /// What parser and help know about it.
    pub const fn def(&self) -> EngineOptionDef {
        self.def
    }

    /// Sets the other names.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.def.row.aliases = aliases;
        self
    }

    /// Sets the value, other than the default, that changes nothing.
    #[must_use]
    pub const fn neutral(mut self, text: &'static str) -> Self {
        self.def.row.neutral = Some(text);
        self
    }

    /// Sets the option under which the help lists this one.
    #[must_use]
    pub const fn under(mut self, parent: &'static str) -> Self {
        self.def.row.parent = Some(parent);
        self
    }

    /// Adds help beyond the one line.
    #[must_use]
    pub const fn long(mut self, text: &'static str) -> Self {
        self.def.row.long_help = text;
        self
    }

    /// Marks the option as one of ferrio's own, of an engine that fio has too.
    #[must_use]
    pub const fn own(mut self) -> Self {
        self.def.is_own = true;
        self
    }

    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.def.row.secrecy = Secrecy::Secret;
        self.def.row.long_help = "A secret. env:NAME takes it from the environment, file:PATH from a file.";
        self.def.row.status = self.def.row.status.deviating(DeviationKind::Mended, "Outputs show `***` in its place.");
        self
    }

    /// Marks the value as the name of a server, which may have a password before it.
    #[must_use]
    pub const fn server(mut self) -> Self {
        self.def.row.secrecy = Secrecy::Server;
        self
    }

    /// Marks the option as one that is not built yet.
    #[must_use]
    pub const fn planned(mut self) -> Self {
        self.def.row.status = Status::Planned(None);
        self
    }

    /// Marks the option as different from fio's; `how` is shown to users.
    #[must_use]
    pub const fn deviates(mut self, kind: DeviationKind, how: &'static str) -> Self {
        self.def.row.status = self.def.row.status.deviating(kind, how);
        self
    }

    /// Marks the option as one that will not come.
    #[must_use]
    pub const fn not_applicable(mut self, why: &'static str) -> Self {
        self.def.row.status = Status::NotApplicable(why);
        self
    }

    const fn with_default<U>(&self, text: &'static str, default: U) -> EngineOption<U> {
        let mut def = self.def;
        def.row.default = Some(text);
        EngineOption { def, default }
    }
}

impl<T: OptionType> EngineOption<T> {
    pub(crate) fn read<'a>(&self, given: Option<&'a EngineValue>) -> T::Read<'a> {
        T::read(self.default, given)
    }
}

impl EngineOption<bool> {
    /// Sets the default: `0` or `1`.
    #[must_use]
    pub const fn default(self, text: &'static str) -> Self {
        self.with_default(text, whole_number(text) != 0)
    }
}

impl EngineOption<Option<i64>> {
    /// Sets the default, a whole number without suffixes. Another text does not compile.
    #[must_use]
    pub const fn default(self, text: &'static str) -> EngineOption<i64> {
        self.with_default(text, whole_number(text))
    }
}

impl EngineOption<Option<&'static str>> {
    #[must_use]
    pub const fn default(self, text: &'static str) -> EngineOption<&'static str> {
        self.with_default(text, text)
    }
}

impl EngineOption<()> {
    #[must_use]
    pub const fn default(self, text: &'static str) -> Self {
        self.with_default(text, ())
    }
}

/// The number that a default says, decimal or hexadecimal (`0x`).
const fn whole_number(text: &str) -> i64 {
    let (bytes, is_negative) = match text.as_bytes() {
        [b'-', rest @ ..] => (rest, true),
        all => (all, false),
    };
    let (digits, base) = match bytes {
        [b'0', b'x', rest @ ..] => (rest, 16),
        all => (all, 10),
    };
    assert!(!digits.is_empty(), "a default is a number");
    let (mut number, mut index) = (0_i64, 0);
    while index < digits.len() {
        let digit = match digits[index] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            _ => panic!("a default is a whole number without suffixes"),
        };
        assert!((digit as i64) < base, "a default is a whole number without suffixes");
        number = number * base + digit as i64;
        index += 1;
    }
    if is_negative { -number } else { number }
}

/// Declares the private options of an engine, in the order of the help: a constant for each, and their list `OPTIONS`.
macro_rules! engine_options {
    ($(
        $constant:ident: $type:ty = $make:ident($name:literal, $help:literal $(, $more:expr)* $(,)?)
            $(. $method:ident($($argument:expr),*))*;
    )+) => {
        $(
            #[doc = concat!("`", $name, "`: ``", $help, "``.")]
            pub const $constant: $crate::engines::options::declaration::EngineOption<$type> =
                $make($name, $help $(, $more)*)$(.$method($($argument),*))*;
        )+

        /// The options, in the order of the help.
        pub const OPTIONS: &[$crate::engines::options::declaration::EngineOptionDef] = &[$($constant.def()),+];
    };
}

/// Declares an enum whose variants are the words of an option. The first one is the default.
macro_rules! words {
    ($(#[$attribute:meta])* $enum:ident { $($variant:ident: $word:literal, $help:literal;)+ }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $enum {
            $(
                #[doc = concat!("`", $word, "`: ", $help, ".")]
                $variant,
            )+
        }

        impl $crate::engines::options::typed::Word for $enum {
            const ALL: &'static [Self] = &[$(Self::$variant),+];
            const CHOICES: &'static [$crate::values::syntax::Choice] = &[$($crate::values::syntax::choice($word, $help)),+];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GivenOptions;
    use crate::engines::options::net::{self, Transport};
    use crate::values::syntax::ANY;

    const IS_ON: EngineOption<bool> = flag("is_on", "A flag");
    const IS_USUALLY_ON: EngineOption<bool> = boolean("is_usually_on", "A boolean").default("1");
    const SOME: EngineOption<Option<i64>> = number("some", "A number", ANY);
    const MANY: EngineOption<i64> = number("many", "A number with a default", ANY).default("-17");
    const MASK: EngineOption<i64> = number("mask", "A number with a hexadecimal default", ANY).default("0x1f");
    const NOTE: EngineOption<Option<&'static str>> = text("note", "A text");
    const PLACE: EngineOption<&'static str> = text("place", "A text with a default").default("here");

    #[test]
    fn what_is_not_given_has_its_default() {
        let none = GivenOptions::default();
        assert!(!none.get(&IS_ON) && none.get(&IS_USUALLY_ON));
        assert_eq!((none.get(&SOME), none.get(&MANY), none.get(&MASK)), (None, -17, 31));
        assert_eq!((none.get(&NOTE), none.get(&PLACE), none.get(&net::PROTOCOL)), (None, "here", Transport::Tcp));
    }

    #[test]
    fn what_is_given_is_read_by_its_declaration() {
        let given = GivenOptions::default()
            .with(&IS_ON, true)
            .with(&IS_USUALLY_ON, false)
            .with(&SOME, 3)
            .with(&MANY, 4)
            .with(&NOTE, "a")
            .with(&PLACE, "b")
            .with(&net::PROTOCOL, Transport::Unix);
        assert!(given.get(&IS_ON) && !given.get(&IS_USUALLY_ON));
        assert_eq!((given.get(&SOME), given.get(&MANY)), (Some(3), 4));
        assert_eq!((given.get(&NOTE), given.get(&PLACE), given.get(&net::PROTOCOL)), (Some("a"), "b", Transport::Unix));
        assert_eq!(given.with(&MANY, 5).get(&MANY), 5);
    }

    #[test]
    fn numbers_are_flags_and_a_value_of_another_kind_is_none() {
        let mut given = GivenOptions::default();
        for (name, value) in [
            ("is_on", EngineValue::Int(2)),
            ("some", EngineValue::Text("3".to_owned())),
            ("protocol", EngineValue::Text("smoke".to_owned())),
            ("place", EngineValue::Bool(true)),
        ] {
            given.put(name, value);
        }
        assert!(given.get(&IS_ON));
        assert_eq!((given.get(&SOME), given.get(&net::PROTOCOL), given.get(&PLACE)), (None, Transport::Tcp, "here"));
    }

    #[test]
    fn a_list_has_the_rows_in_their_order() {
        let names: Vec<&str> = net::OPTIONS.iter().take(4).map(|def| def.row.name).collect();
        assert_eq!(names, ["hostname", "port", "protocol", "nodelay"]);
        let defaults: Vec<Option<&str>> = net::OPTIONS.iter().take(4).map(|def| def.row.default).collect();
        assert_eq!(defaults, [None, None, Some("tcp"), None]);
        assert_eq!(net::PROTOCOL.def().aliases, ["proto"]);
    }

    #[test]
    fn a_word_keeps_its_place_in_both_lists() {
        for (index, (transport, choice)) in Transport::ALL.iter().zip(Transport::CHOICES).enumerate() {
            assert_eq!(transport.index(), index);
            assert_eq!(Transport::keep(*transport), EngineValue::Text(choice.word.to_owned()));
        }
        assert_eq!(Transport::ALL.len(), Transport::CHOICES.len());
    }
}
