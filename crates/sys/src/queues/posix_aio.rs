//! POSIX AIO: the C library's `aio_read`, `aio_write`, `aio_fsync`, done by its helper threads.
//!
//! Every request belongs to a slot, a number below the depth; its completion names the slot. Nothing is allocated by this
//! module after [`PosixAio::new`]; the C library makes threads of its own.
//!
//! The helper threads belong to the process and share the descriptor table of whichever thread made them come to life: do
//! not use this in threads with tables of their own ([`crate::processes::process::spawn_with_own_files`]).
//!
//! Must not know: engines. Start reading at [`PosixAio`].
#![expect(unsafe_code, reason = "the aio_* functions of the C library")]

use crate::memory::arena::Region;
use ferrio_units::Direction;
use rustix::io::Errno;
use std::cell::UnsafeCell;
use std::os::fd::RawFd;

/// Requests of the C library's AIO.
pub struct PosixAio {
    /// One for each slot. The C library keeps their addresses while they are in flight; the vector never grows.
    blocks: Vec<UnsafeCell<libc::aiocb>>,
    /// Slots in flight, oldest first.
    in_flight: Vec<u32>,
    /// Scratch for `aio_suspend`.
    waiting: Vec<*const libc::aiocb>,
}

impl std::fmt::Debug for PosixAio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PosixAio")
            .field("depth", &self.blocks.len())
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

impl PosixAio {
    /// Room for `depth` requests in flight.
    pub fn new(depth: u32) -> Self {
        let depth = depth as usize;
        Self {
            blocks: (0..depth).map(|_| UnsafeCell::new(empty_block())).collect(),
            in_flight: Vec::with_capacity(depth),
            waiting: Vec::with_capacity(depth),
        }
    }

    /// Requests that were started and not reaped.
    pub fn n_in_flight(&self) -> u32 {
        self.in_flight.len() as u32
    }

    /// Starts a request. Syncs do not use region and offset.
    ///
    /// # Errors
    /// The error of the C library, such as `EAGAIN` if it has no room.
    ///
    /// # Safety
    /// Until the completion of the slot was reaped or this value is dropped: the memory of the region must live and
    /// must not be used otherwise (a write's may be read), the descriptor must stay open, and the slot must not be used
    /// again.
    ///
    /// # Panics
    /// If the slot is not below the depth.
    pub unsafe fn start(
        &mut self,
        slot: u32,
        direction: Direction,
        fd: RawFd,
        region: Region,
        offset: u64,
    ) -> Result<(), Errno> {
        let mut block = empty_block();
        block.aio_fildes = fd;
        block.aio_buf = region.as_ptr().cast();
        block.aio_nbytes = region.len();
        block.aio_offset = libc::off_t::try_from(offset).map_err(|_| Errno::INVAL)?;
        let address = self.blocks[slot as usize].get();
        // SAFETY: the slot is in no request (the caller's promise), so nobody else uses its block. It stays where it is,
        // and what it points at stays valid, until the request is done.
        let result = unsafe {
            *address = block;
            match direction {
                Direction::Read => libc::aio_read(address),
                Direction::Write => libc::aio_write(address),
                Direction::Sync => libc::aio_fsync(libc::O_SYNC, address),
                Direction::Datasync => libc::aio_fsync(libc::O_DSYNC, address),
                Direction::Trim | Direction::SyncFileRange | Direction::Syncfs => return Err(Errno::INVAL),
            }
        };
        if result != 0 {
            return Err(last_errno());
        }
        debug_assert!(!self.in_flight.contains(&slot), "each slot has one request at most");
        self.in_flight.push(slot);
        Ok(())
    }

    /// Waits until at least `min` requests are done (never for more than are in flight), hands slot and result (bytes
    /// moved or a negative errno) of up to `max` of them to `each`, oldest first, and returns how many. With `min` 0 it
    /// only looks. `max` is at least `min`.
    ///
    /// # Errors
    /// The error of `aio_suspend`; after an interruption by a signal the wait continues.
    pub fn reap(&mut self, min: u32, max: u32, mut each: impl FnMut(u32, i64)) -> Result<u32, Errno> {
        let min = min.min(self.n_in_flight());
        let max = max.max(min);
        let mut n_reaped = 0;
        loop {
            n_reaped += self.take_done(max - n_reaped, &mut each);
            if n_reaped >= min {
                return Ok(n_reaped);
            }
            self.suspend()?;
        }
    }

    fn take_done(&mut self, max: u32, each: &mut impl FnMut(u32, i64)) -> u32 {
        let mut n_taken = 0;
        let blocks = &self.blocks;
        self.in_flight.retain(|&slot| {
            if n_taken == max {
                return true;
            }
            let block = blocks[slot as usize].get();
            // SAFETY: a block whose request was started and whose result was not yet taken.
            let error = unsafe { libc::aio_error(block) };
            if error == libc::EINPROGRESS {
                return true;
            }
            // SAFETY: the same block; it is done, and its result is taken once.
            let result = unsafe { libc::aio_return(block) };
            each(slot, if error == 0 { result as i64 } else { -i64::from(error) });
            n_taken += 1;
            false
        });
        n_taken
    }

