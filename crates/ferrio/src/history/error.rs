//! Why the history cannot do what is wanted.
//!
//! Must not know: how errors are shown. Start reading at [`HistoryError`].

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use std::path::{Path, PathBuf};

/// An error of the history.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The user does without.
    #[error("FERRIO_STATE=off switches the history off")]
    SwitchedOff,
    /// No variable of the environment says where the user's state is.
    #[error("neither XDG_STATE_HOME nor HOME says where the history is")]
    NoPlace,
    /// Another user could plant links in the directory, and could not use what is made there.
    #[error("{0} is no directory of this user")]
    ForeignDirectory(PathBuf),
    /// The file is a link, a directory or a device, or belongs to another user.
    #[error("{0} is no regular file of this user")]
    ForeignFile(PathBuf),
    /// An error of the system.
    #[error("{path}: {text}")]
    System {
        /// The file or directory.
        path: PathBuf,
        /// The error in words.
        text: String,
    },
    /// The file is no database.
    #[error("{0} is no history of ferrio, and is left as it is: it is no database")]
    NoDatabase(PathBuf),
    /// The database is that of another program.
    #[error("{0} is no history of ferrio, and is left as it is: it is a database of another program")]
    OtherProgram(PathBuf),
    /// Its tables are not those that ferrio makes: code of a stranger could run in their place.
    #[error("{path} is no history of ferrio, and is left as it is: {what}")]
    OtherTables {
        /// The database.
        path: PathBuf,
        /// What is there instead.
        what: String,
    },
    /// A later version of ferrio has written it.
    #[error("{path} has form {found}, and this version of ferrio knows forms up to {known}: use the later version")]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its form.
        found: i64,
        /// The newest form that this version knows.
        known: i64,
    },
    /// The database is damaged.
    #[error("{path} is damaged, and is left as it is: {text}")]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        text: String,
    },
    /// There is no room for a change.
    #[error("{0}: no space left on its file system; the history is whole, and as it was")]
    Full(PathBuf),
    /// Others write for longer than this process waits.
    #[error("{0}: other processes have used it for too long")]
    Busy(PathBuf),
    /// Another error of the database.
    #[error("{path}: {text}")]
    Database {
        /// The database.
        path: PathBuf,
        /// The error in words.
        text: String,
    },
    /// No run is kept under this number or name.
    #[error("no run {0} is kept")]
    NoRun(String),
    /// The word baseline names the baseline of another run.
    #[error("baseline is that of another run: ferrio history compare baseline RUN")]
    BaselineOfWhat,
    /// The stored result of a run is damaged.
    #[error("the stored result of run {number} is damaged: {text}")]
    DamagedRun {
        /// Number of the run.
        number: i64,
        /// What is wrong with it.
        text: String,
    },
    /// A result is larger than the database can hold.
    #[error("the result has {0} bytes when compressed, more than a history can hold")]
    TooLarge(usize),
}

impl HistoryError {
    pub(crate) fn system(path: &Path, error: &std::io::Error) -> Self {
        Self::System { path: path.to_owned(), text: ferrio_units::error_text(error) }
    }

    pub(crate) fn database(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let rusqlite::Error::SqliteFailure(failure, text) = error else {
            // A value has another type than the form says.
            return Self::Damaged { path, text: error.to_string() };
        };
        let text = || text.clone().unwrap_or_else(|| failure.to_string());
        match failure.code {
            ErrorCode::NotADatabase => Self::NoDatabase(path),
            ErrorCode::DatabaseCorrupt => Self::Damaged { path, text: text() },
            ErrorCode::DiskFull => Self::Full(path),
            // The file that all processes share could not grow.
            ErrorCode::SystemIoFailure if failure.extended_code == SQLITE_IOERR_SHMSIZE => Self::Full(path),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy(path),
            _ => Self::Database { path, text: text() },
        }
    }
}
