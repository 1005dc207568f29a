//! A run is kept when it has ended: because `--keep` asks for it, or the user's setting. The history is opened for commands that look runs up.
//!
//! A run that is kept by the setting alone is never changed by that: where it cannot be kept, a line says so, and the exit code is that
//! of the run. Must not know: how runs are stored. Start reading at [`Keeping::of`].

use crate::ui::console::{Console, show_aside};
use crate::ui::exit::Exit;
use anyhow::anyhow;
use ferrio::history::{
    HistoryError, HistoryPlace, NewRun, RunHistory, RunName, RunSelector, RunSummary, StoredForm, StoredRun,
};
use ferrio_formats::record_file;
use ferrio_stats::RunRecord;
use std::process::ExitCode;

/// The setting: 1 keeps each run, another word is the name under which runs are kept.
const SETTING: &str = "FERRIO_KEEP";
/// Values of the setting that keep nothing.
const OFF: [&str; 4] = ["", "0", "off", "no"];
/// Values of the setting that keep runs without a name.
const ON: [&str; 3] = ["1", "on", "yes"];

/// How a run is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keeping {
    /// The name, as it was given; empty: none.
    name: String,
    /// `--keep` was given: a run that is not kept counts as a failure.
    is_asked: bool,
    /// The native command that runs; `None`: ferrio is in the place of fio, and says nothing of a setting.
    program: Option<&'static str>,
}

/// A run among several that are kept together.
pub(crate) struct RunOfMany {
    /// Its name; empty: none.
    pub(crate) name: String,
    /// The words that make it again.
    pub(crate) command_line: Vec<String>,
    pub(crate) record: RunRecord,
}

impl Keeping {
    /// How a run with this value of `--keep` is kept; `None`: it is not. `program`: the native command; `None`: in the place of fio.
    ///
    /// # Errors
    /// The exit code: `--keep` is given, and the run cannot be kept. The user is told so before the run.
    pub(crate) fn of(
        option: Option<&str>,
        program: Option<&'static str>,
        console: &mut Console,
    ) -> Result<Option<Self>, ExitCode> {
        let Some(name) = option else {
            let setting = std::env::var_os(SETTING).unwrap_or_default();
            let name = name_of_setting(&setting.to_string_lossy()).map(str::to_owned);
            // The other setting says that there is no history.
            let is_off = || matches!(HistoryPlace::of_user(), Err(HistoryError::SwitchedOff));
            return Ok(name.filter(|_| !is_off()).map(|name| Self { name, is_asked: false, program }));
        };
        let keeping = Self { name: name.to_owned(), is_asked: true, program };
        match keeping.run_name().and_then(|_| history()) {
            Ok(_) => Ok(Some(keeping)),
            Err(reason) => {
                console.error(&format!("{}: the run cannot be kept: {reason}\n", keeping.prefix()));
                Err(program.map_or(ExitCode::FAILURE, |_| Exit::Failed.into()))
            }
        }
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked
    }

