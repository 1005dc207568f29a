//! The history: runs are kept, found, listed.
//!
//! Must not know: how runs are shown or compared. Start reading at [`RunHistory::open`].

use crate::history::content::{compress, inflate};
use crate::history::{
    HistoryError, HistoryPlace, KeptVerdict, NewRun, RunName, RunSelector, RunSummary, StoredForm, StoredRun, database,
};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use std::path::PathBuf;
use std::time::SystemTime;

/// The columns of a [`StoredRun`].
const COLUMNS: &str = "number, name, kept_ms, began_ms, duration_ns, host, program, jobs, targets, command_line, figures, verdict, \
                       form, origin, length(content)";

/// An open history.
///
/// Several processes may use one at the same time; a writer waits for the others. It must not be open while a process forks.
#[derive(Debug)]
pub struct RunHistory {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

impl RunHistory {
    /// Opens a history; `None`: there is none.
    ///
    /// # Errors
    /// It cannot be opened, is damaged, or is of a later version.
    pub fn open(place: &HistoryPlace) -> Result<Option<Self>, HistoryError> {
        place.file(false)?.map(Self::of_file).transpose()
    }

    /// Opens a history, and makes it where there is none.
    ///
    /// # Errors
    /// It cannot be opened or made, is damaged, or is of a later version.
    pub fn open_or_make(place: &HistoryPlace) -> Result<Self, HistoryError> {
        place.file(true)?.map_or_else(|| Err(HistoryError::NoPlace), Self::of_file)
    }

    fn of_file(path: PathBuf) -> Result<Self, HistoryError> {
        Ok(Self { connection: database::open(&path)?, path })
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> HistoryError {
        HistoryError::database(&self.path, error)
    }

    /// Keeps a run. When this returns, the run is on the disk. Returns its number.
    ///
    /// # Errors
    /// It is not kept, and the history is as it was.
    pub fn keep(&mut self, run: &NewRun) -> Result<i64, HistoryError> {
        let stored = compress(&run.content)?;
        let summary = &run.summary;
        let values = params![
            run.name.as_ref().map(RunName::as_str),
            now_ms(),
            summary.began_ms,
            summary.duration_ns,
            summary.host,
            summary.program,
            json(&summary.jobs),
            json(&summary.targets),
            json(&summary.command_line),
            json(&summary.figures),
            summary.verdict.word(),
            run.form.word(),
            run.origin,
            stored,
        ];
        let sql = "INSERT INTO runs (name, kept_ms, began_ms, duration_ns, host, program, jobs, targets, command_line, figures, \
                   verdict, form, origin, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        let kept = database::patiently(|| self.connection.execute(sql, values));
        kept.map_err(|error| self.failed(&error))?;
        Ok(self.connection.last_insert_rowid())
    }

    /// All runs, the one that was kept last first.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn list(&self) -> Result<Vec<StoredRun>, HistoryError> {
        let read = || {
            let mut statement = self.connection.prepare(&format!("SELECT {COLUMNS} FROM runs ORDER BY number DESC"))?;
            statement.query_map([], kept_run)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// One run.
    ///
    /// # Errors
    /// There is no such run, or the history cannot be read.
    pub fn find(&self, selector: &RunSelector) -> Result<StoredRun, HistoryError> {
        let (condition, value): (&str, &dyn rusqlite::ToSql) = match selector {
            RunSelector::Number(number) => ("WHERE number = ?1", number),
            RunSelector::Back(back) => ("ORDER BY number DESC LIMIT 1 OFFSET ?1", back),
            RunSelector::Name(name) => ("WHERE name = ?1 ORDER BY number DESC LIMIT 1", name),
            RunSelector::Baseline => return Err(HistoryError::BaselineOfWhat),
        };
        let sql = format!("SELECT {COLUMNS} FROM runs {condition}");
        let found = self.connection.query_row(&sql, [value], kept_run).optional();
        found.map_err(|error| self.failed(&error))?.ok_or_else(|| HistoryError::NoRun(selector.to_string()))
    }

    /// Removes runs for good, but for baselines. Returns the numbers of the removed ones.
    ///
    /// # Errors
    /// None is removed.
    pub fn remove(&mut self, numbers: &[i64]) -> Result<Vec<i64>, HistoryError> {
        let remove = |connection: &mut Connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = "DELETE FROM runs WHERE number = ?1 AND number NOT IN (SELECT run FROM baselines)";
            let mut removed = Vec::new();
            for number in numbers {
                if change.execute(sql, [number])? > 0 {
                    removed.push(*number);
                }
            }
            change.commit().map(|()| removed)
        };
        let removed = remove(&mut self.connection).map_err(|error| self.failed(&error))?;
        // The room becomes that of the file system again; without that it is used for further runs.
        let _ = self.give_room_back();
        Ok(removed)
    }

    /// Each step of the statement gives one page back.
    fn give_room_back(&self) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare("PRAGMA incremental_vacuum")?;
        let mut steps = statement.query([])?;
        while steps.next()?.is_some() {}
        Ok(())
    }

    /// The result of a run, as the file that it was or would be: a record, or the report that was imported.
    ///
    /// # Errors
    /// There is no run of this number, it cannot be read, or it is damaged.
    pub fn content(&self, number: i64) -> Result<Vec<u8>, HistoryError> {
        let sql = "SELECT content FROM runs WHERE number = ?1";
        let stored = self.connection.query_row(sql, [number], |row| row.get::<_, Vec<u8>>(0)).optional();
        let stored = stored.map_err(|error| self.failed(&error))?;
        inflate(number, &stored.ok_or_else(|| HistoryError::NoRun(number.to_string()))?)
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A list as text. Cannot fail: it has only texts and numbers.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The run of a row. A list of another form, as a later version may write it, is empty.
fn kept_run(row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    fn list<T: serde::de::DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<Vec<T>> {
        Ok(serde_json::from_str(&row.get::<_, String>(index)?).unwrap_or_default())
    }
    let is_record = row.get::<_, String>(12)? == StoredForm::Record.word();
    Ok(StoredRun {
        number: row.get(0)?,
        name: row.get(1)?,
        kept_ms: row.get(2)?,
        summary: RunSummary {
            began_ms: row.get(3)?,
            duration_ns: row.get(4)?,
            host: row.get(5)?,
            program: row.get(6)?,
            jobs: list(row, 7)?,
            targets: list(row, 8)?,
            command_line: list(row, 9)?,
            figures: list(row, 10)?,
            verdict: KeptVerdict::of_word(&row.get::<_, String>(11)?),
        },
        form: if is_record { StoredForm::Record } else { StoredForm::Report },
        origin: row.get(13)?,
        stored_bytes: row.get(14)?,
    })
}
