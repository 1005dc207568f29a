//! Space of files: preallocation, holes, length, and free space of a file system.
//!
//! Must not know: why space is wanted.
#![expect(unsafe_code, reason = "posix_fallocate")]

use crate::error::{Context, Result};
use rustix::fd::{AsFd, AsRawFd};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::path::Path;

/// A way to preallocate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preallocation {
    /// `fallocate(2)` with mode 0: the file grows.
    Native,
    /// `fallocate(2)` with `FALLOC_FL_KEEP_SIZE`: blocks are set aside behind the end of the file.
    KeepSize,
    /// `posix_fallocate(3)`: the C library writes the blocks itself where the file system cannot set them aside.
    Posix,
}

/// Sets space aside.
pub fn preallocate(file: impl AsFd, how: Preallocation, offset: u64, len: u64) -> Result<()> {
    let result = match how {
        Preallocation::Native => fallocate(&file, FallocateFlags::empty(), offset, len),
        Preallocation::KeepSize => fallocate(&file, FallocateFlags::KEEP_SIZE, offset, len),
        Preallocation::Posix => posix_fallocate(&file, offset, len),
    };
    let name = match how {
        Preallocation::Native => "fallocate",
        Preallocation::KeepSize => "fallocate that keeps the size",
        Preallocation::Posix => "posix_fallocate",
    };
    result.context(name, format_args!("of {len} bytes at {offset}"))
}

/// Gives the blocks of a range back to the file system (`FALLOC_FL_PUNCH_HOLE`); the range then reads as zeroes, and
/// the file keeps its length. Called for each trim.
#[inline]
pub fn punch_hole(file: impl AsFd, offset: u64, len: u64) -> std::result::Result<(), Errno> {
    fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, len)
}

/// Preallocates without extending the file. Called per I/O.
#[inline]
pub fn fallocate_keep_size(file: impl AsFd, offset: u64, len: u64) -> std::result::Result<(), Errno> {
    fallocate(&file, FallocateFlags::KEEP_SIZE, offset, len)
}

/// Preallocates and extends the file. Called per I/O.
#[inline]
pub fn fallocate_extend(file: impl AsFd, offset: u64, len: u64) -> std::result::Result<(), Errno> {
    fallocate(&file, FallocateFlags::empty(), offset, len)
}

/// Sets the length of a file. Called per I/O by an engine that only truncates.
#[inline]
pub fn truncate(file: impl AsFd, len: u64) -> std::result::Result<(), Errno> {
    rustix::io::retry_on_intr(|| rustix::fs::ftruncate(&file, len))
}

fn fallocate(file: &impl AsFd, flags: FallocateFlags, offset: u64, len: u64) -> std::result::Result<(), Errno> {
    rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, flags, offset, len))
}

fn posix_fallocate(file: &impl AsFd, offset: u64, len: u64) -> std::result::Result<(), Errno> {
    let (Ok(offset), Ok(len)) = (libc::off64_t::try_from(offset), libc::off64_t::try_from(len)) else {
        return Err(Errno::FBIG);
    };
    // SAFETY: three numbers, of which the descriptor is open while it is borrowed; no memory is involved.
    let error = unsafe { libc::posix_fallocate64(file.as_fd().as_raw_fd(), offset, len) };
    if error == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(error)) }
}

/// Space of a file system, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSystemSpace {
    pub total_bytes: u64,
    /// Free space for unprivileged users.
    pub available_bytes: u64,
}

pub fn file_system_space(path: &Path) -> Result<FileSystemSpace> {
    let stat = rustix::fs::statvfs(path).context("statfs", path.display())?;
    Ok(FileSystemSpace {
        total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
        available_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::file::{Access, FileInfo, OpenRequest};
    use crate::test_support::TempDir;
    use ferrio_testing::{skip, skip_part};

    fn new_file(dir: &TempDir) -> rustix::fd::OwnedFd {
        let request = OpenRequest { access: Access::ReadWrite, is_create: true, mode: 0o600, ..OpenRequest::default() };
        request.open(&dir.path().join("file")).unwrap()
    }

    #[test]
    fn preallocation_grows_or_keeps_the_size() {
        for (how, expected) in
            [(Preallocation::Native, 1 << 20), (Preallocation::Posix, 1 << 20), (Preallocation::KeepSize, 0)]
        {
            let dir = TempDir::new("fallocate");
            let file = new_file(&dir);
            match preallocate(&file, how, 0, 1 << 20) {
                Ok(()) => assert_eq!(FileInfo::of_file(&file).unwrap().size_bytes, expected, "{how:?}"),
                Err(error) if error.errno() == Some(libc::EOPNOTSUPP) => {
                    skip_part!("preallocation_grows_or_keeps_the_size", "{error}");
                }
                Err(error) => panic!("{error}"),
            }
            assert!(preallocate(&file, how, u64::MAX, 1).is_err());
            assert!(preallocate(&file, how, 0, 0).is_err() || how == Preallocation::Posix);
        }
    }

    #[test]
    fn a_hole_reads_as_zeros_and_keeps_the_length() {
        let dir = TempDir::new("hole");
        let file = new_file(&dir);
        std::fs::write(dir.path().join("file"), vec![7; 64 << 10]).unwrap();
        if let Err(error) = punch_hole(&file, 0, 32 << 10) {
            skip!("a_hole_reads_as_zeros_and_keeps_the_length", "{error}");
            return;
        }
        let bytes = std::fs::read(dir.path().join("file")).unwrap();
        assert_eq!((bytes.len(), bytes[0], bytes[(32 << 10) - 1], bytes[32 << 10]), (64 << 10, 0, 0, 7));
    }

    #[test]
    fn length_and_space() {
        let dir = TempDir::new("truncate");
        let file = new_file(&dir);
        truncate(&file, 12_345).unwrap();
        assert_eq!(FileInfo::of_file(&file).unwrap().size_bytes, 12_345);
        // No file is that long; which of two errors says so is the business of file system and C library.
        assert!(matches!(truncate(&file, u64::MAX), Err(Errno::INVAL | Errno::FBIG)));
        let space = file_system_space(dir.path()).unwrap();
        assert!(space.available_bytes <= space.total_bytes && space.total_bytes > 0);
        assert_eq!(file_system_space(Path::new("/no/such")).unwrap_err().errno(), Some(libc::ENOENT));
    }
}
