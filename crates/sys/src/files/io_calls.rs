//! System calls of single I/Os that `rustix` does not offer: `sync_file_range(2)` and the discard of a block device.
//!
//! They are called once per I/O, so they return a bare [`Errno`]. Must not know: engines, units of work.
//! Start reading at [`discard`].
#![expect(unsafe_code, reason = "calls into libc with plain numbers and one small array")]

use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `ioctl` number of `BLKDISCARD` (`linux/fs.h`: `_IO(0x12, 119)`).
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Starts, or waits for, the write-back of `length_bytes` from `offset_bytes`; 0 bytes mean up to the end of the file.
///
/// # Errors
/// Errors of `sync_file_range(2)`: EINVAL for unknown flags, ESPIPE for neither a file nor a block device.
pub fn sync_file_range(
    fd: BorrowedFd<'_>,
    offset_bytes: u64,
    length_bytes: u64,
    flags: u32,
) -> std::result::Result<(), Errno> {
    let offset = i64::try_from(offset_bytes).map_err(|_| Errno::INVAL)?;
    let length = i64::try_from(length_bytes).map_err(|_| Errno::INVAL)?;
    // SAFETY: the call takes no address.
    let status = unsafe { libc::sync_file_range(fd.as_raw_fd(), offset, length, flags) };
    check(status)
}

/// Discards `length_bytes` from `offset_bytes` of a block device.
///
/// # Errors
/// ENOTTY for all but block devices, EOPNOTSUPP if the device cannot discard, EINVAL for ranges that are not whole
/// sectors or are out of bounds.
pub fn discard(fd: BorrowedFd<'_>, offset_bytes: u64, length_bytes: u64) -> std::result::Result<(), Errno> {
    let range: [u64; 2] = [offset_bytes, length_bytes];
    // SAFETY: BLKDISCARD reads two u64 at the address, which `range` has; a target that is not a block device refuses
    // the number.
    let status = unsafe { libc::ioctl(fd.as_raw_fd(), BLKDISCARD, range.as_ptr()) };
    check(status)
}

fn check(status: libc::c_int) -> std::result::Result<(), Errno> {
    if status == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_discard_of_a_regular_file_is_enotty() {
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert_eq!(discard(file.as_fd(), 0, 4096), Err(Errno::NOTTY));
    }

    #[test]
    fn sync_file_range_refuses_unknown_flags_and_takes_known_ones() {
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert_eq!(sync_file_range(file.as_fd(), 0, 4096, 1 << 30), Err(Errno::INVAL));
        assert_eq!(sync_file_range(file.as_fd(), 0, 4096, libc::SYNC_FILE_RANGE_WRITE), Ok(()));
        assert_eq!(sync_file_range(file.as_fd(), u64::MAX, 1, 0), Err(Errno::INVAL));
    }
}
