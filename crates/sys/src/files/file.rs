//! Files: opening with every flag that matters for I/O tests, kinds of paths, directories, removal.
//!
//! Must not know: why a file is opened. Start reading at [`OpenRequest`]. Space is in [`crate::files::file_space`], the page cache
//! in [`crate::files::file_cache`], reading and writing in [`crate::files::file_io`].

use crate::devices::block_device::DeviceNumber;
use crate::error::{Context, Result};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::io::Read as _;
use std::os::fd::AsFd;
use std::path::Path;

/// Access to an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// `O_RDONLY`.
    #[default]
    Read,
    /// `O_WRONLY`.
    Write,
    /// `O_RDWR`.
    ReadWrite,
}

/// Settings for opening a file. The default is plain reading. `O_CLOEXEC` is always set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenRequest {
    /// Reading, writing or both.
    pub access: Access,
    /// Make the file if it is not there (`O_CREAT`), with `mode`.
    pub is_create: bool,
    /// Fail with `EEXIST` if the file exists (`O_EXCL`, with `is_create`).
    pub is_exclusive: bool,
    /// Truncate the file to 0 bytes (`O_TRUNC`).
    pub is_truncate: bool,
    /// Bypass the page cache (`O_DIRECT`).
    pub is_direct: bool,
    /// Each write waits for data and metadata (`O_SYNC`).
    pub is_sync: bool,
    /// Each write waits for its data (`O_DSYNC`).
    pub is_dsync: bool,
    /// Reading leaves the access time (`O_NOATIME`). Dropped where the kernel refuses it (`EPERM`: not the owner).
    pub is_noatime: bool,
    /// Permissions of a new file, such as `0o644`, less the umask.
    pub mode: u32,
}

impl OpenRequest {
    /// The flags of `open(2)`, but `O_CLOEXEC`.
    pub fn flag_bits(self) -> u32 {
        (self.flags() - OFlags::CLOEXEC).bits()
    }

    fn flags(self) -> OFlags {
        let mut flags = OFlags::CLOEXEC
            | match self.access {
                Access::Read => OFlags::RDONLY,
                Access::Write => OFlags::WRONLY,
                Access::ReadWrite => OFlags::RDWR,
            };
        // Not OFlags::DSYNC: rustix 1.1 gives it the value of O_SYNC on Linux.
        let dsync = OFlags::from_bits_retain(libc::O_DSYNC as u32);
        let optional = [
            (self.is_create, OFlags::CREATE),
            (self.is_exclusive, OFlags::EXCL),
            (self.is_truncate, OFlags::TRUNC),
            (self.is_direct, OFlags::DIRECT),
            (self.is_sync, OFlags::SYNC),
            (self.is_dsync, dsync),
            (self.is_noatime, OFlags::NOATIME),
        ];
        optional.into_iter().filter(|(is_wanted, _)| *is_wanted).for_each(|(_, flag)| flags |= flag);
        flags
    }

    pub fn open(self, path: &Path) -> Result<OwnedFd> {
        let mode = Mode::from_raw_mode(self.mode);
        let open = |flags| rustix::io::retry_on_intr(|| rustix::fs::openat(CWD, path, flags, mode));
        match open(self.flags()) {
            Err(Errno::PERM) if self.is_noatime => open(self.flags() - OFlags::NOATIME),
            result => result,
        }
        .context("open", path.display())
    }
}

/// Reads and writes of an open file no longer wait.
pub fn set_nonblocking(file: impl AsFd) -> Result<()> {
    let flags = rustix::fs::fcntl_getfl(&file).context("fcntl(F_GETFL)", "")?;
    rustix::fs::fcntl_setfl(&file, flags | OFlags::NONBLOCK).context("fcntl(F_SETFL)", "")
}

/// True if an open file has `O_SYNC` or `O_DSYNC`; an error counts as false.
pub fn is_opened_for_sync(file: impl AsFd) -> bool {
    rustix::fs::fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::DSYNC))
}

/// Opens a regular file for reading. Anything else (a pipe, a device, a directory) is an error, and a pipe without a writer is not
/// waited for.
pub fn open_regular(path: &Path) -> std::io::Result<std::fs::File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::io::retry_on_intr(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?;
    let file = std::fs::File::from(file);
    let facts = file.metadata()?;
    if facts.is_file() {
        return Ok(file);
    }
    if facts.is_dir() {
        return Err(Errno::ISDIR.into());
    }
    Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no regular file"))
}

