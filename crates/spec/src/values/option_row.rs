//! What help, parser and the list of differences know about every option, of a job or of an engine.
//!
//! Must not know: how texts are parsed, where values go. Start reading at [`OptionRow`].

use super::secret::{HIDDEN, without_password_of_server, without_passwords};
use super::status::Status;
use std::borrow::Cow;

/// The part of a row that options of jobs, profiles and engines have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionRow {
    /// Canonical name, used in reports.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// Value in force when the option is not given, as text; `None`: there is none, or it depends.
    pub default: Option<&'static str>,
    /// A value, other than the default, that changes nothing (`0` of a limit). A planned option accepts it.
    pub neutral: Option<&'static str>,
    /// The option under which the help lists this one.
    pub parent: Option<&'static str>,
    /// One line of help.
    pub help: &'static str,
    /// More help; may be empty.
    pub long_help: &'static str,
    /// How much of the option is built.
    pub status: Status,
    /// What of the value is not shown.
    pub secrecy: Secrecy,
}

impl OptionRow {
    /// A row without other names, default and further help, whose value is shown.
    pub const fn new(name: &'static str, help: &'static str, status: Status) -> Self {
        Self {
            name,
            aliases: &[],
            default: None,
            neutral: None,
            parent: None,
            help,
            long_help: "",
            status,
            secrecy: Secrecy::Open,
        }
    }
}

/// What of the value of an option is not shown in any output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// Passwords in URLs alone.
    Open,
    /// A server, maybe with `user:password@` before it.
    Server,
    /// All of it.
    Secret,
}

impl Secrecy {
    pub fn shown(self, value: &str) -> Cow<'_, str> {
        match self {
            Self::Open => without_passwords(value),
            Self::Server => without_password_of_server(value),
            Self::Secret => Cow::Borrowed(HIDDEN),
        }
    }
}
