//! Results that a user names: files, and kept runs as `history:RUN`.
//!
//! Must not know: how results are shown or compared. Start reading at [`read`].

use crate::shared::keeping;
use ferrio::history::{RunSelector, StoredRun};
use ferrio_formats::{ResultFile, RunResult};
use std::path::{Path, PathBuf};

/// Begins the name of a kept run. A file of such a name is given with its path (`./history:1`).
const KEPT: &str = "history:";

/// Reads results, as [`ferrio_formats::read`] does of files.
///
/// # Errors
/// In words: a file or a kept run cannot be read, or is no result.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<RunResult>> {
    let files: Vec<ResultFile> = paths.iter().map(|path| file(path)).collect::<Result<_, _>>()?;
    ferrio_formats::read_files(&files).map_err(anyhow::Error::from)
}

fn file(path: &Path) -> anyhow::Result<ResultFile> {
    match kept(path)? {
        Some((run, content)) => Ok(file_of(&run, content)),
        None => Ok(ResultFile::on_disk(path)),
    }
}

/// The kept run that a path names, with its result; `None`: it names a file.
///
/// # Errors
/// In words: it names a run that is not kept, or cannot be read.
pub(crate) fn kept(path: &Path) -> anyhow::Result<Option<(StoredRun, Vec<u8>)>> {
    let Some(word) = path.to_str().and_then(|path| path.strip_prefix(KEPT)) else { return Ok(None) };
    let history = keeping::opened()?;
    let found = history.find(&RunSelector::of(word)).and_then(|run| Ok((history.content(run.number)?, run)));
    found.map(|(content, run)| Some((run, content))).map_err(anyhow::Error::from)
}

pub(crate) fn file_of(run: &StoredRun, content: Vec<u8>) -> ResultFile {
    ResultFile::in_memory(name_of(run.number), content)
}

/// The name of a kept run as a result.
pub(crate) fn name_of(number: i64) -> PathBuf {
    PathBuf::from(format!("{KEPT}{number}"))
}
