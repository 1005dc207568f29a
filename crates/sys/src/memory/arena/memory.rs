//! The kinds of memory behind an arena: heap, System V shared memory, mappings.
//!
//! Must not know: slices and offsets. Everything it returns is zeroed, page aligned and readable and writable.
#![expect(unsafe_code, reason = "mmap, shmat and the raw allocator")]

use super::{ArenaKind, ArenaRequest};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::alloc::Layout;
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// Position of the binary logarithm of the huge page size in the flags of `mmap` and `shmget` (`MAP_HUGE_SHIFT`).
const HUGE_SHIFT: u32 = 26;

/// Memory and the way to give it back.
#[derive(Debug)]
pub(super) struct Memory {
    base: NonNull<u8>,
    release: Release,
}

// SAFETY: the memory belongs to this value alone; an address works the same in every thread.
unsafe impl Send for Memory {}
// SAFETY: through a shared reference only the address can be had.
unsafe impl Sync for Memory {}

#[derive(Debug)]
enum Release {
    Heap(Layout),
    Shm,
    /// A mapping of a whole file without a name.
    Nameless {
        len: usize,
        file: OwnedFd,
    },
    Map {
        len: usize,
        remove: Option<PathBuf>,
    },
    /// The memory has another owner.
    Nothing,
}

impl Memory {
    /// Gets `len` bytes, a multiple of the (huge) page size and not 0.
    pub(super) fn get(kind: &ArenaKind, len: usize, hugepage_bytes: usize) -> io::Result<Self> {
        let huge_bits = hugepage_bytes.max(1).ilog2() << HUGE_SHIFT;
        match kind {
            ArenaKind::Malloc => Self::heap(len),
            ArenaKind::Nameless => Self::nameless(len),
            ArenaKind::Shm => Self::shm(len, 0),
            ArenaKind::ShmHuge => Self::shm(len, libc::SHM_HUGETLB | huge_bits as i32),
            ArenaKind::Mmap(None) => Self::anonymous(len, MapFlags::PRIVATE),
            ArenaKind::MmapShared(None) => Self::anonymous(len, MapFlags::SHARED),
            ArenaKind::MmapHuge(None) => {
                Self::anonymous(len, MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::from_bits_retain(huge_bits))
            }
            ArenaKind::Mmap(Some(path)) => Self::file(len, MapFlags::PRIVATE, path, false),
            ArenaKind::MmapShared(Some(path)) => Self::file(len, MapFlags::SHARED, path, false),
            ArenaKind::MmapHuge(Some(path)) => Self::file(len, MapFlags::PRIVATE, path, true),
        }
    }

    /// Memory that another owner frees.
    pub(super) fn borrowed(base: NonNull<u8>) -> Self {
        Self { base, release: Release::Nothing }
    }

    /// Address of the first byte.
    pub(super) fn base(&self) -> NonNull<u8> {
        self.base
    }

    fn heap(len: usize) -> io::Result<Self> {
        let out_of_memory = || io::Error::from_raw_os_error(libc::ENOMEM);
        let layout = Layout::from_size_align(len, rustix::param::page_size()).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not 0.
        let base = unsafe { std::alloc::alloc_zeroed(layout) };
        Ok(Self { base: NonNull::new(base).ok_or_else(out_of_memory)?, release: Release::Heap(layout) })
    }

