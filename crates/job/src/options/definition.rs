//! Type of a row of the option table, and the short functions with which rows are written.
//!
//! Must not know: which options exist, how job files look.
//! Start reading at [`OptionDef`]; rows are built with [`option`] and the methods chained to it.

use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft};
use crate::options::kind::Kind;
use crate::options::secret::is_source;
use crate::value::{Value, ValueSyntax};
use ferrio_spec::DeviationKind;
pub use ferrio_spec::Status;
use ferrio_spec::engines::options::declaration::Secrecy;
use std::borrow::Cow;
use std::path::PathBuf;

/// First part of an option's place in the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// The job as a whole.
    General,
    /// Kind and order of I/O.
    Io,
    /// Files and devices.
    File,
    /// Logs.
    Log,
    /// Statistics.
    Stat,
    /// Private to an engine.
    Engine,
    /// Private to a built-in profile.
    Profile,
}

/// How a value is applied to the job: the field to set, or a function.
#[derive(Clone, Copy)]
pub enum Apply {
    /// Not at all: the option is not built, or its values have no effect on a job.
    Nothing,
    /// A boolean or flag.
    Bool(fn(&mut Draft) -> &mut bool),
    /// A number of 32 bits.
    U32(fn(&mut Draft) -> &mut u32),
    /// A number of 32 bits that says whether it was given.
    OptionalU32(fn(&mut Draft) -> &mut Option<u32>),
    /// A number of 64 bits.
    U64(fn(&mut Draft) -> &mut u64),
    /// A text.
    Text(fn(&mut Draft) -> &mut Option<String>),
    /// A path; empty if the option is given without a value.
    Path(fn(&mut Draft) -> &mut Option<PathBuf>),
    /// Whatever else.
    With(fn(&mut Draft, &Value, &mut ApplyContext<'_>) -> Result<(), JobError>),
    /// The engine reads it by the option's declaration.
    Engine,
}

impl std::fmt::Debug for Apply {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Bool(_) => "Bool",
            Self::U32(_) => "U32",
            Self::OptionalU32(_) => "OptionalU32",
            Self::U64(_) => "U64",
            Self::Text(_) => "Text",
            Self::Path(_) => "Path",
            Self::With(_) => "With",
            Self::Engine => "Engine",
        })
    }
}

/// One row of the option table.
#[derive(Debug, Clone, Copy)]
pub struct OptionDef {
    /// Canonical name, used in reports.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// Syntax of the value.
    pub kind: Kind,
    /// Value in force when the option is not given, as text; `None`: there is none, or it depends.
    pub default: Option<&'static str>,
    /// A value, other than the default, that changes nothing (`0` of a limit). A planned option accepts it.
    pub neutral: Option<&'static str>,
    /// The option under which the help lists this one.
    pub parent: Option<&'static str>,
    /// Part of the manual.
    pub category: Category,
    /// Sub-part of the manual; may be empty.
    pub group: &'static str,
    /// Engines that have this option; empty for an option of every job, or of a profile.
    pub engines: &'static [&'static str],
    /// The built-in profile that has this option.
    pub profile: Option<&'static str>,
    /// One line of help.
    pub help: &'static str,
    /// More help; may be empty.
    pub long_help: &'static str,
    /// The value as a text.
    pub text: TextDef,
    /// How much of the option is built.
    pub status: Status,
    /// How the value is applied to the job.
    pub apply: Apply,
}

/// What the value of an option is as a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextDef {
    /// It may have bytes that are not UTF-8, as paths may.
    pub takes_bytes: bool,
    /// What of it is not shown.
    pub secrecy: Secrecy,
}

/// Begins a row: planned, without default, of the category `General`.
pub const fn option(name: &'static str, kind: Kind, help: &'static str) -> OptionDef {
    OptionDef {
        name,
        aliases: &[],
        kind,
        default: None,
        neutral: None,
        parent: None,
        category: Category::General,
        group: "",
        engines: &[],
        profile: None,
        help,
        long_help: "",
        text: TextDef { takes_bytes: false, secrecy: Secrecy::Open },
        status: Status::Planned(None),
        apply: Apply::Nothing,
    }
}

impl OptionDef {
    /// A value as outputs show it: without a secret, and without passwords of URLs.
    pub fn shown<'t>(&self, value: &'t str) -> Cow<'t, str> {
        // The value of a secret may say where it is instead.
        if self.text.secrecy == Secrecy::Secret && is_source(value) {
            Cow::Borrowed(value)
        } else {
            self.text.secrecy.shown(value)
        }
    }

    /// What parsing its values has to know.
    pub const fn syntax(&self) -> ValueSyntax {
        ValueSyntax { name: self.name, kind: self.kind, is_of_engine: !self.engines.is_empty() }
    }

    /// Sets the other names.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Sets the default.
    #[must_use]
    pub const fn default(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }

    /// Sets the value that changes nothing.
    #[must_use]
    pub const fn neutral(mut self, text: &'static str) -> Self {
        self.neutral = Some(text);
        self
    }

    /// Sets the option under which the help lists this one.
    #[must_use]
    pub const fn under(mut self, parent: &'static str) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Sets the place in the manual.
    #[must_use]
    pub const fn place(mut self, category: Category, group: &'static str) -> Self {
        self.category = category;
        self.group = group;
        self
    }

    /// Makes the row private to `engines`.
    #[must_use]
    pub const fn of_engines(mut self, engines: &'static [&'static str]) -> Self {
        self.engines = engines;
        self.category = Category::Engine;
        self
    }

    /// Makes the row private to a built-in profile.
    #[must_use]
    pub const fn of_profile(mut self, profile: &'static str) -> Self {
        self.profile = Some(profile);
        self.category = Category::Profile;
        self
    }

    /// Adds help beyond the one line.
    #[must_use]
    pub const fn long(mut self, text: &'static str) -> Self {
        self.long_help = text;
        self
    }

    /// The value may have bytes that are not UTF-8.
    #[must_use]
    pub const fn takes_bytes(mut self) -> Self {
        self.text.takes_bytes = true;
        self
    }

    /// Marks the row as built, and says how a value gets into the job.
    #[must_use]
    pub const fn applies(mut self, apply: Apply) -> Self {
        if let Status::Planned(None) = self.status {
            self.status = Status::Supported;
        }
        self.apply = apply;
        self
    }

    /// Marks a built row as different from fio; `how` is shown to users.
    #[must_use]
    pub const fn deviates(mut self, kind: DeviationKind, how: &'static str) -> Self {
        self.status = self.status.deviating(kind, how);
        self
    }

    /// Explains why the row is not built yet.
    #[must_use]
    pub const fn waits(mut self, why: &'static str) -> Self {
        self.status = Status::Planned(Some(why));
        self
    }

    /// Marks the row as one that will not come.
    #[must_use]
    pub const fn not_applicable(mut self, why: &'static str) -> Self {
        self.status = Status::NotApplicable(why);
        self
    }

    /// True for the canonical name and for every alias.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The canonical name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// True when the option belongs to every job: neither private to an engine nor to a profile.
    pub const fn is_general(&self) -> bool {
        self.engines.is_empty() && self.profile.is_none()
    }

    /// True when ferrio supports the option.
    pub const fn is_built(&self) -> bool {
        self.status.is_built()
    }
}
