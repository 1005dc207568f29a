//! The last run on each target, remembered from one run to the next.
//!
//! Earlier versions had them in a file of JSON beside the database. It is taken over with the first run that is remembered.
//! Must not know: records, rules. Start reading at [`RunHistory::remember`].

use crate::history::{HistoryError, HistoryPlace, RunHistory};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The oldest targets beyond these are forgotten.
const MAX_TARGETS: i64 = 200;
/// A larger file of JSON is none of ours.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Longest time that the end of a run waits for other processes.
const PATIENCE: Duration = Duration::from_secs(2);
/// A larger file of the last changes is put into the database.
const MAX_CHANGES_BYTES: u64 = 1 << 20;

/// The file of earlier versions.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RememberedRuns {
    /// The oldest first.
    targets: Vec<LastRun>,
}

/// The last run on a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    /// The target, as the run left it.
    pub target: TargetState,
    /// The I/Os of the job, in any form that differs where they do.
    pub pattern: String,
    /// End of the run, seconds since 1970.
    pub ended_secs: u64,
}

/// A target, with what changes where it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetState {
    /// Its real path.
    pub path: PathBuf,
    /// Number of its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// Its size, bytes.
    pub size_bytes: u64,
    /// When it was modified last: seconds since 1970, and nanoseconds.
    pub modified: (i64, i64),
}

impl TargetState {
    /// The target of a path, now; `None`: there is none.
    pub fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let facts = path.metadata().ok()?;
        Some(Self {
            device: facts.dev(),
            inode: facts.ino(),
            size_bytes: facts.size(),
            modified: (facts.mtime(), facts.mtime_nsec()),
            path,
        })
    }
}

/// The last runs on all targets, those of earlier versions first. Changes nothing, and makes no database.
///
/// # Errors
/// The history cannot be read.
pub fn last_runs(place: &HistoryPlace) -> Result<Vec<LastRun>, HistoryError> {
    let mut runs = of_earlier_versions(place);
    if let Some(history) = RunHistory::open(place)? {
        let known = history.last_runs()?;
        runs.retain(|run| known.iter().all(|other| other.target.path != run.target.path));
        runs.extend(known);
    }
    Ok(runs)
}

impl RunHistory {
    /// The last run on each target, the oldest first.
    fn last_runs(&self) -> Result<Vec<LastRun>, HistoryError> {
        let read = || {
            let sql = "SELECT path, device, inode, size_bytes, modified_secs, modified_ns, pattern, ended_secs FROM last_runs \
                       ORDER BY number";
            self.connection.prepare(sql)?.query_map([], last_run)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// Remembers runs as the last ones on their targets, and forgets those on the oldest of too many targets.
    ///
    /// The process does not wait for the disk: a machine that loses its power may forget the last of them.
    ///
    /// # Errors
    /// Nothing is remembered.
    pub fn remember(mut self, place: &HistoryPlace, runs: &[LastRun]) -> Result<(), HistoryError> {
        let earlier = of_earlier_versions(place);
        let is_long = self.changes_bytes() > MAX_CHANGES_BYTES;
        let done = remember(&mut self.connection, &earlier, runs, is_long);
        done.map_err(|error| self.failed(&error))?;
        if !earlier.is_empty() {
            // Where it stays, the next run takes it over again, which changes nothing.
            let _ = std::fs::remove_file(earlier_file(place));
        }
        Ok(())
    }

    /// Size of the file with the changes that are not in the database itself yet.
    fn changes_bytes(&self) -> u64 {
        let mut path = self.path.clone().into_os_string();
        path.push("-wal");
        std::fs::metadata(path).map_or(0, |facts| facts.len())
    }
}

/// `puts_changes_away`: the changes so far are put into the database, which waits for the disk.
fn remember(
    connection: &mut Connection,
    earlier: &[LastRun],
    runs: &[LastRun],
    puts_changes_away: bool,
) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    if !puts_changes_away {
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    }
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for run in earlier {
        put(&change, "INSERT OR IGNORE", run)?;
    }
    for run in runs {
        put(&change, "REPLACE", run)?;
    }
    let newest = "SELECT number FROM last_runs ORDER BY number DESC LIMIT ?1";
    change.execute(&format!("DELETE FROM last_runs WHERE number NOT IN ({newest})"), [MAX_TARGETS])?;
    change.commit()
}

fn put(change: &Transaction<'_>, verb: &str, run: &LastRun) -> rusqlite::Result<()> {
    let target = &run.target;
    // All 64 bits of a number are kept.
    let bits = |number: u64| number.cast_signed();
    let sql = format!(
        "{verb} INTO last_runs (path, device, inode, size_bytes, modified_secs, modified_ns, pattern, ended_secs) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
    );
    let values = params![
        target.path.as_os_str().as_bytes(),
        bits(target.device),
        bits(target.inode),
        bits(target.size_bytes),
        target.modified.0,
        target.modified.1,
        run.pattern,
        bits(run.ended_secs),
    ];
    change.execute(&sql, values).map(|_| ())
}

fn last_run(row: &rusqlite::Row<'_>) -> rusqlite::Result<LastRun> {
    let bits = |index: usize| row.get::<_, i64>(index).map(i64::cast_unsigned);
    Ok(LastRun {
        target: TargetState {
            path: PathBuf::from(OsString::from_vec(row.get(0)?)),
            device: bits(1)?,
            inode: bits(2)?,
            size_bytes: bits(3)?,
            modified: (row.get(4)?, row.get(5)?),
        },
        pattern: row.get(6)?,
        ended_secs: bits(7)?,
    })
}

fn earlier_file(place: &HistoryPlace) -> PathBuf {
    place.path().with_file_name("last-runs.json")
}

/// The runs in the file of earlier versions. One that cannot be read is left as it is.
fn of_earlier_versions(place: &HistoryPlace) -> Vec<LastRun> {
    let path = earlier_file(place);
    let is_ours = place.is_of_this_user()
        && path.symlink_metadata().is_ok_and(|facts| facts.is_file() && facts.size() <= MAX_FILE_BYTES);
    let read = || serde_json::from_slice::<RememberedRuns>(&std::fs::read(&path).ok()?).ok();
    if is_ours { read().unwrap_or_default().targets } else { Vec::new() }
}
