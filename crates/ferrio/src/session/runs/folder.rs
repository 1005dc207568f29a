//! The folder of many runs: one program works in it, and each of its files is there when it is whole, so that work that was killed at any
//! moment continues where it was.
//!
//! Must not know: kinds of runs, names of files. Start reading at [`WorkFolder::create`].

use ferrio_formats::record_file;
use ferrio_stats::RunRecord;
use ferrio_sys::output::work_folder;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A folder, locked until it is dropped.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    _lock: File,
}

/// A folder of runs cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file of the folder cannot be read or written.
    #[error("{}: {}", .path.display(), ferrio_units::error_text(.source))]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The new folder is there already.
    #[error("{} is there already: go on with its runs (--resume {}), or give another folder (--folder)", .0.display(), .0.display())]
    Exists(PathBuf),
    /// Another program works in the folder.
    #[error("{}: another program makes the runs of this folder", .0.display())]
    InUse(PathBuf),
    /// A record is damaged, or is none.
    #[error("{}: {reason}", .path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl WorkFolder {
    /// Makes a folder with a folder for records in it, and locks it.
    ///
    /// # Errors
    /// It is there already, or cannot be made.
    pub fn create(path: &Path, records: &str) -> Result<Self, FolderError> {
        let made = fs::create_dir(path).and_then(|()| fs::create_dir(path.join(records)));
        made.map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => FolderError::Exists(path.to_owned()),
            _ => FolderError::File { path: path.to_owned(), source },
        })?;
        Self::lock(path)
    }

    /// Locks a folder that is there. A program that was killed a moment ago is waited for.
    ///
    /// # Errors
    /// Another program has it.
    pub fn lock(path: &Path) -> Result<Self, FolderError> {
        match work_folder::lock(path) {
            Ok(Some(lock)) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Ok(None) => Err(FolderError::InUse(path.to_owned())),
            Err(source) => Err(FolderError::File { path: path.to_owned(), source }),
        }
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file of the folder, which replaces an older one when it is whole.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: impl AsRef<Path>, content: &[u8]) -> Result<PathBuf, FolderError> {
        write(self.path.join(name), content)
    }

    /// Keeps the record of a run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, name: impl AsRef<Path>, record: &RunRecord) -> Result<PathBuf, FolderError> {
        self.write(name, &record_file::encode(record))
    }

    /// Removes the beginnings of files that a killed program has left in one of the folders below. What cannot be removed is in nobody's way.
    pub fn remove_parts(&self, folder: &str, is_part: impl Fn(&str) -> bool) {
        let entries = fs::read_dir(self.path.join(folder)).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(&is_part)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Writes a file of a folder of runs, whether or not this program has locked it.
///
/// # Errors
/// It cannot be written.
pub fn write(path: PathBuf, content: &[u8]) -> Result<PathBuf, FolderError> {
    match work_folder::write(&path, content) {
        Ok(()) => Ok(path),
        Err(source) => Err(FolderError::File { path, source }),
    }
}

/// Reads a file, but not more than `most_bytes` of it; `None`: it is not there.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path, most_bytes: u64) -> Result<Option<Vec<u8>>, FolderError> {
    match work_folder::read(path, most_bytes) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FolderError::File { path: path.to_owned(), source }),
    }
}

/// Reads the record of a run; `None`: it was not made yet.
///
/// # Errors
/// It cannot be read, or is damaged.
pub fn read_record(path: &Path) -> Result<Option<RunRecord>, FolderError> {
    let Some(bytes) = read(path, record_file::MAX_BYTES + 1)? else { return Ok(None) };
    let record = record_file::decode(&bytes);
    record.map(Some).map_err(|error| FolderError::Record { path: path.to_owned(), reason: error.to_string() })
}
