//! Bytes of files by the kind of their extents.
//!
//! Must not know: jobs. Start reading at [`extent_bytes`].

use ferrio_stats::ExtentBytes;
use ferrio_sys::extents::ExtentMap;
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
    let map = ExtentMap::of_file(file, size_bytes)?;
    if map.is_cut {
        return Err(ExtentsError::TooMany(path.to_owned()));
    }
    let more = extent_bytes(&map, size_bytes);
    Ok(ExtentBytes {
        n_extents: sum.n_extents + more.n_extents,
        written_bytes: sum.written_bytes + more.written_bytes,
        unwritten_bytes: sum.unwritten_bytes + more.unwritten_bytes,
        delayed_bytes: sum.delayed_bytes + more.delayed_bytes,
        hole_bytes: sum.hole_bytes + more.hole_bytes,
        encoded_bytes: sum.encoded_bytes + more.encoded_bytes,
        shared_bytes: sum.shared_bytes + more.shared_bytes,
    })
}

pub(super) fn extent_bytes(map: &ExtentMap, size_bytes: u64) -> ExtentBytes {
    ExtentBytes {
        n_extents: map.n_extents,
        written_bytes: map.written_bytes,
        unwritten_bytes: map.unwritten_bytes,
        delayed_bytes: map.delayed_bytes,
        hole_bytes: map.hole_bytes(size_bytes),
        encoded_bytes: map.encoded_bytes,
        shared_bytes: map.shared_bytes,
    }
}
