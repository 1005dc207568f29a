//! `ioengine=psync` (fio's default): `pread(2)` and `pwrite(2)`.
//!
//! Must not know: positions, batches. Start reading at `Psync`.

use crate::contract::{IoUnit, Prepare};
use crate::files::inline::{Inline, Transfer};
use ferrio_sys::{Errno, file_io};
use std::os::fd::BorrowedFd;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Inline(Psync)));

/// Reads and writes at a place, without a position.
struct Psync;

impl Transfer for Psync {
    #[inline]
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        file_io::pread(fd, buffer, unit.offset_bytes)
    }

    #[inline]
    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        file_io::pwrite(fd, buffer, unit.offset_bytes)
    }
}
