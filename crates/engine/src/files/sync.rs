//! `ioengine=sync`: `read(2)` and `write(2)` at the position of the file; `lseek(2)` moves the position if it is not at
//! the unit.
//!
//! fio does the same (seen by strace): a sequential job makes bare writes, a random one pairs of lseek and write.
//! Must not know: batches. Start reading at `Seeking`.

use crate::contract::{EngineError, EngineFile, EngineSetup, IoUnit, Prepare};
use crate::files::inline::{Inline, Transfer};
use ferrio_sys::{Errno, file_io};
use std::os::fd::BorrowedFd;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Inline(Seeking::default())));

/// The position of each file; `None` after an error, when the position is unknown.
#[derive(Default)]
struct Seeking {
    positions: Vec<Option<u64>>,
}

impl Seeking {
    /// Moves the position to the unit, if it is elsewhere; until the transfer succeeds the position counts as unknown.
    fn seek(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit) -> Result<(), Errno> {
        let position = self.positions.get_mut(unit.file_index as usize).ok_or(Errno::INVAL)?;
        if position.take() != Some(unit.offset_bytes) {
            file_io::seek(fd, unit.offset_bytes)?;
        }
        Ok(())
    }

    fn moved(&mut self, unit: &IoUnit, n_bytes: usize) -> usize {
        self.positions[unit.file_index as usize] = unit.offset_bytes.checked_add(n_bytes as u64);
        n_bytes
    }
}

impl Transfer for Seeking {
    fn start(&mut self, setup: &EngineSetup) {
        self.positions = vec![None; setup.n_files as usize];
    }

    fn opened(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        if let Some(position) = self.positions.get_mut(file.index as usize) {
            *position = Some(0);
        }
        Ok(())
    }

    #[inline]
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.seek(fd, unit)?;
        file_io::read(fd, buffer).map(|n_bytes| self.moved(unit, n_bytes))
    }

    #[inline]
    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        self.seek(fd, unit)?;
        file_io::write(fd, buffer).map(|n_bytes| self.moved(unit, n_bytes))
    }
}