    fn shm(len: usize, flags: i32) -> io::Result<Self> {
        // SAFETY: makes a new segment; no memory of this process is involved.
        let id = unsafe { libc::shmget(libc::IPC_PRIVATE, len, libc::IPC_CREAT | flags | 0o600) };
        if id < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel picks a free address; nothing that exists is replaced.
        let base = unsafe { libc::shmat(id, std::ptr::null(), 0) };
        let attached = if base as isize == -1 { Err(io::Error::last_os_error()) } else { Ok(base) };
        // SAFETY: the id is ours, and IPC_RMID takes no buffer. The segment lives on until it is detached.
        unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
        let base = NonNull::new(attached?.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::EFAULT))?;
        Ok(Self { base, release: Release::Shm })
    }

    fn nameless(len: usize) -> io::Result<Self> {
        let file = rustix::fs::memfd_create(c"ferrio-buffers", MemfdFlags::CLOEXEC)?;
        let base = Self::map_file(&file, len, MapFlags::SHARED, false)?;
        let base = NonNull::new(base).ok_or_else(|| io::Error::from_raw_os_error(libc::EFAULT))?;
        Ok(Self { base, release: Release::Nameless { len, file } })
    }

    /// The file without a name behind it, and the length of both; `None`: the memory is of another kind.
    pub(super) fn nameless_file(&self) -> Option<(BorrowedFd<'_>, usize)> {
        match &self.release {
            Release::Nameless { len, file } => Some((file.as_fd(), *len)),
            _ => None,
        }
    }

    fn anonymous(len: usize, flags: MapFlags) -> io::Result<Self> {
        // SAFETY: the kernel picks a free address; nothing that exists is replaced.
        let base = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, read_write(), flags) }?;
        Self::mapped(base.cast(), len, None)
    }

    fn file(len: usize, flags: MapFlags, path: &Path, is_huge: bool) -> io::Result<Self> {
        let create = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o644);
        let (file, is_new) = match rustix::fs::open(path, create | OFlags::EXCL, mode) {
            Err(Errno::EXIST) => (rustix::fs::open(path, create, mode)?, false),
            result => (result?, true),
        };
        let base = Self::map_file(&file, len, flags, is_huge).inspect_err(|_| {
            if is_new {
                // The first error is reported; a file that cannot be removed either stays.
                let _ = std::fs::remove_file(path);
            }
        })?;
        let memory = Self::mapped(base, len, is_new.then(|| path.to_owned()))?;
        // SAFETY: the mapping is `len` bytes long, writable and not yet shared with anyone in this process. A file that
        // another process cuts short meanwhile raises SIGBUS, which is a defined end of the process.
        unsafe { memory.base.as_ptr().write_bytes(0, len) };
        Ok(memory)
    }

    fn map_file(file: &OwnedFd, len: usize, flags: MapFlags, is_huge: bool) -> io::Result<*mut u8> {
        if is_huge && rustix::fs::fstatfs(file)?.f_type != libc::HUGETLBFS_MAGIC {
            return Err(Errno::INVAL.into());
        }
        if rustix::fs::fstat(file)?.st_size < len as i64 {
            rustix::fs::ftruncate(file, len as u64)?;
        }
        // SAFETY: the kernel picks a free address; nothing that exists is replaced.
        let base = unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, read_write(), flags, file, 0) }?;
        Ok(base.cast())
    }

    fn mapped(base: *mut u8, len: usize, remove: Option<PathBuf>) -> io::Result<Self> {
        let base = NonNull::new(base).ok_or_else(|| io::Error::from_raw_os_error(libc::EFAULT))?;
        Ok(Self { base, release: Release::Map { len, remove } })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let base = self.base.as_ptr();
        match &self.release {
            // SAFETY: got from the same allocator with the same layout, and no reference outlives the owner.
            Release::Heap(layout) => unsafe { std::alloc::dealloc(base, *layout) },
            Release::Nothing => {}
            Release::Shm => {
                // SAFETY: the address that shmat gave, detached once; no reference outlives the owner.
                unsafe { libc::shmdt(base.cast()) };
            }
            Release::Nameless { len, .. } => {
                // SAFETY: exactly the mapping that was made; no reference outlives the owner.
                let _ = unsafe { rustix::mm::munmap(base.cast(), *len) };
            }
            Release::Map { len, remove } => {
                // SAFETY: exactly the mapping that was made; no reference outlives the owner. It can only fail if the
                // address were wrong, and then nothing is unmapped.
                let _ = unsafe { rustix::mm::munmap(base.cast(), *len) };
                if let Some(path) = remove {
                    // The file existed only for its memory; an error of its removal cannot be reported any more.
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }
}

fn read_write() -> ProtFlags {
    ProtFlags::READ | ProtFlags::WRITE
}

/// A remedy for the user, as ` (...)`; empty if none is known.
pub(super) fn hint(request: &ArenaRequest, errno: Option<i32>) -> String {
    let is_huge = request.kind.is_huge();
    match errno {
        Some(libc::ENOMEM) if is_huge => format!(
            " (not enough free huge pages of {} KiB: allocate some in /proc/sys/vm/nr_hugepages or \
             /sys/kernel/mm/hugepages)",
            request.hugepage_bytes / 1024
        ),
        Some(libc::EPERM) if is_huge => {
            " (needs CAP_IPC_LOCK, or the group in /proc/sys/vm/hugetlb_shm_group)".to_owned()
        }
        Some(libc::EINVAL) if is_huge => {
            format!(
                " (is {} bytes a huge page size of this kernel, and a mapped file on a hugetlbfs?)",
                request.hugepage_bytes
            )
        }
        Some(libc::EINVAL) if request.kind == ArenaKind::Shm => " (limit: /proc/sys/kernel/shmmax)".to_owned(),
        Some(libc::ENOSPC) if request.kind == ArenaKind::Shm => {
            " (limits: /proc/sys/kernel/shmall and shmmni)".to_owned()
        }
        _ => String::new(),
    }
}
