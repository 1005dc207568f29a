//! A file that is there when it is whole, and else as it was before.
//!
//! Must not know: its content. Start reading at [`WholeFile`].

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that is to be written: to one beside it, which takes its place when it is whole.
pub(crate) struct WholeFile {
    path: PathBuf,
    beside: PathBuf,
    file: File,
    is_in_place: bool,
}

impl WholeFile {
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

    /// Writes the content and puts the file into its place.
    pub(crate) fn write(mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)?;
        // Some file systems report only now that they have no room.
        self.file.sync_all()?;
        fs::rename(&self.beside, &self.path)?;
        self.is_in_place = true;
        Ok(())
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.is_in_place {
            // The file may have been removed with its directory.
            let _ = fs::remove_file(&self.beside);
        }
    }
}
