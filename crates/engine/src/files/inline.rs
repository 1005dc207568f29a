//! The common part of all engines that finish every I/O within `queue`.
//!
//! Such an engine provides one way to read and one to write (a [`Transfer`]). This file does the rest: buffers, and
//! also syncs and trims unless the engine does these in its own way.
//! Must not know: which system calls move the data. Start reading at [`Transfer`].

use crate::contract::{CallStamps, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, Prepared, Queued};
use crate::files::control;
use crate::files::fd_table::FdTable;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

/// Reads and writes at an offset, and returns when the transfer is done.
pub(crate) trait Transfer {
    /// Called before the first I/O.
    fn start(&mut self, _setup: &EngineSetup) {}

    /// A file was opened, with its position at 0.
    fn opened(&mut self, _file: &EngineFile<'_>) -> Result<(), EngineError> {
        Ok(())
    }

    fn closed(&mut self, _file_index: u32) {}

    /// Does a sync or a trim.
    fn control(&mut self, fds: &FdTable, unit: &IoUnit) -> IoResult {
        control::run(fds, unit)
    }

    /// Reads into the buffer; the number of bytes, 0 at the end of the file.
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno>;

    /// Writes the buffer; the number of bytes.
    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno>;

    /// See [`Engine::sync_apart`].
    fn sync_apart(&mut self) -> Option<i32> {
        None
    }

    /// See [`Engine::hint`].
    fn hint(&self, _unit: &IoUnit, _errno: i32) -> Option<&'static str> {
        None
    }
}

/// An engine around a [`Transfer`], in its first state.
pub(crate) struct Inline<T>(pub(crate) T);

impl<T: Transfer + 'static> Prepared for Inline<T> {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(Running::new(self.0, setup)))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.0.hint(unit, errno)
    }
}

/// The same engine in its second state.
struct Running<T> {
    transfer: T,
    arena: Rc<RefCell<Arena>>,
    fds: FdTable,
}

impl<T: Transfer> Running<T> {
    fn new(mut transfer: T, setup: EngineSetup) -> Self {
        transfer.start(&setup);
        Self { transfer, fds: FdTable::of(&setup), arena: setup.arena }
    }

    /// Moves the data. The array holds what `stamp` returned before and after that.
    #[inline]
    fn transfer<S>(&mut self, unit: &IoUnit, stamp: impl Fn() -> S) -> Result<(IoResult, [S; 2]), Errno> {
        let fd = self.fds.get(unit.file_index)?;
        let mut arena = self.arena.borrow_mut();
        let buffer = arena.slice_mut(unit.buffer_offset, unit.length_bytes);
        let (outcome, stamps) = match unit.direction {
            Direction::Read => around(stamp, || self.transfer.read(fd, unit, buffer)),
            _ => around(stamp, || self.transfer.write(fd, unit, buffer)),
        };
        Ok((control::result_of(outcome), stamps))
    }
}

/// The result of `call`, and what `stamp` returned before and after it.
#[inline]
fn around<S, T>(stamp: impl Fn() -> S, call: impl FnOnce() -> T) -> (T, [S; 2]) {
    let before = stamp();
    let outcome = call();
    let after = stamp();
    (outcome, [before, after])
}

impl<T: Transfer> Engine for Running<T> {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.fds.open(file);
        self.transfer.opened(file)
    }

    fn close_file(&mut self, file_index: u32) {
        self.fds.close(file_index);
        self.transfer.closed(file_index);
    }

    #[inline]
    fn queue(&mut self, _unit_index: u32, unit: &IoUnit) -> Queued {
        Queued::Completed(if control::is_control(unit.direction) {
            self.transfer.control(&self.fds, unit)
        } else {
            self.transfer(unit, || ()).map_or_else(control::error_result, |(result, _)| result)
        })
    }

    fn queue_timed(&mut self, _unit_index: u32, unit: &IoUnit, clock: &Clock) -> (Queued, CallStamps) {
        let stamp = || clock.stamp();
        let outcome = if control::is_control(unit.direction) {
            Ok(around(stamp, || self.transfer.control(&self.fds, unit)))
        } else {
            self.transfer(unit, stamp)
        };
        let (result, [before, after]) = outcome.unwrap_or_else(|errno| around(stamp, || control::error_result(errno)));
        (Queued::Completed(result), CallStamps { before, after })
    }

    fn sync_apart(&mut self, _file_index: u32) -> Option<i32> {
        self.transfer.sync_apart()
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.transfer.hint(unit, errno)
    }
}

#[cfg(test)]
mod tests;
