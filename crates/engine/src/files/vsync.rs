//! `ioengine=vsync`: `readv(2)` and `writev(2)` after `lseek(2)`; queued units that follow each other in the file share
//! one call.
//!
//! fio does the same (seen by strace, `iodepth=8 iodepth_batch=8`): a unit joins the pending ones if it has the same
//! file and direction and starts at their end; if not, they are written first. An lseek precedes every call, even if
//! the position is right already. Deviation: trims work (fio 3.41 fails with EFAULT).
//! Must not know: how many units the loop wants in a batch. Start reading at `Vsync`.
#![expect(unsafe_code, reason = "a vector of buffers that are disjoint parts of one area")]

use crate::contract::{
    Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, Prepare, Prepared, Queued,
};
use crate::files::control;
use crate::files::fd_table::FdTable;
use ferrio_sys::arena::Arena;
use ferrio_sys::{Errno, file_io};
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::rc::Rc;

/// Most buffers of one call (`UIO_MAXIOV`).
const MAX_VECTORS: usize = 1024;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Idle));

/// The engine before it is started.
struct Idle;

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let depth = setup.iodepth as usize;
        let n_max = depth.min(MAX_VECTORS);
        Ok(Box::new(Vsync {
            n_max,
            pending: Vec::with_capacity(n_max),
            vectors: Vec::with_capacity(n_max),
            done: Vec::with_capacity(depth),
            fds: FdTable::of(&setup),
            arena: setup.arena,
        }))
    }
}

/// Pending units follow each other in one file; all lists have room for `iodepth`.
struct Vsync {
    arena: Rc<RefCell<Arena>>,
    fds: FdTable,
    n_max: usize,
    pending: Vec<(u32, IoUnit)>,
    vectors: Vec<libc::iovec>,
    done: Vec<Completion>,
}

impl Vsync {
    /// True if the unit can join the pending ones.
    fn follows(&self, unit: &IoUnit) -> bool {
        let Some((_, last)) = self.pending.last() else { return true };
        last.file_index == unit.file_index
            && last.direction == unit.direction
            && last.offset_bytes.checked_add(last.length_bytes as u64) == Some(unit.offset_bytes)
            && self.pending.len() < self.n_max
    }

    /// Moves the data of all pending units from `first` on, in one call.
    fn transfer(&mut self, first: usize) -> Result<usize, Errno> {
        let arena = self.arena.borrow_mut();
        self.vectors.clear();
        self.vectors.extend(self.pending[first..].iter().map(|(_, unit)| {
            let region = arena.region(unit.buffer_offset, unit.length_bytes);
            libc::iovec { iov_base: region.as_ptr().cast(), iov_len: region.len() }
        }));
        let (_, unit) = &self.pending[first];
        let fd = self.fds.get(unit.file_index)?;
        file_io::seek(fd, unit.offset_bytes)?;
        // SAFETY: each vector lies within the arena (`region` checks it), which is borrowed mutably until the call is
        // over, so that no slice of it exists.
        unsafe { call(unit.direction, fd, &self.vectors) }
    }

    /// Distributes `n_bytes` moved bytes over the pending units from `first` on; returns the index of the first unit
    /// that got none. The unit at which the bytes ran out gets a short count, which the loop continues.
    fn credit(&mut self, first: usize, n_bytes: usize) -> usize {
        let mut rest = n_bytes;
        let mut next = first;
        while next < self.pending.len() && rest > 0 {
            let (unit_index, unit) = &self.pending[next];
            let moved = rest.min(unit.length_bytes);
            self.done.push(Completion { unit_index: *unit_index, result: IoResult::done(moved) });
            rest -= moved;
            next += 1;
        }
        next
    }

    /// Gives the same result to all pending units from `first` on.
    fn finish_all(&mut self, first: usize, result: IoResult) {
        let rest = self.pending[first..].iter();
        self.done.extend(rest.map(|(unit_index, _)| Completion { unit_index: *unit_index, result }));
    }
}

/// One `readv` or `writev`.
///
/// # Safety
/// The vectors point to memory that lives and is not otherwise used during the call.
unsafe fn call(direction: Direction, fd: BorrowedFd<'_>, vectors: &[libc::iovec]) -> Result<usize, Errno> {
    let count = vectors.len() as libc::c_int;
    let moved = if direction == Direction::Read {
        // SAFETY: `vectors` has `count` entries; the rest is the caller's promise.
        unsafe { libc::readv(fd.as_raw_fd(), vectors.as_ptr(), count) }
    } else {
        // SAFETY: as above.
        unsafe { libc::writev(fd.as_raw_fd(), vectors.as_ptr(), count) }
    };
    usize::try_from(moved).map_err(|_| Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
}

impl Engine for Vsync {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.fds.open(file);
        Ok(())
    }

    fn close_file(&mut self, file_index: u32) {
        self.fds.close(file_index);
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        if control::is_control(unit.direction) {
            // Units queued before a sync have to be written before it.
            return if self.pending.is_empty() {
                Queued::Completed(control::run(&self.fds, unit))
            } else {
                Queued::Busy
            };
        }
        if !self.follows(unit) {
            return Queued::Busy;
        }
        self.pending.push((unit_index, *unit));
        Queued::Queued
    }

    fn commit(&mut self) -> io::Result<u32> {
        let mut first = 0;
        // A short transfer is tried again from the first unit that got nothing.
        while first < self.pending.len() {
            match self.transfer(first) {
                Ok(n_bytes) if n_bytes > 0 => first = self.credit(first, n_bytes),
                outcome => {
                    self.finish_all(first, control::result_of(outcome));
                    break;
                }
            }
        }
        let n_taken = self.pending.len() as u32;
        self.pending.clear();
        Ok(n_taken)
    }

    /// Returns all completions, whatever `max` says: the next batch can only begin when all slots are free, as in fio.
    fn reap(&mut self, _min: u32, _max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        completions.append(&mut self.done);
        Ok(())
    }
}
