//! Flash memory without a controller (`/dev/mtdN`): its geometry, erasing, bad blocks, and its users.
//!
//! Facts: `mtd/mtd-abi.h`; sysfs-class-mtd. Must not know: jobs. Start reading at [`Flash`].
#![expect(unsafe_code, reason = "ioctl with the kernel's own opcodes")]

use super::{SYS_DEV_CHAR, in_subsystem, number_in};
use crate::Errno;
use crate::devices::block_device::{DeviceNumber, path_of};
use crate::error::{Context, Error, Result};
use crate::files::file::FileInfo;
use crate::mounts::{self, DeviceUse};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
use std::io;
use std::path::{Path, PathBuf};

/// `MEMERASE64`, `_IOW('M', 20, struct erase_info_user64)`.
const ERASE: libc::c_ulong = 0x4010_4D14;

/// `MEMGETBADBLOCK`, `_IOW('M', 11, __kernel_loff_t)`.
const IS_BAD: libc::c_ulong = 0x4008_4D0B;

/// The class of flash memories.
const CLASS: &str = "mtd";

/// Geometry of a flash memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flash {
    pub size_bytes: u64,
    /// Bytes of a block that is erased as a whole.
    pub erase_bytes: u64,
    pub write_bytes: u64,
}

impl Flash {
    /// The flash memory behind an open file; `None`: the file is none.
    pub fn of(file: impl AsFd) -> Result<Option<Self>> {
        Self::in_sysfs(FileInfo::of_file(&file.as_fd())?.is_device, Path::new(SYS_DEV_CHAR))
    }

    fn in_sysfs(number: DeviceNumber, characters: &Path) -> Result<Option<Self>> {
        let Some(directory) = directory_of(number, characters)? else { return Ok(None) };
        let read = |attribute| number_in(&directory, attribute);
        let (size_bytes, erase_bytes, write_bytes) = (read("size")?, read("erasesize")?, read("writesize")?);
        if erase_bytes == 0 {
            return Err(Error::Parse { what: "erasesize", text: "0".to_owned() });
        }
        Ok(Some(Self { size_bytes, erase_bytes, write_bytes: write_bytes.max(1) }))
    }
}

/// The directory of a flash memory in sysfs; `None`: the device with this number is none.
fn directory_of(number: DeviceNumber, characters: &Path) -> Result<Option<PathBuf>> {
    let Some(link) = in_subsystem(number, characters, CLASS)? else { return Ok(None) };
    std::fs::canonicalize(&link).context("resolve", link.display()).map(Some)
}

/// Erases whole blocks.
pub fn erase(flash: BorrowedFd<'_>, start: u64, length: u64) -> core::result::Result<(), Errno> {
    let range = [start, length];
    // SAFETY: the kernel reads a range of two numbers, which live until the call is over.
    check(unsafe { libc::ioctl(flash.as_raw_fd(), ERASE, range.as_ptr()) }).map(drop)
}

/// True if the block at this offset is marked as bad.
///
/// # Errors
/// The errno of the kernel; `EOPNOTSUPP`: this kind of memory has no bad blocks.
pub fn is_bad(flash: BorrowedFd<'_>, offset: u64) -> core::result::Result<bool, Errno> {
    // SAFETY: the kernel reads one number, which lives until the call is over.
    check(unsafe { libc::ioctl(flash.as_raw_fd(), IS_BAD, &raw const offset) }).map(|answer| answer > 0)
}

fn check(returned: libc::c_int) -> core::result::Result<libc::c_int, Errno> {
    if returned >= 0 {
        return Ok(returned);
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
}

/// The use of the flash memory with this number, which must not be overwritten then: a file system on it, its block device, or UBI.
/// `None`: it is free, or the device is no flash memory.
pub fn use_of(number: DeviceNumber) -> Result<Option<DeviceUse>> {
    let Some(directory) = directory_of(number, Path::new(SYS_DEV_CHAR))? else { return Ok(None) };
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // `mtd0ro` is the same memory for readers.
    let name = name.trim_end_matches("ro");
    let index = name.strip_prefix("mtd").unwrap_or_default();
    let label = std::fs::read_to_string(directory.join("name")).unwrap_or_default();
    let sources = [name.to_owned(), format!("mtd:{}", label.trim())];
    if let Some(mount) = mounts::mounts().into_iter().find(|mount| sources.contains(&mount.source)) {
        return Ok(Some(DeviceUse::Mounted(mount.place)));
    }
    let on_ubi = Path::new("/sys/class/ubi");
    for entry in std::fs::read_dir(on_ubi).into_iter().flatten().flatten() {
        let of = std::fs::read_to_string(entry.path().join("mtd_num")).unwrap_or_default();
        if !index.is_empty() && of.trim() == index {
            return Ok(Some(DeviceUse::HeldBy(entry.file_name().to_string_lossy().into_owned())));
        }
    }
    let block = Path::new("/sys/class/block").join(format!("mtdblock{index}")).join("dev");
    let Ok(text) = std::fs::read_to_string(&block) else { return Ok(None) };
    let number = DeviceNumber::parse(&text).ok_or(Error::Parse { what: "number of a device", text })?;
    match path_of(number) {
        Some(path) if path.exists() => mounts::use_of_device(&path),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_geometry_is_that_of_sysfs() {
        let root = std::env::temp_dir().join(format!("ferrio-sys-mtd-{}", std::process::id()));
        for directory in ["class/mtd", "class/mem", "devices/mtd0", "devices/null", "char"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        symlink(root.join("class/mtd"), root.join("devices/mtd0/subsystem")).unwrap();
        symlink(root.join("class/mem"), root.join("devices/null/subsystem")).unwrap();
        symlink(root.join("devices/mtd0"), root.join("char/90:0")).unwrap();
        symlink(root.join("devices/null"), root.join("char/1:3")).unwrap();
        for (attribute, text) in [("size", "16777216\n"), ("erasesize", "131072\n"), ("writesize", "1\n")] {
            fs::write(root.join("devices/mtd0").join(attribute), text).unwrap();
        }
        let of = |major, minor| Flash::in_sysfs(DeviceNumber { major, minor }, &root.join("char"));
        let expected = Flash { size_bytes: 16 << 20, erase_bytes: 128 << 10, write_bytes: 1 };
        assert_eq!(of(90, 0).unwrap(), Some(expected));
        assert_eq!(of(1, 3).unwrap(), None);
        assert_eq!(of(9, 9).unwrap(), None);
        fs::write(root.join("devices/mtd0/erasesize"), "0\n").unwrap();
        assert!(of(90, 0).is_err());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_file_is_no_flash_memory() {
        let zero = fs::File::open("/dev/zero").unwrap();
        assert_eq!(Flash::of(&zero).unwrap(), None);
        assert_eq!(is_bad(zero.as_fd(), 0), Err(Errno::NOTTY));
        assert_eq!(erase(zero.as_fd(), 0, 1), Err(Errno::NOTTY));
    }
}
