//! What all engines share that finish every I/O within `queue`.
//!
//! Such an engine is one way to read and one to write (a [`Transfer`]); buffers, and syncs and trims unless it has its own
//! way to do them, are done here.
//! Must not know: which system calls move the data. Start reading at [`Transfer`].

use crate::contract::{Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, Queued};
use crate::{control, descriptor};
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

/// A way to read and write at a place, waiting until it is done.
pub(crate) trait Transfer {
    /// Before the first I/O.
    fn start(&mut self, _setup: &EngineSetup) {}

    /// A file was opened: its position is 0.
    fn opened(&mut self, _file: &EngineFile<'_>) -> Result<(), EngineError> {
        Ok(())
    }

    /// A file will be closed.
    fn closed(&mut self, _file_index: u32) {}

    /// Does a sync or a trim.
    fn control(&mut self, unit: &IoUnit) -> IoResult {
        control::run(unit)
    }

    /// Reads into the buffer; the number of bytes, 0 at the end of the file.
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno>;

    /// Writes the buffer; the number of bytes.
    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno>;

    /// See [`Engine::hint`].
    fn hint(&self, _unit: &IoUnit, _errno: i32) -> Option<&'static str> {
        None
    }
}

/// An engine around a way to transfer.
pub(crate) struct Inline<T> {
    transfer: T,
    arena: Option<Rc<RefCell<Arena>>>,
}

impl<T: Transfer> Inline<T> {
    pub(crate) fn new(transfer: T) -> Self {
        Self { transfer, arena: None }
    }

    fn transfer(&mut self, unit: &IoUnit) -> Result<usize, Errno> {
        let fd = descriptor::of(unit)?;
        // EINVAL only for a loop that did not call `start`.
        let mut arena = self.arena.as_ref().ok_or(Errno::INVAL)?.borrow_mut();
        let buffer = arena.slice_mut(unit.buffer_offset, unit.length);
        match unit.direction {
            Direction::Read => self.transfer.read(fd, unit, buffer),
            _ => self.transfer.write(fd, unit, buffer),
        }
    }
}

impl<T: Transfer> Engine for Inline<T> {
    fn start(&mut self, setup: EngineSetup) -> Result<(), EngineError> {
        self.transfer.start(&setup);
        self.arena = Some(setup.arena);
        Ok(())
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.transfer.opened(file)
    }

    fn close_file(&mut self, file_index: u32) {
        self.transfer.closed(file_index);
    }

    #[inline]
    fn queue(&mut self, _unit_index: u32, unit: &IoUnit) -> Queued {
        let result: IoResult = if control::is_control(unit.direction) {
            self.transfer.control(unit)
        } else {
            control::result_of(self.transfer(unit))
        };
        Queued::Completed(result)
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.transfer.hint(unit, errno)
    }
}

#[cfg(test)]
mod tests;
