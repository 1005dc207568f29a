//! The database: opened, made, brought to the form of this version.
//!
//! Must not know: what a run is. Start reading at [`open`].

use crate::history::HistoryError;
use crate::history::forms::{self, FORM};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::path::Path;
use std::time::{Duration, Instant};

/// Tells the databases of ferrio from those of other programs: `FERR`.
const APPLICATION_ID: i64 = 0x4645_5252;
/// Longest time that a process waits for others.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between attempts where `SQLite` itself does not wait.
const RETRY: Duration = Duration::from_millis(5);

/// Opens the database in a file that is there. An empty file becomes one.
pub(crate) fn open(path: &Path) -> Result<Connection, HistoryError> {
    let failed = |error: rusqlite::Error| HistoryError::database(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    // The contents of a file from elsewhere run no code.
    for (setting, is_on) in
        [(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true), (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)]
    {
        connection.set_db_config(setting, is_on).map_err(failed)?;
    }
    // A run is on the disk before it is said to be kept.
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(failed)?;
    let found = form(&connection, path)?;
    forms::check(&connection, found, path)?;
    if found < FORM {
        bring_to_form(&mut connection, path)?;
    }
    Ok(connection)
}

/// The form of the database; 0: it is empty.
fn form(connection: &Connection, path: &Path) -> Result<i64, HistoryError> {
    let number = |sql: &str| -> Result<i64, HistoryError> {
        patiently(|| connection.query_row(sql, [], |row| row.get(0)))
            .map_err(|error| HistoryError::database(path, &error))
    };
    let n_tables = number("SELECT count(*) FROM sqlite_schema")?;
    let (form, program) = (number("PRAGMA user_version")?, number("PRAGMA application_id")?);
    if (n_tables, form, program) == (0, 0, 0) {
        return Ok(0);
    }
    if program != APPLICATION_ID || form < 1 {
        return Err(HistoryError::OtherProgram(path.to_owned()));
    }
    if form > FORM {
        return Err(HistoryError::Newer { path: path.to_owned(), found: form, known: FORM });
    }
    Ok(form)
}

/// Makes the tables of an empty database, or migrates an older one: as a whole, or not at all.
fn bring_to_form(connection: &mut Connection, path: &Path) -> Result<(), HistoryError> {
    let failed = |error: rusqlite::Error| HistoryError::database(path, &error);
    // Both have an effect on an empty database only, or none on one that has them.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
    let set_mode = || connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0));
    patiently(set_mode).map_err(failed)?;
    // With the write lock: of several processes, the first one does it.
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found = form(&change, path)?;
    if found < FORM {
        forms::migrate(&change, found).map_err(failed)?;
        change.pragma_update(None, "user_version", FORM).map_err(failed)?;
        change.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    }
    change.commit().map_err(failed)
}

/// Tries again while others use the database. `SQLite` does not wait where it would wait for two locks.
pub(crate) fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let start = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && start.elapsed() < PATIENCE => std::thread::sleep(RETRY),
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