    /// Waits until one of those in flight is done.
    fn suspend(&mut self) -> Result<(), Errno> {
        debug_assert!(!self.in_flight.is_empty(), "a wait for nothing would never end");
        self.waiting.clear();
        self.waiting.extend(self.in_flight.iter().map(|&slot| self.blocks[slot as usize].get().cast_const()));
        // More than an int holds cannot be: a slot is 168 bytes.
        let n_waiting = self.waiting.len() as libc::c_int;
        // SAFETY: that many addresses of blocks whose requests were started; no timeout.
        let result = unsafe { libc::aio_suspend(self.waiting.as_ptr(), n_waiting, std::ptr::null()) };
        match if result == 0 { Ok(()) } else { Err(last_errno()) } {
            Err(Errno::INTR) => Ok(()),
            result => result,
        }
    }
}

impl Drop for PosixAio {
    fn drop(&mut self) {
        // The helper threads write to the blocks and buffers until all is done. Waiting cannot fail but for signals.
        let n_in_flight = self.n_in_flight();
        while self.n_in_flight() > 0 && self.reap(n_in_flight, n_in_flight, |_, _| ()).is_err() {}
    }
}

fn empty_block() -> libc::aiocb {
    // SAFETY: all zero is a valid aiocb: numbers and null pointers.
    let mut block: libc::aiocb = unsafe { std::mem::zeroed() };
    block.aio_sigevent.sigev_notify = libc::SIGEV_NONE;
    block
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::arena::{Arena, ArenaKind, ArenaRequest};
    use crate::test_support::TempDir;
    use std::os::fd::AsRawFd;

    const BLOCK: usize = 4096;

    fn arena() -> Arena {
        Arena::new(&ArenaRequest { kind: ArenaKind::Malloc, size_bytes: 4 * BLOCK, offset_bytes: 0, hugepage_bytes: 0 })
            .unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let dir = TempDir::new("posix-aio");
        let mut options = std::fs::File::options();
        let file = options.read(true).write(true).create(true).truncate(false).open(dir.path().join("file")).unwrap();
        let mut arena = arena();
        let mut aio = PosixAio::new(4);
        for direction in [Direction::Write, Direction::Read, Direction::Sync] {
            let content = |slot: usize| if direction == Direction::Write { slot as u8 + 1 } else { 0 };
            if direction != Direction::Sync {
                (0..4).for_each(|slot| arena.slice_mut(slot * BLOCK, BLOCK).fill(content(slot)));
            }
            for slot in 0..4 {
                let region = arena.region(slot * BLOCK, BLOCK);
                // SAFETY: arena and file outlive the requests, which are all reaped below; each slot is used once.
                unsafe { aio.start(slot as u32, direction, file.as_raw_fd(), region, (slot * BLOCK) as u64) }.unwrap();
            }
            let mut seen = vec![0; 4];
            let expected = if direction == Direction::Sync { 0 } else { BLOCK as i64 };
            while aio.n_in_flight() > 0 {
                let each = |slot: u32, result| {
                    assert_eq!(result, expected);
                    seen[slot as usize] += 1;
                };
                assert!(aio.reap(1, 2, each).unwrap() <= 2);
            }
            assert_eq!(seen, [1; 4]);
        }
        assert!((0..4).all(|slot| arena.slice(slot * BLOCK, BLOCK).iter().all(|&byte| byte == slot as u8 + 1)));
        assert_eq!(aio.reap(1, 1, |_, _| ()), Ok(0), "nothing in flight: no wait");
    }

    #[test]
    fn errors_come_back_as_negative_numbers() {
        let arena = arena();
        let mut aio = PosixAio::new(1);
        let file = std::fs::File::open("/dev/null").unwrap();
        // SAFETY: the arena outlives the request; the write is refused because the file is open for reading.
        unsafe { aio.start(0, Direction::Write, file.as_raw_fd(), arena.whole(), 0) }.unwrap();
        let mut results = Vec::new();
        assert_eq!(aio.reap(1, 1, |slot, result| results.push((slot, result))), Ok(1));
        assert_eq!(results, [(0, -i64::from(libc::EBADF))]);
        // SAFETY: refused before it is started.
        let refused = unsafe { aio.start(0, Direction::Read, file.as_raw_fd(), arena.whole(), u64::MAX) };
        assert_eq!((refused, aio.n_in_flight()), (Err(Errno::INVAL), 0));
    }

    #[test]
    fn dropping_waits_for_what_is_in_flight() {
        let dir = TempDir::new("posix-aio-drop");
        let file = std::fs::File::create(dir.path().join("file")).unwrap();
        let arena = arena();
        let mut aio = PosixAio::new(1);
        // SAFETY: arena and file outlive the request, for which the drop waits.
        unsafe { aio.start(0, Direction::Write, file.as_raw_fd(), arena.whole(), 0) }.unwrap();
        drop(aio);
        assert_eq!(file.metadata().unwrap().len(), arena.len() as u64);
    }
}
