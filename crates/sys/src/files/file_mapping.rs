//! A part of a file mapped into memory, read and written by copying.
//!
//! A page that the file does not have (it was truncated meanwhile) or that cannot be read is an error of the copy, not the
//! end of the process. Must not know: which parts are mapped when. Start reading at [`FileMapping`].
#![expect(unsafe_code, reason = "mmap, and copies from and to memory that the file can change")]

use crate::error::{Context, Result};
use crate::memory::bus_guard;
use crate::memory::persistent_memory::{CopyKind, WriteBack};
use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};
use std::cell::Cell;
use std::ptr::NonNull;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MappingAdvice {
    Random,
    Sequential,
    /// Use huge pages where possible.
    HugePages,
}

/// A shared mapping of a part of a file. Unmapped when dropped.
#[derive(Debug)]
pub struct FileMapping {
    base: NonNull<u8>,
    len: usize,
    is_writable: bool,
    is_damaged: Cell<bool>,
}

impl FileMapping {
    /// Maps `len` bytes, at least 1, from `offset`, a multiple of the page size. The file may be shorter. Lets `SIGBUS`
    /// through to this thread, which has to be the one that copies.
    ///
    /// # Errors
    /// `ENOMEM` if the address space has no room, `EACCES` if the file is not open for this access, `ENODEV` if the
    /// file system has no mappings, `EINVAL` for other offsets.
    pub fn new(file: impl AsFd, offset: u64, len: usize, is_writable: bool) -> Result<Self> {
        Self::with_flags(file, offset, len, is_writable, MapFlags::SHARED)
    }

    /// Maps as [`FileMapping::new`] does, if what is written to the mapping needs no sync of the file to be durable (`MAP_SYNC`).
    ///
    /// # Errors
    /// As there, and `EOPNOTSUPP`: the file is not in persistent memory, or its file system does not map that directly.
    pub fn new_persistent(file: impl AsFd, offset: u64, len: usize, is_writable: bool) -> Result<Self> {
        Self::with_flags(file, offset, len, is_writable, MapFlags::SHARED_VALIDATE | MapFlags::SYNC)
    }

