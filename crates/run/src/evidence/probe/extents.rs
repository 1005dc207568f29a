//! Bytes of files by the kind of their extents.
//!
//! Must not know: jobs. Start reading at [`add_extents`].

use ferrio_sys::extents::ExtentBytes;
use ferrio_sys::file::OpenRequest;
use std::path::{Path, PathBuf};

/// Why the extents of a file are not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExtentsError {
    /// The system refuses to open the file, or to tell.
    #[error(transparent)]
    System(#[from] ferrio_sys::Error),
    /// The kernel was asked for all that the limit allows.
    #[error("{} has too many extents", .0.display())]
    TooMany(PathBuf),
}

pub(super) fn add_extents(sum: ExtentBytes, path: &Path, size_bytes: u64) -> Result<ExtentBytes, ExtentsError> {
    let file = OpenRequest::default().open(path)?;
    let more = ExtentBytes::of_file(file, size_bytes)?.ok_or_else(|| ExtentsError::TooMany(path.to_owned()))?;
    Ok(sum.with(more))
}
