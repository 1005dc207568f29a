//! `ferrio history import`: results in files become kept runs, with their text as it is.
//!
//! Must not know: how runs are stored. Start reading at [`import`].

use crate::shared::examined;
use crate::ui::console::Console;
use anyhow::anyhow;
use clap::Args;
use ferrio::history::{HistoryPlace, NewRun, RunHistory, RunName, RunSummary, StoredForm};
use ferrio_formats::record_file;
use ferrio_formats::{ReadErrorKind, ResultFile};
use ferrio_units::terminal_text::escape_name;
use std::path::{Path, PathBuf};

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(super) struct ImportRequest {
    /// Reports of fio or ferrio in JSON, records of ferrio (--record)
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    /// The name of the runs
    #[arg(long, value_name = "NAME")]
    name: Option<RunName>,
}

/// Largest file that is read: no result that can be read is larger.
const MAX_BYTES: u64 = record_file::MAX_BYTES;

/// Keeps results, and says under which numbers.
///
/// # Errors
/// In words: a file is no result that can be kept. Those before it are kept.
pub(super) fn import(request: &ImportRequest, console: &mut Console) -> anyhow::Result<()> {
    let place = HistoryPlace::of_user()?;
    for path in &request.results {
        let run = run_of(path, request.name.clone()).map_err(|reason| anyhow!("{}: {reason}", path.display()))?;
        let mut history = RunHistory::open_or_make(&place)?;
        let number = history.keep(&run)?;
        let path = escape_name(&path.display().to_string());
        console.report(&format!("{path}: kept as {number}\n"));
    }
    Ok(())
}

fn run_of(path: &Path, name: Option<RunName>) -> anyhow::Result<NewRun> {
    let content = ResultFile::on_disk(path).whole(MAX_BYTES).map_err(|error| error.kind)?;
    let origin = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if content.starts_with(record_file::MAGIC.as_bytes()) {
        let mut record = record_file::decode(&content)?;
        if record.audit.is_none() {
            ferrio::session::audit(&mut record);
        }
        let summary = RunSummary::of_record(&record);
        return Ok(NewRun { name, summary, form: StoredForm::Record, origin, content });
    }
    // Of a name that logs have, the file would be a log.
    let file = ResultFile::in_memory("result", content.clone());
    let mut results = ferrio_formats::read_files(&[file]).map_err(|error| error.kind)?;
    examined::complete(&mut results);
    match &results[..] {
        [result] if !result.jobs.is_empty() => {
            Ok(NewRun { name, summary: RunSummary::of_result(result), form: StoredForm::Report, origin, content })
        }
        _ => Err(ReadErrorKind::NoReport.into()),
    }
}
