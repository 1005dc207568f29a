//! `ioengine=psync` (fio's default): `pread(2)` and `pwrite(2)`.
//!
//! Must not know: positions, batches. Start reading at `Psync`.

use crate::contract::{EngineInfo, IoUnit};
use crate::inline::{Inline, Transfer};
use ferrio_sys::{Errno, file_io};
use std::os::fd::BorrowedFd;

/// The engine's row in the registry.
pub const INFO: EngineInfo = EngineInfo {
    name: "psync",
    help: "pread(2) and pwrite(2)",
    inline: true,
    synchronous: true,
    diskless: false,
    needs_full_layout: false,
    needs_aligned_buffers: false,
    supports_atomic: false,
    supports_syncfs: true,
    needs_shared_descriptors: false,
    completes_on_commit: false,
    uses_library_threads: false,
    stamps_calls: true,
    create: |_options| Ok(Box::new(Inline::new(Psync))),
};

/// Reads and writes at a place, without a position.
struct Psync;

impl Transfer for Psync {
    #[inline]
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        file_io::pread(fd, buffer, unit.offset)
    }

    #[inline]
    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        file_io::pwrite(fd, buffer, unit.offset)
    }
}