    fn prefix(&self) -> &'static str {
        self.program.unwrap_or("fio")
    }

    pub(crate) fn keep(&self, record: &RunRecord, console: &mut Console) {
        let prefix = self.prefix();
        match self.kept(record) {
            Ok(number) if self.is_asked || self.program.is_some() => {
                let name = if self.name.is_empty() { String::new() } else { format!(" ({})", self.name) };
                show_aside(&format!("{prefix}: kept as {number}{name}\n"));
            }
            Ok(_) => {}
            Err(reason) => {
                show_aside(&format!("{prefix}: the run is not kept: {reason}\n"));
                console.has_failed |= self.is_asked;
            }
        }
    }

    /// Keeps the runs that the history does not have yet, and says how many these are.
    pub(crate) fn keep_all(&self, runs: impl Iterator<Item = anyhow::Result<RunOfMany>>, console: &mut Console) {
        let prefix = self.prefix();
        match self.all_kept(runs) {
            Ok(numbers) => match &numbers[..] {
                [] => show_aside(&format!("{prefix}: no other run to keep\n")),
                [number] => show_aside(&format!("{prefix}: kept as {number}\n")),
                [first, .., last] => {
                    show_aside(&format!("{prefix}: {} runs kept, from {first} to {last}\n", numbers.len()));
                }
            },
            Err(reason) => {
                show_aside(&format!("{prefix}: not all runs are kept: {reason}\n"));
                console.has_failed |= self.is_asked;
            }
        }
    }

    fn all_kept(&self, runs: impl Iterator<Item = anyhow::Result<RunOfMany>>) -> anyhow::Result<Vec<i64>> {
        let mut history = history()?;
        let known = history.list()?;
        let mut numbers = Vec::new();
        for run in runs {
            let RunOfMany { name, command_line, record } = run?;
            let own = Self { name, ..self.clone() };
            let mut new = own.new_run(&record)?;
            new.summary.command_line = command_line;
            let times = |summary: &RunSummary| (summary.began_ms, summary.duration_ns);
            let is_it = |known: &StoredRun| {
                known.name.as_deref() == new.name.as_ref().map(RunName::as_str)
                    && times(&known.summary) == times(&new.summary)
                    && known.summary.command_line == new.summary.command_line
            };
            if !known.iter().any(is_it) {
                numbers.push(history.keep(&new)?);
            }
        }
        Ok(numbers)
    }

    /// The name, as it was given; empty: none.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn kept(&self, record: &RunRecord) -> anyhow::Result<i64> {
        history()?.keep(&self.new_run(record)?).map_err(anyhow::Error::from)
    }

    fn new_run(&self, record: &RunRecord) -> anyhow::Result<NewRun> {
        let name = self.run_name()?;
        let mut record = std::borrow::Cow::Borrowed(record);
        if record.audit.is_none() {
            // In place of fio, only documents have findings.
            ferrio::session::audit(record.to_mut());
        }
        Ok(NewRun {
            name,
            summary: RunSummary::of_record(&record),
            form: StoredForm::Record,
            origin: String::new(),
            content: record_file::encode(&record),
        })
    }

    fn run_name(&self) -> anyhow::Result<Option<RunName>> {
        if self.name.is_empty() {
            return Ok(None);
        }
        let shown = ferrio_units::terminal_text::escape_name(&self.name);
        self.name.parse().map(Some).map_err(|error| anyhow!("{shown:?} is no name for it: {error}"))
    }
}

/// The history of the user, which is made where there is none.
fn history() -> anyhow::Result<RunHistory> {
    HistoryPlace::of_user().and_then(|place| RunHistory::open_or_make(&place)).map_err(anyhow::Error::from)
}

/// The name that a value of the setting gives; `None`: nothing is kept.
fn name_of_setting(value: &str) -> Option<&str> {
    match value {
        value if OFF.contains(&value) => None,
        value if ON.contains(&value) => Some(""),
        name => Some(name),
    }
}

/// The history of the user; `None`: there is none yet.
pub(crate) fn existing() -> anyhow::Result<Option<RunHistory>> {
    HistoryPlace::of_user().and_then(|place| RunHistory::open(&place)).map_err(anyhow::Error::from)
}

/// The history of the user, where it has runs to choose from.
pub(crate) fn opened() -> anyhow::Result<RunHistory> {
    existing()?.ok_or_else(|| anyhow!("no run is kept yet: 'ferrio run --keep' keeps one"))
}

/// The run that a word names.
///
/// # Errors
/// In words: there is no such run, or the history cannot be read.
pub(crate) fn found(history: &RunHistory, word: &str) -> anyhow::Result<StoredRun> {
    history.find(&RunSelector::of(word)).map_err(anyhow::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_keeps_all_runs_or_none() {
        for (value, name) in
            [("", None), ("0", None), ("off", None), ("1", Some("")), ("on", Some("")), ("ci", Some("ci"))]
        {
            assert_eq!(name_of_setting(value), name, "{value}");
        }
    }
}
