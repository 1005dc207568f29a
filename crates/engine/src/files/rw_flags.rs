//! The flags of `preadv2(2)` and `pwritev2(2)` that engines set per I/O, and the hint for the user when the kernel
//! refuses one.
//!
//! Must not know: which engine sets them. Start reading at [`JobRwFlags`].

use ferrio_sys::file_io::RwFlags;
use ferrio_units::Direction;

/// The flags of a job's reads and writes, decided once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct JobRwFlags {
    is_nowait: bool,
    is_uncached: bool,
    is_atomic: bool,
}

impl JobRwFlags {
    /// From the options `nowait` and `uncached` of the engine.
    pub(crate) fn new(is_nowait: bool, is_uncached: bool) -> Self {
        Self { is_nowait, is_uncached, is_atomic: false }
    }

    /// The same flags together with `atomic` of the job.
    pub(crate) fn with_atomic(self, is_atomic: bool) -> Self {
        Self { is_atomic, ..self }
    }

    #[inline]
    pub(crate) fn of(self, direction: Direction) -> RwFlags {
        let when = |is_set, flag| if is_set { flag } else { RwFlags::NONE };
        let both = when(self.is_nowait, RwFlags::NOWAIT) | when(self.is_uncached, RwFlags::DONTCACHE);
        match direction {
            Direction::Read => both,
            Direction::Write => both | when(self.is_atomic, RwFlags::ATOMIC),
            _ => RwFlags::NONE,
        }
    }

    /// A possible reason for the errno of an I/O with these flags.
    pub(crate) fn hint(self, direction: Direction, errno: i32) -> Option<&'static str> {
        let is_atomic = self.is_atomic && direction == Direction::Write;
        match errno {
            libc::EAGAIN if self.is_nowait => Some(
                "nowait (RWF_NOWAIT): the I/O would have had to wait; drop nowait, or let such errors pass with \
                 ignore_error=EAGAIN",
            ),
            libc::EOPNOTSUPP if self.is_uncached => Some(
                "uncached (RWF_DONTCACHE) needs Linux 6.14 and a file system with support for it; drop uncached, or use \
                 direct=1",
            ),
            libc::EOPNOTSUPP if is_atomic => {
                Some("atomic (RWF_ATOMIC) needs Linux 6.11, direct=1, and a file system and device with atomic writes")
            }
            libc::EINVAL if is_atomic => Some(
                "atomic (RWF_ATOMIC): the block size must be a power of two within the atomic write unit of the device, \
                 and offsets multiples of it",
            ),
            libc::EOPNOTSUPP if self.is_nowait => Some(
                "nowait (RWF_NOWAIT) is not supported for this kind of I/O by this file system or kernel; drop nowait",
            ),
            _ => None,
        }
    }
}
