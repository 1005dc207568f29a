//! The tables of the database in each of its forms.
//!
//! Must not know: what is stored. Start reading at [`migrate`].

use rusqlite::Connection;

/// The form that this version writes. It grows with every change of the tables.
pub(crate) const FORM: i64 = 1;

/// Form 1: the runs. `content` is the last column, so that lists do not read it.
const RUNS: &str = "
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT,
    kept_ms INTEGER NOT NULL,
    began_ms INTEGER,
    duration_ns INTEGER NOT NULL,
    host TEXT NOT NULL,
    program TEXT NOT NULL,
    jobs TEXT NOT NULL,
    targets TEXT NOT NULL,
    command_line TEXT NOT NULL,
    figures TEXT NOT NULL,
    verdict TEXT NOT NULL,
    form TEXT NOT NULL,
    origin TEXT NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE INDEX runs_by_name ON runs (name, number);
";

/// Brings the tables from an older form (0: no tables) to that of this version.
pub(crate) fn migrate(connection: &Connection, found: i64) -> rusqlite::Result<()> {
    if found < 1 {
        connection.execute_batch(RUNS)?;
    }
    Ok(())
}