/// The content of a regular file that somebody else may have named: see [`open_regular`].
///
/// # Errors
/// The file has more than `max_bytes` bytes, or it cannot be read without a wait, such as the log of the kernel.
pub fn read_input(path: &Path, max_bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        let why = format!("it has more than {max_bytes} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// Opens a named pipe for reading, without a wait for a writer or for data: [`crate::processes::poll::wait_readable`] waits for both.
pub fn open_pipe(path: &Path) -> std::io::Result<std::fs::File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::io::retry_on_intr(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?;
    Ok(std::fs::File::from(file))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Regular,
    Block,
    Character,
    /// A named pipe.
    Fifo,
    Directory,
    /// A socket or something unknown.
    Other,
}

/// Result of `stat` for a path; links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInfo {
    pub kind: FileKind,
    /// Size of a regular file; 0 for devices, see [`crate::devices::block_device::size_bytes`].
    pub size_bytes: u64,
    /// Bytes on disk, from the file's count of 512-byte blocks.
    pub allocated_bytes: u64,
    pub on_device: DeviceNumber,
    /// The device that it is, for block and character devices.
    pub is_device: DeviceNumber,
    /// Inode number; together with `on_device` it identifies a file.
    pub inode: u64,
}

impl FileInfo {
    /// Looks at a path. A path that is not there is an error with `ENOENT`.
    pub fn of_path(path: &Path) -> Result<Self> {
        rustix::fs::stat(path).map(Self::from_stat).context("stat", path.display())
    }

    pub fn of_file(file: &(impl rustix::fd::AsFd + std::fmt::Debug)) -> Result<Self> {
        rustix::fs::fstat(file).map(Self::from_stat).context("fstat", format_args!("{file:?}"))
    }

    fn from_stat(stat: rustix::fs::Stat) -> Self {
        Self {
            kind: match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => FileKind::Regular,
                FileType::BlockDevice => FileKind::Block,
                FileType::CharacterDevice => FileKind::Character,
                FileType::Fifo => FileKind::Fifo,
                FileType::Directory => FileKind::Directory,
                _ => FileKind::Other,
            },
            size_bytes: stat.st_size as u64,
            allocated_bytes: (stat.st_blocks as u64).saturating_mul(512),
            on_device: DeviceNumber::from_raw(stat.st_dev),
            is_device: DeviceNumber::from_raw(stat.st_rdev),
            inode: stat.st_ino,
        }
    }
}

/// The alignment of memory that direct I/O of a file needs (`STATX_DIOALIGN`, Linux 6.1), bytes. 0: its file system does no direct I/O
/// on this file, and an open with `O_DIRECT` fails or goes through the page cache. `None`: the file system does not tell.
pub fn direct_io_align_bytes(path: &Path) -> Result<Option<u32>> {
    // Not named by rustix 1.1.
    let wanted = StatxFlags::from_bits_retain(0x2000);
    let found = rustix::fs::statx(CWD, path, AtFlags::empty(), wanted).context("statx", path.display())?;
    Ok((found.stx_mask & wanted.bits() != 0).then_some(found.stx_dio_mem_align))
}

/// The alignment of offsets and lengths that direct I/O of a file needs, bytes, as far as [`direct_io_align_bytes`] is known.
pub fn direct_io_block_bytes(path: &Path) -> Result<Option<u32>> {
    let wanted = StatxFlags::from_bits_retain(0x2000);
    let found = rustix::fs::statx(CWD, path, AtFlags::empty(), wanted).context("statx", path.display())?;
    Ok((found.stx_mask & wanted.bits() != 0).then_some(found.stx_dio_offset_align))
}

/// Smallest and largest write of a file that is done whole or not at all (`STATX_WRITE_ATOMIC`, Linux 6.11), bytes; zeroes: there is
/// none. `None`: the kernel does not tell.
pub fn atomic_write_bytes(path: &Path) -> Result<Option<[u32; 2]>> {
    // Not named by rustix 1.1.
    let wanted = StatxFlags::from_bits_retain(0x1_0000);
    let found = rustix::fs::statx(CWD, path, AtFlags::empty(), wanted).context("statx", path.display())?;
    let sizes = [found.stx_atomic_write_unit_min, found.stx_atomic_write_unit_max];
    Ok((found.stx_mask & wanted.bits() != 0).then_some(sizes))
}

/// True if a file is never copied when it is written (`chattr +C`, `FS_IOC_GETFLAGS`). `None`: the file system does not tell.
pub fn is_no_cow(path: &Path) -> Result<Option<bool>> {
    let file = OpenRequest::default().open(path)?;
    match rustix::fs::ioctl_getflags(&file) {
        Ok(flags) => Ok(Some(flags.contains(rustix::fs::IFlags::NOCOW))),
        Err(Errno::NOTTY | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error).context("FS_IOC_GETFLAGS", path.display()),
    }
}

/// Removes a file (not a directory).
pub fn unlink(path: &Path) -> Result<()> {
    rustix::fs::unlink(path).context("unlink", path.display())
}

/// Makes a directory with these permissions, less the umask.
pub fn create_directory(path: &Path, mode: u32) -> Result<()> {
    rustix::fs::mkdir(path, Mode::from_raw_mode(mode)).context("mkdir", path.display())
}

/// Removes an empty directory.
pub fn remove_directory(path: &Path) -> Result<()> {
    rustix::fs::rmdir(path).context("rmdir", path.display())
}

