//! `ioengine=pvsync`: `preadv(2)` and `pwritev(2)`, one buffer a call.
//!
//! Must not know: positions, batches. Start reading at `Pvsync`.

use crate::contract::{IoUnit, Prepare};
use crate::files::inline::{Inline, Transfer};
use ferrio_sys::{Errno, file_io};
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::BorrowedFd;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Inline(Pvsync)));

/// Reads and writes at a place through a vector of one buffer.
struct Pvsync;

impl Transfer for Pvsync {
    #[inline]
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        file_io::preadv(fd, &mut [IoSliceMut::new(buffer)], unit.offset_bytes)
    }

    #[inline]
    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        file_io::pwritev(fd, &[IoSlice::new(buffer)], unit.offset_bytes)
    }
}
