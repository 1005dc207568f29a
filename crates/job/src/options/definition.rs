//! Type of a row of the option table, and the short functions with which rows are written.
//!
//! Must not know: which options exist, how job files look.
//! Start reading at [`OptionDef`]; rows are built with [`option`] and the methods chained to it.

use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft};
use crate::options::kind::Kind;
use crate::options::secret::is_source;
use crate::value::{Value, ValueSyntax};
pub use ferrio_spec::Status;
use ferrio_spec::{DeviationKind, OptionRow, Secrecy};
use std::borrow::Cow;
use std::ops::Deref;
use std::path::PathBuf;

/// First part of an option's place in the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// The job as a whole.
    General,
    /// Kind and order of I/O.
    Io,
    File,
    Log,
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
    Bool(fn(&mut Draft) -> &mut bool),
    U32(fn(&mut Draft) -> &mut u32),
    OptionalU32(fn(&mut Draft) -> &mut Option<u32>),
    /// A number of 64 bits.
    U64(fn(&mut Draft) -> &mut u64),
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
    /// What help and parser know about every option.
    pub row: OptionRow,
    pub kind: Kind,
    /// Part of the manual.
    pub category: Category,
    /// Sub-part of the manual; may be empty.
    pub group: &'static str,
    /// Engines that have this option; empty for an option of every job, or of a profile.
    pub engines: &'static [&'static str],
    pub profile: Option<&'static str>,
    /// The value may have bytes that are not UTF-8, as paths may.
    pub takes_bytes: bool,
    /// How the value is applied to the job.
    pub apply: Apply,
}

impl Deref for OptionDef {
    type Target = OptionRow;

    fn deref(&self) -> &OptionRow {
        &self.row
    }
}

/// Begins a row: planned, without default, of the category `General`.
pub const fn option(name: &'static str, kind: Kind, help: &'static str) -> OptionDef {
    OptionDef {
        row: OptionRow::new(name, help, Status::Planned(None)),
        kind,
        category: Category::General,
        group: "",
        engines: &[],
        profile: None,
        takes_bytes: false,
        apply: Apply::Nothing,
    }
}

impl OptionDef {
    /// A value as outputs show it: without a secret, and without passwords of URLs.
    pub fn shown<'t>(&self, value: &'t str) -> Cow<'t, str> {
        // The value of a secret may say where it is instead.
        if self.row.secrecy == Secrecy::Secret && is_source(value) {
            Cow::Borrowed(value)
        } else {
            self.row.secrecy.shown(value)
        }
    }

    /// What parsing its values has to know.
    pub const fn syntax(&self) -> ValueSyntax {
        ValueSyntax { name: self.row.name, kind: self.kind, is_of_engine: !self.engines.is_empty() }
    }

    /// Sets the other names.
    #[must_use]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.row.aliases = aliases;
        self
    }

    #[must_use]
    pub const fn default(mut self, text: &'static str) -> Self {
        self.row.default = Some(text);
        self
    }

    /// Sets the value that changes nothing.
    #[must_use]
    pub const fn neutral(mut self, text: &'static str) -> Self {
        self.row.neutral = Some(text);
        self
    }

    /// Sets the option under which the help lists this one.
    #[must_use]
    pub const fn under(mut self, parent: &'static str) -> Self {
        self.row.parent = Some(parent);
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
        self.row.long_help = text;
        self
    }

    /// The value may have bytes that are not UTF-8.
    #[must_use]
    pub const fn takes_bytes(mut self) -> Self {
        self.takes_bytes = true;
        self
    }

    /// Marks the row as built, and says how a value gets into the job.
    #[must_use]
    pub const fn applies(mut self, apply: Apply) -> Self {
        if let Status::Planned(None) = self.row.status {
            self.row.status = Status::Supported;
        }
        self.apply = apply;
        self
    }

    /// Marks a built row as different from fio; `how` is shown to users.
    #[must_use]
    pub const fn deviates(mut self, kind: DeviationKind, how: &'static str) -> Self {
        self.row.status = self.row.status.deviating(kind, how);
        self
    }

    /// Explains why the row is not built yet.
    #[must_use]
    pub const fn waits(mut self, why: &'static str) -> Self {
        self.row.status = Status::Planned(Some(why));
        self
    }

    /// Marks the row as one that will not come.
    #[must_use]
    pub const fn not_applicable(mut self, why: &'static str) -> Self {
        self.row.status = Status::NotApplicable(why);
        self
    }

    /// True for the canonical name and for every alias.
    pub fn is_called(&self, name: &str) -> bool {
        self.row.name == name || self.row.aliases.contains(&name)
    }

    /// The canonical name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.row.name).chain(self.row.aliases.iter().copied())
    }

    /// True when the option belongs to every job: neither private to an engine nor to a profile.
    pub const fn is_general(&self) -> bool {
        self.engines.is_empty() && self.profile.is_none()
    }

    /// True when ferrio supports the option.
    pub const fn is_built(&self) -> bool {
        self.row.status.is_built()
    }
}