/// The system calls that look a path up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    Stat,
    /// `lstat(2)`: a symbolic link is not followed.
    Lstat,
    /// `statx(2)` with all fields.
    Statx,
}

/// Looks a path up, and ignores the result.
pub fn look_up(path: &Path, how: Lookup) -> Result<()> {
    let found = match how {
        Lookup::Stat => rustix::fs::stat(path).map(drop),
        Lookup::Lstat => rustix::fs::lstat(path).map(drop),
        Lookup::Statx => rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::ALL).map(drop),
    };
    found.context("stat", path.display())
}

/// Makes a directory and those above it that are missing, with these permissions (such as `0o700`), less the umask.
/// One that is there already is fine.
pub fn create_directories(path: &Path, mode: u32) -> Result<()> {
    let mut ancestors: Vec<&Path> = path.ancestors().filter(|ancestor| !ancestor.as_os_str().is_empty()).collect();
    ancestors.reverse();
    for directory in ancestors {
        match rustix::fs::mkdir(directory, Mode::from_raw_mode(mode)) {
            // Above the wanted directory, one that cannot be made (read-only, not allowed) may well be there.
            Err(Errno::EXIST | Errno::ISDIR) => {}
            Err(_) if directory.is_dir() => {}
            result => result.context("mkdir", directory.display())?,
        }
    }
    // The name may belong to something other than a directory.
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    Err(Errno::NOTDIR).context("mkdir", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;
    use ferrio_testing::skip_part;
    use rustix::fs::fcntl_getfl;

    #[test]
    fn every_flag_reaches_the_kernel() {
        let dir = TempDir::new("open");
        let path = dir.path().join("file");
        let base = OpenRequest { access: Access::ReadWrite, is_create: true, mode: 0o600, ..OpenRequest::default() };
        assert_eq!(OpenRequest::default().open(&path).unwrap_err().errno(), Some(libc::ENOENT));
        let cases = [
            (base, 0),
            (OpenRequest { is_sync: true, ..base }, libc::O_SYNC),
            (OpenRequest { is_dsync: true, ..base }, libc::O_DSYNC),
            (OpenRequest { is_noatime: true, ..base }, libc::O_NOATIME),
        ];
        for (request, expected) in cases {
            let flags = fcntl_getfl(request.open(&path).unwrap()).unwrap().bits() as i32;
            let all = libc::O_SYNC | libc::O_DSYNC | libc::O_NOATIME | libc::O_DIRECT;
            assert_eq!((flags & all, flags & libc::O_ACCMODE), (expected, libc::O_RDWR));
        }
        let exclusive = OpenRequest { is_exclusive: true, ..base };
        assert_eq!(exclusive.open(&path).unwrap_err().errno(), Some(libc::EEXIST));
        match (OpenRequest { is_direct: true, ..base }).open(&path) {
            Ok(file) => assert!(fcntl_getfl(file).unwrap().contains(OFlags::DIRECT)),
            Err(error) => skip_part!("every_flag_reaches_the_kernel", "direct: {error}"),
        }
    }

    #[test]
    fn kinds_and_sizes() {
        let dir = TempDir::new("stat");
        let path = dir.path().join("file");
        std::fs::write(&path, [1; 5000]).unwrap();
        let info = FileInfo::of_path(&path).unwrap();
        assert_eq!((info.kind, info.size_bytes), (FileKind::Regular, 5000));
        let truncate = OpenRequest { access: Access::Write, is_truncate: true, ..OpenRequest::default() };
        let after = FileInfo::of_file(&truncate.open(&path).unwrap()).unwrap();
        assert_eq!((after.size_bytes, after.inode), (0, info.inode));
        assert_eq!(FileInfo::of_path(dir.path()).unwrap().kind, FileKind::Directory);
        let null = FileInfo::of_path(Path::new("/dev/null")).unwrap();
        assert_eq!((null.kind, null.is_device), (FileKind::Character, DeviceNumber { major: 1, minor: 3 }));
        unlink(&path).unwrap();
        assert_eq!(FileInfo::of_path(&path).unwrap_err().errno(), Some(libc::ENOENT));
        assert_eq!(unlink(&path).unwrap_err().errno(), Some(libc::ENOENT));
    }

    #[test]
    fn directories_are_made_with_their_parents() {
        use std::os::unix::fs::PermissionsExt;
        let dir = TempDir::new("mkdir");
        let deep = dir.path().join("a/b/c");
        create_directories(&deep, 0o700).unwrap();
        create_directories(&deep, 0o700).unwrap();
        let mode = std::fs::metadata(dir.path().join("a/b")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        std::fs::write(dir.path().join("file"), "").unwrap();
        assert_eq!(create_directories(&dir.path().join("file"), 0o700).unwrap_err().errno(), Some(libc::ENOTDIR));
        assert_eq!(create_directories(&dir.path().join("file/x"), 0o700).unwrap_err().errno(), Some(libc::ENOTDIR));
    }
}
