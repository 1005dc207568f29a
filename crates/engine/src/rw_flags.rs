//! The flags of `preadv2(2)` and `pwritev2(2)` that engines set per I/O, and what to say when the kernel refuses one.
//!
//! Facts: `preadv2(2)`, `linux/fs.h`. Must not know: which engine sets them. Start reading at [`RwFlags`].

use ferrio_units::Direction;

/// `RWF_HIPRI` (4.6): poll for the completion.
pub(crate) const HIPRI: u32 = 0x01;
/// `RWF_NOWAIT` (4.14): EAGAIN instead of waiting.
pub(crate) const NOWAIT: u32 = 0x08;
/// `RWF_ATOMIC` (6.11): all or nothing, writes only.
pub(crate) const ATOMIC: u32 = 0x40;
/// `RWF_DONTCACHE` (6.14): buffered, but dropped from the page cache afterwards.
pub(crate) const DONTCACHE: u32 = 0x80;

/// The flags of a job's reads and writes, decided once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RwFlags {
    read: u32,
    write: u32,
}

impl RwFlags {
    /// From the options `nowait` and `uncached` of the engine, and `atomic` of the job.
    pub(crate) fn new(nowait: bool, uncached: bool, atomic: bool) -> Self {
        let both = if nowait { NOWAIT } else { 0 } | if uncached { DONTCACHE } else { 0 };
        Self { read: both, write: both | if atomic { ATOMIC } else { 0 } }
    }

    /// The same with `atomic` of the job.
    pub(crate) fn with_atomic(self, atomic: bool) -> Self {
        Self { write: self.write | if atomic { ATOMIC } else { 0 }, ..self }
    }

    /// The flags of an I/O.
    #[inline]
    pub(crate) const fn of(self, direction: Direction) -> u32 {
        match direction {
            Direction::Read => self.read,
            Direction::Write => self.write,
            _ => 0,
        }
    }

    /// What may be behind an errno, given these flags.
    pub(crate) fn hint(self, errno: i32) -> Option<&'static str> {
        let any = self.read | self.write;
        match errno {
            libc::EAGAIN if any & NOWAIT != 0 => Some(
                "nowait=1 (RWF_NOWAIT): the I/O would have had to wait; allow it with ignore_error=EAGAIN, or drop nowait",
            ),
            libc::EOPNOTSUPP if any & DONTCACHE != 0 => Some(
                "uncached (RWF_DONTCACHE) needs Linux 6.14 and a file system that supports it (ext4, XFS, Btrfs); drop uncached or use direct=1",
            ),
            libc::EOPNOTSUPP if any & ATOMIC != 0 => Some(
                "atomic=1 (RWF_ATOMIC) needs Linux 6.11, direct=1, and a device and file system with atomic writes; see STATX_WRITE_ATOMIC",
            ),
            libc::EINVAL if any & ATOMIC != 0 => Some(
                "atomic=1 (RWF_ATOMIC): block size must be a power of two within the atomic write unit of the device, and offsets multiples of it",
            ),
            libc::EOPNOTSUPP if any & NOWAIT != 0 => Some(
                "nowait=1 (RWF_NOWAIT) is not supported by this file system or kernel for this kind of I/O; drop nowait",
            ),
            _ => None,
        }
    }
}
