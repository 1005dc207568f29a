//! `ioengine=pvsync`: `preadv(2)` and `pwritev(2)`, one buffer a call.
//!
//! Must not know: positions, batches. Start reading at `Pvsync`.

use crate::contract::{EngineInfo, IoUnit};
use crate::inline::{Inline, Transfer};
use ferrio_sys::{Errno, file_io};
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::BorrowedFd;

/// The engine's row in the registry.
pub const INFO: EngineInfo = EngineInfo {
    name: "pvsync",
    help: "preadv(2) and pwritev(2)",
    create: |_options| Ok(Box::new(Inline::new(Pvsync))),
    ..crate::psync::INFO
};

/// Reads and writes at a place through a vector of one buffer.
struct Pvsync;

impl Transfer for Pvsync {
    #[inline]
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        file_io::preadv(fd, &mut [IoSliceMut::new(buffer)], unit.offset)
    }

    #[inline]
    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        file_io::pwritev(fd, &[IoSlice::new(buffer)], unit.offset)
    }
}
