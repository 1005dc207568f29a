//! The file of `--record`: there when it is whole, and else as it was before.
//!
//! Must not know: the contents of a record. Start reading at [`RecordFile`].

use ferrio_report::saved;
use ferrio_stats::RunRecord;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// A record that is to be written: to a file beside it, which takes its place when it is whole.
pub(crate) struct RecordFile {
    path: PathBuf,
    beside: PathBuf,
    file: File,
    is_in_place: bool,
}

impl RecordFile {
    /// Opens the file beside it, so that a place that cannot be written to is known before a run.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        // For a symbolic link, its target is replaced, not the link.
        let path = fs::canonicalize(path).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(path.to_owned()),
            _ => Err(error),
        })?;
        if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is there and is no regular file"));
        }
        let mut name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let beside = path.with_file_name(name);
        let file = File::create_new(&beside)?;
        Ok(Self { path, beside, file, is_in_place: false })
    }

    /// Writes the record and puts it into its place.
    pub(crate) fn write(mut self, record: &RunRecord) -> io::Result<()> {
        self.file.write_all(&saved::encode(record))?;
        // Some file systems report only now that they have no room.
        self.file.sync_all()?;
        fs::rename(&self.beside, &self.path)?;
        self.is_in_place = true;
        Ok(())
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        if !self.is_in_place {
            // The file may have been removed with its directory.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// Reads the record of a file; the error describes the reason of a failure.
pub(crate) fn read(path: &Path) -> Result<RunRecord, String> {
    let mut bytes = Vec::new();
    let file =
        File::open(path).map_err(|error| format!("it cannot be opened: {}", ferrio_units::error_text(&error)))?;
    let limited = file.take(saved::MAX_BYTES + 1).read_to_end(&mut bytes);
    limited.map_err(|error| format!("it cannot be read: {}", ferrio_units::error_text(&error)))?;
    saved::decode(&bytes).map_err(|error| error.to_string())
}
