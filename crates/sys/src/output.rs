//! Outputs: the one way to open a file for texts that a program writes (reports, pages, logs, traces, states).
//!
//! An output never destroys data that is still needed. It is opened without being emptied, its device and inode are compared with
//! those of all files that a command reads and that its jobs read and write ([`ProtectedPaths`]), and only then it is emptied. A block
//! device is no output, because a text on it destroys a file system; character devices, terminals and pipes are fine.
//!
//! Must not know: contents. Start reading at [`open`]; a file that appears only when it is whole is [`AtomicFile`], a folder
//! of such files [`work_folder`].

mod atomic_file;
mod protected_paths;
pub mod work_folder;

pub use atomic_file::{AtomicFile, write_private};
pub use protected_paths::{FileRole, ProtectedPaths};

use rustix::fs::{CWD, Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// What happens to the present contents of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStart {
    Empty,
    /// They stay, and all writes go behind them (`O_APPEND`).
    Append,
    /// There are none: a file that is there already is an error (`EEXIST`).
    New,
}

/// A file that is no output, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoOutput {
    #[error("it is a block device, and a text on it would destroy its data; give the name of a file")]
    BlockDevice,
    /// It is a file that is still needed.
    #[error("it is the same file as {}, {role}", .path.display())]
    Kept {
        /// The name under which it is needed.
        path: PathBuf,
        /// Why it is needed.
        role: FileRole,
    },
}

impl From<NoOutput> for io::Error {
    fn from(refusal: NoOutput) -> Self {
        Self::new(ErrorKind::InvalidInput, refusal)
    }
}

/// Opens an output for writing. It has mode and owner of the file that is there already; a new one has mode 0666, less the umask.
///
/// # Errors
/// [`NoOutput`], or an error of the system.
pub fn open(path: &Path, start: OutputStart, kept: &ProtectedPaths) -> io::Result<File> {
    check(path, kept)?;
    let flags = match start {
        OutputStart::Empty => OFlags::CREATE,
        OutputStart::Append => OFlags::CREATE | OFlags::APPEND,
        OutputStart::New => OFlags::CREATE | OFlags::EXCL,
    };
    let file = open_file(path, flags, 0o666)?;
    check_open(&file, kept)?;
    if start == OutputStart::Empty {
        empty(&file)?;
    }
    Ok(file)
}

/// Makes a new file of mode 0600. A file or a symbolic link that is there already is an error (`EEXIST`).
pub fn make_private(path: &Path) -> io::Result<File> {
    open_file(path, OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW, 0o600)
}

fn open_file(path: &Path, flags: OFlags, mode: u32) -> io::Result<File> {
    let (flags, mode) = (flags | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::from_raw_mode(mode));
    let opened = rustix::io::retry_on_intr(|| rustix::fs::openat(CWD, path, flags, mode))?;
    Ok(File::from(opened))
}

/// Looks at an output before it is opened. Its name may be that of a file which jobs are going to make.
///
/// # Errors
/// [`NoOutput`].
pub fn check(path: &Path, kept: &ProtectedPaths) -> io::Result<()> {
    if std::fs::metadata(path).is_ok_and(|facts| facts.file_type().is_block_device()) {
        return Err(NoOutput::BlockDevice.into());
    }
    kept.check_path(path).map_err(io::Error::from)
}

/// Looks at an output that is open: its name may lead somewhere else since [`check`].
fn check_open(file: &File, kept: &ProtectedPaths) -> io::Result<()> {
    let facts = file.metadata()?;
    if facts.file_type().is_block_device() {
        return Err(NoOutput::BlockDevice.into());
    }
    kept.check_file(&facts).map_err(io::Error::from)
}

/// Removes the contents of a regular file.
fn empty(file: &File) -> io::Result<()> {
    let facts = file.metadata()?;
    if facts.is_file() && facts.len() > 0 { file.set_len(0) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
