//! `ioengine=posixaio`: `aio_read(3)` and its family, done by helper threads of the C library.
//!
//! A request starts when it is queued, as with fio; `fsync` and `fdatasync` are `aio_fsync(3)`, other syncs and trims are
//! done in the thread of the job. Must not know: batches, depths. Start reading at `Running`.
#![expect(unsafe_code, reason = "requests point into the buffer area")]

use crate::contract::{
    Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, Prepare, Prepared, Queued,
};
use crate::files::control;
use crate::files::fd_table::FdTable;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::posix_aio::PosixAio;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io;
use std::os::fd::AsRawFd;
use std::rc::Rc;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Idle));

/// The engine before it is started.
struct Idle;

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(Running {
            aio: PosixAio::new(setup.iodepth),
            fds: FdTable::of(&setup),
            arena: setup.arena,
            sync_lengths: vec![0; setup.iodepth as usize],
            n_started: 0,
        }))
    }
}

/// The requests are the first field: dropping them waits for all I/Os in flight, after which the buffers may be
/// dropped.
struct Running {
    aio: PosixAio,
    arena: Rc<RefCell<Arena>>,
    fds: FdTable,
    /// By slot: the length that a sync reports; 0 for reads and writes.
    sync_lengths: Vec<i64>,
    /// Requests started since the last commit.
    n_started: u32,
}

impl Engine for Running {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.fds.open(file);
        Ok(())
    }

    fn close_file(&mut self, file_index: u32) {
        self.fds.close(file_index);
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        if matches!(unit.direction, Direction::Trim | Direction::SyncFileRange | Direction::Syncfs) {
            return Queued::Completed(control::run(&self.fds, unit));
        }
        let fd = match self.fds.get(unit.file_index) {
            Ok(fd) => fd.as_raw_fd(),
            Err(errno) => return Queued::Completed(control::error_result(errno)),
        };
        let is_sync = unit.direction.is_sync();
        let length = if is_sync { 0 } else { unit.length_bytes };
        let region = self.arena.borrow().region(unit.buffer_offset, length);
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot, and does not
        // close the file, until the unit is reaped; the area lives as long as `self`, whose requests are waited for.
        match unsafe { self.aio.start(unit_index, unit.direction, fd, region, unit.offset_bytes) } {
            Ok(()) => {
                self.sync_lengths[unit_index as usize] = if is_sync { unit.length_bytes as i64 } else { 0 };
                self.n_started += 1;
                Queued::Queued
            }
            // The C library has no room: the loop has to reap first.
            Err(Errno::AGAIN) if self.aio.n_in_flight() > 0 => Queued::Busy,
            Err(errno) => Queued::Completed(control::error_result(errno)),
        }
    }

    fn commit(&mut self) -> io::Result<u32> {
        Ok(std::mem::take(&mut self.n_started))
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let Self { aio, sync_lengths, .. } = self;
        aio.reap(min.min(max), max, |unit_index, result| {
            let length = if result == 0 { sync_lengths[unit_index as usize] } else { 0 };
            completions.push(Completion { unit_index, result: IoResult::of_call(result + length) });
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rig, RigOptions, TestFile, check_end_of_file, check_file_engine};

    fn options(iodepth: u32, direct: bool) -> RigOptions {
        RigOptions { iodepth, direct, ..RigOptions::default() }
    }

    #[test]
    fn files_are_read_written_and_synced() {
        for (depth, direct) in [(1, false), (8, false), (1, true), (8, true)] {
            check_file_engine("posixaio", || options(depth, direct));
        }
        check_end_of_file("posixaio", options(4, false));
    }

    #[test]
    fn a_bad_descriptor_is_a_result() {
        let file = TestFile::new("posixaio");
        let mut rig = Rig::new("posixaio", Some(&file), options(4, false)).unwrap();
        let good = rig.unit(Direction::Read, 1);
        let bad = IoUnit { file_index: 1, ..good };
        let results = rig.run(&[good, bad, good], |_, _| (), |_, _, _| ());
        assert_eq!(results, [4096, -i64::from(libc::EBADF), 4096]);
    }
}
