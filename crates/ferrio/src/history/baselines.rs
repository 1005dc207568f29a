//! Baselines: runs that others are compared with.
//!
//! A baseline counts for all runs of its name, and for all runs with the same jobs on the same targets of the same host.
//! Must not know: how runs are compared. Start reading at [`RunHistory::set_baseline`].

use crate::history::{HistoryError, RunHistory, RunSelector, StoredRun};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

/// Whose baseline a run is.
const OF_NAME: &str = "name";
const OF_WORK: &str = "work";

/// The runs that share a baseline with this one: by name first.
fn keys(run: &StoredRun) -> Vec<(&'static str, String)> {
    let summary = &run.summary;
    let by_name = run.name.clone().map(|name| (OF_NAME, name));
    // Cannot fail: lists of texts.
    let work = serde_json::to_string(&(&summary.host, &summary.jobs, &summary.targets)).unwrap_or_default();
    by_name.into_iter().chain([(OF_WORK, work)]).collect()
}

impl RunHistory {
    /// Makes a run the baseline of the runs with its name, and of those with its jobs and targets, in place of earlier ones.
    ///
    /// # Errors
    /// The run is no longer kept, or the history cannot be changed.
    pub fn set_baseline(&mut self, run: &StoredRun) -> Result<(), HistoryError> {
        let set = |connection: &mut Connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let is_kept =
                change.query_row("SELECT 1 FROM runs WHERE number = ?1", [run.number], |_| Ok(())).optional()?;
            if is_kept.is_none() {
                return Ok(false);
            }
            for (scope, key) in keys(run) {
                change.execute(
                    "REPLACE INTO baselines (scope, key, run) VALUES (?1, ?2, ?3)",
                    (scope, key, run.number),
                )?;
            }
            change.commit().map(|()| true)
        };
        match set(&mut self.connection) {
            Ok(true) => Ok(()),
            Ok(false) => Err(HistoryError::NoRun(run.number.to_string())),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// The baseline of a run, by its name or else by its jobs and targets; `None`: it has none.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn baseline_of(&self, run: &StoredRun) -> Result<Option<StoredRun>, HistoryError> {
        for key in keys(run) {
            let sql = "SELECT run FROM baselines WHERE scope = ?1 AND key = ?2";
            let found = self.connection.query_row(sql, key, |row| row.get(0)).optional();
            if let Some(number) = found.map_err(|error| self.failed(&error))? {
                return self.find(&RunSelector::Number(number)).map(Some);
            }
        }
        Ok(None)
    }

    /// Numbers of all baselines, ascending.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn baselines(&self) -> Result<Vec<i64>, HistoryError> {
        let read = || {
            let mut statement = self.connection.prepare("SELECT DISTINCT run FROM baselines ORDER BY run")?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// A run is no baseline any more; false: it was none.
    ///
    /// # Errors
    /// The history cannot be changed.
    pub fn clear_baseline(&mut self, run: &StoredRun) -> Result<bool, HistoryError> {
        let cleared = self.connection.execute("DELETE FROM baselines WHERE run = ?1", [run.number]);
        cleared.map(|n_cleared| n_cleared > 0).map_err(|error| self.failed(&error))
    }
}
