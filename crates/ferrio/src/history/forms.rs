//! The tables of the database in each of its forms.
//!
//! Must not know: what is stored. Start reading at [`migrate`].

use crate::history::HistoryError;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;

/// The form that this version writes. It grows with every change of the tables; `tests/` keeps a database of each older form.
pub(crate) const FORM: i64 = 2;

/// What each form adds to the one before it, from form 1 on.
const STEPS: [&str; FORM as usize] = [RUNS, BASELINES_AND_LAST_RUNS];

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

/// Form 2: baselines, for runs of a name or of the same work, and the last run on each target.
const BASELINES_AND_LAST_RUNS: &str = "
CREATE TABLE baselines (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    PRIMARY KEY (scope, key)
) STRICT;
CREATE INDEX baselines_by_run ON baselines (run);
CREATE TABLE last_runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    path BLOB NOT NULL UNIQUE,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    modified_secs INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    pattern TEXT NOT NULL,
    ended_secs INTEGER NOT NULL
) STRICT;
";

/// Brings the tables from an older form (0: no tables) to that of this version.
pub(crate) fn migrate(connection: &Connection, found: i64) -> rusqlite::Result<()> {
    let n_there = usize::try_from(found).unwrap_or_default();
    STEPS.iter().skip(n_there).try_for_each(|step| connection.execute_batch(step))
}

/// The text that made each part of a database, and the table that it belongs to, by its name and its kind.
type Parts = BTreeMap<(String, String), Part>;

#[derive(Debug, PartialEq, Eq)]
struct Part {
    table: String,
    sql: String,
}

/// Makes sure that the tables of this form are those that ferrio makes, and that nothing is done when they are read or written: a view in
/// the place of a table, or a trigger, could run for ever. Further tables and views of the user are not used, and do no harm.
pub(crate) fn check(connection: &Connection, form: i64, path: &Path) -> Result<(), HistoryError> {
    let failed = |error: rusqlite::Error| HistoryError::database(path, &error);
    let own = own_parts(form).map_err(failed)?;
    let found = crate::history::database::patiently(|| parts(connection)).map_err(failed)?;
    let other = |what: String| HistoryError::OtherTables { path: path.to_owned(), what };
    for (key, part) in &own {
        let (name, kind) = key;
        match found.get(key) {
            Some(same) if same == part => {}
            Some(_) => return Err(other(format!("its {kind} {name} has another form"))),
            None if found.contains_key(&(name.clone(), "view".to_owned())) => {
                return Err(other(format!("its {kind} {name} is a view")));
            }
            None => return Err(other(format!("it has no {kind} {name}"))),
        }
    }
    let is_own_table = |table: &str| own.keys().any(|(name, _)| name.eq_ignore_ascii_case(table));
    let acts = |(key, part): &(&(String, String), &Part)| {
        !own.contains_key(*key) && (key.1 == "trigger" || key.1 == "index" && is_own_table(&part.table))
    };
    match found.iter().find(acts) {
        Some(((name, kind), _)) => Err(other(format!("its {kind} {} is not from ferrio", name.escape_debug()))),
        None => Ok(()),
    }
}

fn own_parts(form: i64) -> rusqlite::Result<Parts> {
    let connection = Connection::open_in_memory()?;
    let n_steps = usize::try_from(form).unwrap_or_default();
    STEPS.iter().take(n_steps).try_for_each(|step| connection.execute_batch(step))?;
    parts(&connection)
}

/// The parts of a database, without indexes that belong to a table by its own text.
fn parts(connection: &Connection) -> rusqlite::Result<Parts> {
    let mut query = connection.prepare("SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let part =
        |row: &rusqlite::Row<'_>| Ok(((row.get(0)?, row.get(1)?), Part { table: row.get(2)?, sql: row.get(3)? }));
    query.query_map([], part)?.collect()
}
