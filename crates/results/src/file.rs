//! Files as every reader uses them.
//!
//! Must not know: what they contain. Start reading at [`open`].

use crate::error::{ReadError, ReadErrorKind};
use std::fs::File;
use std::path::Path;

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File, ReadError> {
    File::open(path).map_err(|error| system(path, &error))
}

/// The error of a system call on this file.
pub(crate) fn system(path: &Path, error: &std::io::Error) -> ReadError {
    ReadErrorKind::System(ferrio_units::error_text(error)).of(path)
}

/// The short name of a result: the file's, without its folder.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
