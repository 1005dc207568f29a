//! The tables of the database in each of its forms.
//!
//! Must not know: what is stored. Start reading at [`migrate`].

use rusqlite::Connection;

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