    fn with_flags(file: impl AsFd, offset: u64, len: usize, is_writable: bool, flags: MapFlags) -> Result<Self> {
        bus_guard::prepare()?;
        let writing = if is_writable { ProtFlags::WRITE } else { ProtFlags::empty() };
        // SAFETY: a new mapping at a place of the kernel's choice changes no memory of the program.
        let base =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, ProtFlags::READ | writing, flags, file, offset) };
        let base = base.context("mmap", format_args!("({len} bytes at {offset})"))?;
        let base = NonNull::new(base.cast()).ok_or(Errno::NOMEM).context("mmap", "(address 0)")?;
        Ok(Self { base, len, is_writable, is_damaged: Cell::new(false) })
    }

    /// Bytes mapped.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if nothing is mapped; a mapping has at least a byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True after a copy failed: the mapping has pages that do not belong to the file, and must be made again.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.get()
    }

    /// Gives advice about the whole mapping.
    pub fn advise(&self, advice: MappingAdvice) -> Result<()> {
        let raw = match advice {
            MappingAdvice::Random => Advice::Random,
            MappingAdvice::Sequential => Advice::Sequential,
            MappingAdvice::HugePages => Advice::LinuxHugepage,
        };
        // SAFETY: the range is this mapping, and none of these kinds changes what is in it.
        unsafe { rustix::mm::madvise(self.base.as_ptr().cast(), self.len, raw) }
            .context("madvise", format_args!("{advice:?}"))
    }

    /// Copies from the mapping at `at`.
    ///
    /// # Errors
    /// `EINVAL` if it does not lie within, `EIO` if the file does not have these bytes (any more).
    #[inline]
    pub fn read(&self, at: usize, buffer: &mut [u8]) -> std::result::Result<(), Errno> {
        let from = self.place(at, buffer.len())?;
        let is_done = bus_guard::guarded(from as usize, buffer.len(), || {
            // SAFETY: `place` checked that so many bytes are mapped, readable, from there; the buffer is other memory,
            // because a mapping is only reached by copies. Others may change the file meanwhile; bytes have no wrong values.
            unsafe { std::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), buffer.len()) };
        });
        self.outcome(is_done)
    }

    /// Copies to the mapping at `at`.
    ///
    /// # Errors
    /// As [`FileMapping::read`], and `EBADF` if it is not writable.
    #[inline]
    pub fn write(&mut self, at: usize, data: &[u8]) -> std::result::Result<(), Errno> {
        if !self.is_writable {
            return Err(Errno::BADF);
        }
        let to = self.place(at, data.len())?;
        let is_done = bus_guard::guarded(to as usize, data.len(), || {
            // SAFETY: as in `read`, and writable, checked above.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
        });
        self.outcome(is_done)
    }

    /// Copies to the mapping at `at`, and sends the data on its way to persistent memory ([`WriteBack::drain`] waits for it).
    #[inline]
    pub fn write_through(
        &mut self,
        at: usize,
        data: &[u8],
        way: WriteBack,
        kind: CopyKind,
    ) -> std::result::Result<(), Errno> {
        if !self.is_writable {
            return Err(Errno::BADF);
        }
        let to = self.place(at, data.len())?;
        let is_done = bus_guard::guarded(to as usize, data.len(), || {
            // SAFETY: as in `write`.
            unsafe { way.copy(kind, data.as_ptr(), to, data.len()) };
        });
        self.outcome(is_done)
    }

    /// Writes changes in `len` bytes from `at` to the file and waits for that (`msync`).
    ///
    /// # Errors
    /// `EINVAL` if they are not within the mapping; otherwise the error of the kernel, such as `EIO`.
    pub fn sync(&self, at: usize, len: usize) -> std::result::Result<(), Errno> {
        let page_bytes = rustix::param::page_size();
        let first = at / page_bytes * page_bytes;
        let from = self.place(first, len.saturating_add(at - first))?;
        // SAFETY: `place` checked that the range is mapped; it starts at a page.
        unsafe { rustix::mm::msync(from.cast(), len + (at - first), MsyncFlags::SYNC) }
    }

    #[inline]
    fn place(&self, at: usize, len: usize) -> std::result::Result<*mut u8, Errno> {
        if at.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(Errno::INVAL);
        }
        // SAFETY: `at` is at most the length of the mapping.
        Ok(unsafe { self.base.as_ptr().add(at) })
    }

    #[inline]
    fn outcome(&self, is_done: bool) -> std::result::Result<(), Errno> {
        if is_done {
            return Ok(());
        }
        self.is_damaged.set(true);
        Err(Errno::IO)
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nothing points into it.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    fn file(dir: &TempDir, len: u64) -> File {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(false).open(dir.path().join("file")).unwrap();
        file.set_len(len).unwrap();
        file
    }

    #[test]
    fn copies_reach_the_file() {
        let dir = TempDir::new("mapping");
        let file = file(&dir, 65_536);
        let mut mapping = FileMapping::new(&file, 4096, 61_440, true).unwrap();
        mapping.advise(MappingAdvice::Random).unwrap();
        mapping.write(100, &[7; 5000]).unwrap();
        mapping.sync(100, 5000).unwrap();
        let mut bytes = [0; 5000];
        file.read_exact_at(&mut bytes, 4196).unwrap();
        assert_eq!(bytes, [7; 5000]);
        let mut copy = [0; 5001];
        mapping.read(99, &mut copy).unwrap();
        assert_eq!((copy[0], &copy[1..]), (0, &[7; 5000][..]));
        assert_eq!(mapping.read(61_440 - 10, &mut [0; 11]), Err(Errno::INVAL));
        assert_eq!(mapping.sync(0, 61_441), Err(Errno::INVAL));
        assert_eq!(FileMapping::new(&file, 0, 4096, false).unwrap().write(0, &[1]), Err(Errno::BADF));
        if let Some(way) = WriteBack::of_cpu() {
            let kind = CopyKind::NonTemporal;
            mapping.write_through(101, &[8; 4999], way, kind).unwrap();
            way.drain();
            file.read_exact_at(&mut bytes, 4196).unwrap();
            assert_eq!((bytes[0], &bytes[1..]), (7, &[8; 4999][..]));
            assert_eq!(mapping.write_through(61_440, &[1], way, kind), Err(Errno::INVAL));
            let mut reader = FileMapping::new(&file, 0, 4096, false).unwrap();
            assert_eq!(reader.write_through(0, &[1], way, kind), Err(Errno::BADF));
        }
        assert!(FileMapping::new(&file, 100, 4096, false).is_err());
    }

    #[test]
    fn a_truncated_file_is_an_error_and_not_the_end() {
        let dir = TempDir::new("mapping-truncated");
        let file = file(&dir, 65_536);
        let mut mapping = FileMapping::new(&file, 0, 65_536, true).unwrap();
        mapping.write(0, &vec![1; 65_536]).unwrap();
        file.set_len(4096).unwrap();
        let mut bytes = vec![9; 16_384];
        assert_eq!(mapping.read(0, &mut bytes), Err(Errno::IO));
        assert!(mapping.is_damaged());
        assert!(bytes[..4096].iter().all(|&byte| byte == 1) && bytes[4096..].iter().all(|&byte| byte == 0));
        let mut again = FileMapping::new(&file, 0, 65_536, true).unwrap();
        assert_eq!(again.write(8192, &[1; 10]), Err(Errno::IO));
        assert_eq!(again.read(0, &mut bytes[..4096]), Ok(()), "the error of one copy is not that of the next");
    }

    #[test]
    fn a_blocked_signal_is_let_through() {
        let dir = TempDir::new("mapping-blocked");
        let file = file(&dir, 0);
        let thread = std::thread::spawn(move || {
            crate::processes::signals::block_in_this_thread().unwrap();
            FileMapping::new(&file, 0, 4096, false).unwrap().read(0, &mut [0; 10])
        });
        assert_eq!(thread.join().unwrap(), Err(Errno::IO));
    }

    #[test]
    fn any_other_bus_error_still_kills() {
        use crate::processes::process::{ChildEnd, fork, kill, process_id, wait};
        use rustix::process::Signal;
        let end = wait(
            fork(|| {
                bus_guard::prepare().unwrap();
                let _ = kill(process_id(), Signal::BUS);
                // The first signal restores the earlier handler, the second one kills at the latest.
                let _ = kill(process_id(), Signal::BUS);
                0
            })
            .unwrap(),
        )
        .unwrap();
        assert_eq!(end, ChildEnd::Signaled(libc::SIGBUS), "{end:?}");
    }
}
