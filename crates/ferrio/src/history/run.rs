//! Kept runs: a new one, and one of the history.
//!
//! Must not know: tables. Start reading at [`StoredRun`].

use crate::history::{RunName, RunSummary};

/// The form of a stored result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredForm {
    /// A record of ferrio, as `--record` writes it.
    Record,
    /// A report of fio or ferrio as it was imported.
    Report,
}

impl StoredForm {
    /// The word for it in the database and in documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Report => "report",
        }
    }
}

/// A run to be kept.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Its name; `None`: it has its number alone.
    pub name: Option<RunName>,
    /// What lists show of it.
    pub summary: RunSummary,
    /// The form of its result.
    pub form: StoredForm,
    /// Name of the file that was imported; empty: it was kept when it ended.
    pub origin: String,
    /// Its result.
    pub content: Vec<u8>,
}

/// A kept run, without its result.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Its number, which no other run has or gets.
    pub number: i64,
    /// Its name.
    pub name: Option<String>,
    /// When it was kept, milliseconds since 1970.
    pub kept_ms: i64,
    /// What lists show of it.
    pub summary: RunSummary,
    /// The form of its result.
    pub form: StoredForm,
    /// Name of the file that was imported; empty: it was kept when it ended.
    pub origin: String,
    /// Size of its stored result, bytes.
    pub stored_bytes: i64,
}
