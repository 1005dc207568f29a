//! An output that is there when it is whole, and else as it was before.
//!
//! Must not know: its content. Start reading at [`AtomicFile`].

use super::{OutputStart, ProtectedPaths, check, empty, make_private};
use rustix::fs::{Gid, Mode, Uid};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An output that is written in one piece.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: File,
    way: WayOfWriting,
    kept: Arc<ProtectedPaths>,
}

/// How the content gets to its place.
#[derive(Debug)]
enum WayOfWriting {
    /// In a file beside it, which takes its place when it is whole.
    Beside(PathBuf),
    /// Into the file itself: a device, a pipe, or a file that cannot be replaced by one of the same owner.
    Within,
}

impl AtomicFile {
    /// Opens the output, so that a place that cannot be written to is known before a run. Nothing is written yet.
    ///
    /// # Errors
    /// [`super::NoOutput`], or an error of the system.
    pub fn create(path: &Path, kept: &Arc<ProtectedPaths>) -> io::Result<Self> {
        check(path, kept)?;
        // For a symbolic link, its target is replaced, not the link.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let there = match fs::metadata(path) {
            Ok(facts) => Some(facts),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let kept = Arc::clone(kept);
        if there.as_ref().is_none_or(Metadata::is_file)
            && fs::symlink_metadata(&place).map_or(there.is_none(), |facts| facts.is_file())
            && let Ok((beside, file)) = make_beside(&place, there.as_ref())
        {
            return Ok(Self { path: place, file, way: WayOfWriting::Beside(beside), kept });
        }
        // Emptied only before it is written.
        let file = super::open(path, OutputStart::Append, &kept)?;
        Ok(Self { path: path.to_owned(), file, way: WayOfWriting::Within, kept })
    }

    /// Writes the content and puts it into its place.
    ///
    /// # Errors
    /// [`super::NoOutput`] if a job has made the file meanwhile, or an error of the system.
    pub fn write(mut self, content: &[u8]) -> io::Result<()> {
        match &self.way {
            WayOfWriting::Beside(beside) => {
                self.file.write_all(content)?;
                // Some file systems report only now that they have no room.
                self.file.sync_all()?;
                check(&self.path, &self.kept)?;
                fs::rename(beside, &self.path)?;
                self.way = WayOfWriting::Within;
                Ok(())
            }
            WayOfWriting::Within => {
                empty(&self.file)?;
                self.file.write_all(content)
            }
        }
    }
}

/// Writes a file that its user alone can read, in the place of one that may be there. It is whole whenever it is there.
///
/// # Errors
/// The directory takes no file, or there is no room.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let mut file = make_private(&beside)?;
    let written = file.write_all(content).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Makes the file beside, with mode and owner of the file that it is going to replace.
///
/// # Errors
/// The directory takes no file, or the file cannot have that owner.
fn make_beside(place: &Path, there: Option<&Metadata>) -> io::Result<(PathBuf, File)> {
    let mut name = place.file_name().ok_or(ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = place.with_file_name(name);
    let Some(there) = there else {
        return File::create_new(&beside).map(|file| (beside, file));
    };
    // A file that may not be written to is not replaced either.
    super::open_file(place, rustix::fs::OFlags::empty(), 0)?;
    let file = make_private(&beside)?;
    match take_mode_and_owner(&file, there) {
        Ok(()) => Ok((beside, file)),
        Err(error) => {
            let _ = fs::remove_file(&beside);
            Err(error)
        }
    }
}

fn take_mode_and_owner(file: &File, there: &Metadata) -> io::Result<()> {
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (there.uid(), there.gid()) {
        rustix::fs::fchown(file, Some(Uid::from_raw(there.uid())), Some(Gid::from_raw(there.gid())))?;
    }
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(there.mode() & 0o7777))?)
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let WayOfWriting::Beside(beside) = &self.way {
            // The file may have been removed with its directory.
            let _ = fs::remove_file(beside);
        }
    }
}
