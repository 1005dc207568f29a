//! Reading and writing at offsets, one system call each, no allocation: the floor of the synchronous engines.
//!
//! Each function is the system call of its name, on slices of an [`crate::Arena`] or of other memory; the result is the
//! number of bytes moved, which may be less than requested. `EINTR` is passed on: an engine counts it as the kernel
//! returned it.
//!
//! Must not know: which engine calls.

use crate::files::direct_call;
use rustix::fd::AsFd;
use rustix::fs::SeekFrom;
use rustix::io::{Errno, ReadWriteFlags};
use std::io::{IoSlice, IoSliceMut};

/// Flags of one `preadv2` or `pwritev2`, the bits of `RWF_*`; combine with `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RwFlags(u32);

impl RwFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// Poll for the completion (`O_DIRECT` only).
    pub const HIPRI: Self = Self(1);
    pub const DSYNC: Self = Self(2);
    pub const SYNC: Self = Self(4);
    /// Fail with `EAGAIN` rather than wait.
    pub const NOWAIT: Self = Self(8);
    /// The write happens as a whole or not at all (Linux 6.11).
    pub const ATOMIC: Self = Self(0x40);
    /// The pages leave the cache when the I/O is done (Linux 6.14).
    pub const DONTCACHE: Self = Self(0x80);

    /// The bits, for interfaces that take them raw.
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl std::ops::BitOr for RwFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Result of one I/O: bytes moved.
pub type Transferred = Result<usize, Errno>;

/// `pread64`.
#[inline]
pub fn pread(file: impl AsFd, buffer: &mut [u8], offset: u64) -> Transferred {
    direct_call::pread(file.as_fd(), buffer, offset)
}

/// `pwrite64`.
#[inline]
pub fn pwrite(file: impl AsFd, buffer: &[u8], offset: u64) -> Transferred {
    direct_call::pwrite(file.as_fd(), buffer, offset)
}

/// `lseek` to an offset from the start.
#[inline]
pub fn seek(file: impl AsFd, offset: u64) -> Result<u64, Errno> {
    rustix::fs::seek(file, SeekFrom::Start(offset))
}

#[inline]
pub fn read(file: impl AsFd, buffer: &mut [u8]) -> Transferred {
    rustix::io::read(file, buffer)
}

#[inline]
pub fn write(file: impl AsFd, buffer: &[u8]) -> Transferred {
    rustix::io::write(file, buffer)
}

/// `readv` at the file's own position. At most 1024 buffers (`IOV_MAX`).
#[inline]
pub fn readv(file: impl AsFd, buffers: &mut [IoSliceMut<'_>]) -> Transferred {
    rustix::io::readv(file, buffers)
}

/// `writev` at the file's own position. At most 1024 buffers (`IOV_MAX`).
#[inline]
pub fn writev(file: impl AsFd, buffers: &[IoSlice<'_>]) -> Transferred {
    rustix::io::writev(file, buffers)
}

#[inline]
pub fn preadv(file: impl AsFd, buffers: &mut [IoSliceMut<'_>], offset: u64) -> Transferred {
    rustix::io::preadv(file, buffers, offset)
}

#[inline]
pub fn pwritev(file: impl AsFd, buffers: &[IoSlice<'_>], offset: u64) -> Transferred {
    rustix::io::pwritev(file, buffers, offset)
}

/// `preadv2`.
#[inline]
pub fn preadv2(file: impl AsFd, buffers: &mut [IoSliceMut<'_>], offset: u64, flags: RwFlags) -> Transferred {
    rustix::io::preadv2(file, buffers, offset, ReadWriteFlags::from_bits_retain(flags.0))
}

/// `pwritev2`.
#[inline]
pub fn pwritev2(file: impl AsFd, buffers: &[IoSlice<'_>], offset: u64, flags: RwFlags) -> Transferred {
    rustix::io::pwritev2(file, buffers, offset, ReadWriteFlags::from_bits_retain(flags.0))
}

/// Writes all of the buffer at the file's own position, repeating short and interrupted writes: for laying files out,
/// not for measured I/O.
pub fn write_all(file: impl AsFd, mut buffer: &[u8]) -> Result<(), Errno> {
    while !buffer.is_empty() {
        let n = rustix::io::retry_on_intr(|| rustix::io::write(&file, buffer))?;
        if n == 0 {
            return Err(Errno::IO);
        }
        buffer = &buffer[n..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::file::{Access, OpenRequest};
    use crate::memory::arena::{Arena, ArenaKind, ArenaRequest};
    use crate::test_support::TempDir;

    #[test]
    fn every_call_moves_the_same_bytes() {
        let dir = TempDir::new("io");
        let request = OpenRequest { access: Access::ReadWrite, is_create: true, mode: 0o600, ..OpenRequest::default() };
        let file = request.open(&dir.path().join("file")).unwrap();
        let wanted = ArenaRequest { kind: ArenaKind::Malloc, size_bytes: 8192, offset_bytes: 0, hugepage_bytes: 0 };
        let mut arena = Arena::new(&wanted).unwrap();
        arena.slice_mut(0, 4096).fill(5);
        let out = [IoSlice::new(arena.slice(0, 1000)), IoSlice::new(arena.slice(1000, 3096))];
        assert_eq!(pwrite(&file, arena.slice(0, 4096), 0), Ok(4096));
        assert_eq!(pwritev(&file, &out, 4096), Ok(4096));
        assert_eq!(pwritev2(&file, &out, 8192, RwFlags::DSYNC), Ok(4096));
        assert_eq!((seek(&file, 12_288), write(&file, arena.slice(0, 4096))), (Ok(12_288), Ok(4096)));
        assert_eq!(writev(&file, &out), Ok(4096));
        assert_eq!(write_all(&file, arena.slice(0, 4096)), Ok(()));

        let mut check = |read: &dyn Fn(&mut [u8]) -> Transferred| {
            let target = arena.slice_mut(4096, 4096);
            target.fill(0);
            assert_eq!(read(target), Ok(4096));
            assert!(arena.slice(4096, 4096).iter().all(|&byte| byte == 5));
        };
        check(&|buffer| pread(&file, buffer, 0));
        check(&|buffer| preadv(&file, &mut [IoSliceMut::new(buffer)], 4096));
        check(&|buffer| preadv2(&file, &mut [IoSliceMut::new(buffer)], 8192, RwFlags::NONE));
        check(&|buffer| seek(&file, 12_288).and_then(|_| read(&file, buffer)));
        check(&|buffer| readv(&file, &mut [IoSliceMut::new(buffer)]));
        check(&|buffer| read(&file, buffer));
        assert_eq!(pread(&file, &mut [0; 10], 6 * 4096), Ok(0), "end of file");
        assert_eq!(pread(&file, &mut [0; 10], u64::MAX), Err(Errno::INVAL));
    }

    #[test]
    fn errors_are_bare_numbers() {
        let (reader, _writer) = std::io::pipe().unwrap();
        assert_eq!(pread(&reader, &mut [0; 10], 0), Err(Errno::SPIPE));
        assert_eq!(write(&reader, &[0; 10]), Err(Errno::BADF));
        assert_eq!((RwFlags::NOWAIT | RwFlags::HIPRI).bits(), 9);
    }
}
