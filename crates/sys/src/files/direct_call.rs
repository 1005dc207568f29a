//! `pread64(2)` and `pwrite64(2)` without the C library in between. Its wrapper checks whether the thread may be
//! cancelled, and is one more call to return from, which the CPU mispredicts after a system call. Both would be part of
//! the measured time: about 10 ns of 190 on the machine of docs/performance.md.
//!
//! Must not know: engines. Start reading at [`pread`]. Other architectures than x86-64 use the C library.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "a system call is an instruction of its own"))]

use crate::files::file_io::Transferred;
use std::os::fd::BorrowedFd;

/// `pread64`.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn pread(fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Transferred {
    // SAFETY: the kernel writes to no more than the buffer.
    unsafe { call(libc::SYS_pread64, fd, buffer.as_mut_ptr().addr(), buffer.len(), offset) }
}

/// `pwrite64`.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn pwrite(fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Transferred {
    // SAFETY: the kernel reads no more than the buffer.
    unsafe { call(libc::SYS_pwrite64, fd, buffer.as_ptr().addr(), buffer.len(), offset) }
}

/// One of the two calls.
///
/// # Safety
/// `SYS_pread64` and a buffer that may be written to, or `SYS_pwrite64` and one that may be read.
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn call(number: libc::c_long, fd: BorrowedFd<'_>, address: usize, length: usize, offset: u64) -> Transferred {
    use std::os::fd::AsRawFd;
    let result: isize;
    // SAFETY: by the caller; the instruction changes rax, rcx and r11, and memory as the call says.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") fd.as_raw_fd(),
            in("rsi") address,
            in("rdx") length,
            in("r10") offset,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    // The kernel gives errors as -4095 to -1.
    if result >= 0 { Ok(result.unsigned_abs()) } else { Err(rustix::io::Errno::from_raw_os_error(-result as i32)) }
}

/// `pread64`.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn pread(fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Transferred {
    rustix::io::pread(fd, buffer, offset)
}

/// `pwrite64`.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn pwrite(fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Transferred {
    rustix::io::pwrite(fd, buffer, offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;
    use rustix::io::Errno;
    use std::os::fd::AsFd;

    #[test]
    fn what_was_written_is_read_at_its_place() {
        let directory = TempDir::new("direct-call");
        let file = std::fs::File::options().read(true).write(true).create_new(true).open(directory.path().join("file"));
        let file = file.unwrap();
        assert_eq!(pwrite(file.as_fd(), b"ferrio", 1 << 33), Ok(6));
        let mut buffer = [0; 8];
        assert_eq!(pread(file.as_fd(), &mut buffer, (1 << 33) + 1), Ok(5));
        assert_eq!(&buffer[..5], b"errio");
        assert_eq!(pread(file.as_fd(), &mut buffer, 1 << 34), Ok(0));
        assert_eq!(pread(file.as_fd(), &mut [], 0), Ok(0));
    }

    #[test]
    fn errors_are_those_of_the_kernel() {
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert_eq!(pwrite(file.as_fd(), b"x", 0), Err(Errno::BADF));
        assert_eq!(pread(file.as_fd(), &mut [0], u64::MAX), Err(Errno::INVAL));
        let directory = std::fs::File::open("/").unwrap();
        assert_eq!(pread(directory.as_fd(), &mut [0], 0), Err(Errno::ISDIR));
        let (end, _other) = std::io::pipe().unwrap();
        assert_eq!(pread(end.as_fd(), &mut [0], 0), Err(Errno::SPIPE));
    }
}
