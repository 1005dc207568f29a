//! `ioengine=libaio`: Linux native AIO (`io_submit(2)`, `io_getevents(2)`).
//!
//! Options: `userspace_reap` takes completions from the mapped ring, without a system call; `nowait` sets `RWF_NOWAIT`;
//! `libaio_vectored` uses the operations with vectors. As seen on fio 3.41 (by strace), fsync and fdatasync are queued
//! like reads and writes; other syncs, and trims, are done in the thread of the job, after everything queued before
//! them was submitted; `io_getevents` gets the loop's min and max.
//! Must not know: batches, depths. Start reading at `Libaio`, then `Running`.
#![expect(unsafe_code, reason = "requests point into the buffer area")]

use crate::contract::options::EngineOptions;
use crate::contract::parts::FailureDetails;
use crate::contract::{
    Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, Outcome, Prepare, Prepared, Queued,
    push_in_room, time_left,
};
use crate::files::control;
use crate::files::fd_table::FdTable;
use crate::files::rw_flags::JobRwFlags;
use ferrio_spec::engines::EngineDef;
use ferrio_spec::engines::options::libaio::{LIBAIO_VECTORED, NOWAIT, USERSPACE_REAP};
use ferrio_sys::Clock;
use ferrio_sys::Errno;
use ferrio_sys::aio::{AioCompletion, AioContext, AioOperation, AioRequest};
use ferrio_sys::arena::Arena;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;
use std::time::Duration;

const NAME: &str = "libaio";

/// Number of tries to submit when the kernel has no room (EAGAIN) although none of our requests is in flight, so that
/// no completion could make room.
const MAX_SUBMIT_TRIES: u32 = 1000;

/// Pause between these tries.
const SUBMIT_PAUSE: Duration = Duration::from_millis(1);

pub(crate) const PREPARE: Prepare = |options| Ok(Box::new(Libaio::new(options)));

/// The engine before it is started.
struct Libaio {
    reaps_in_user_space: bool,
    flags: JobRwFlags,
    /// For reads and for writes.
    operations: [AioOperation; 2],
}

impl Libaio {
    fn new(options: &EngineOptions) -> Self {
        let is_vectored = options.get(&LIBAIO_VECTORED);
        Self {
            reaps_in_user_space: options.get(&USERSPACE_REAP),
            flags: JobRwFlags::new(options.get(&NOWAIT), false),
            operations: if is_vectored {
                [AioOperation::ReadVector, AioOperation::WriteVector]
            } else {
                [AioOperation::Read, AioOperation::Write]
            },
        }
    }
}

impl Prepared for Libaio {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let context = AioContext::new(setup.iodepth, self.reaps_in_user_space)
            .map_err(|error| explain_setup(setup.iodepth, error.errno()))?;
        let depth = setup.iodepth as usize;
        Ok(Box::new(Running {
            context,
            fds: FdTable::of(&setup),
            arena: setup.arena,
            flags: self.flags.with_atomic(setup.atomic),
            operations: self.operations,
            refused: Vec::with_capacity(depth),
            refusals: Vec::with_capacity(depth),
            syncs: SyncQueue { by_slot: vec![None; depth], n: 0 },
        }))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.flags.hint(unit.direction, errno)
    }
}

/// The context is the first field: dropping it waits for all I/Os in flight, after which the buffers may be dropped.
struct Running {
    context: AioContext,
    arena: Rc<RefCell<Arena>>,
    fds: FdTable,
    flags: JobRwFlags,
    /// For reads and for writes.
    operations: [AioOperation; 2],
    /// Units that the kernel refused.
    refused: Vec<Completion>,
    /// The refused units that `take_refusal` has not reported yet, each once.
    refusals: Vec<u32>,
    syncs: SyncQueue,
}

/// Syncs that are queued or in flight.
struct SyncQueue {
    by_slot: Vec<Option<IoUnit>>,
    n: u32,
}

impl SyncQueue {
    fn take(&mut self, slot: u32) -> Option<IoUnit> {
        let unit = self.by_slot[slot as usize].take()?;
        self.n -= 1;
        Some(unit)
    }

    /// A completion in the form of the contract: a successful sync counts as having moved its whole length.
    #[inline]
    fn completion(&mut self, done: AioCompletion) -> Completion {
        let unit = if self.n == 0 { None } else { self.take(done.slot) };
        let n_bytes = unit.filter(|_| done.result == 0).map(|unit| IoResult::done(unit.length_bytes));
        Completion { unit_index: done.slot, result: n_bytes.unwrap_or(IoResult::of_call(done.result)) }
    }
}

impl Running {
    /// Takes the oldest queued unit out and gives it an error. A sync that the file or the kernel refuses as a request
    /// is done here instead.
    fn refuse_oldest(&mut self, errno: Errno) {
        let Some(unit_index) = self.context.drop_oldest() else { return };
        let sync = self.syncs.take(unit_index).filter(|_| errno == Errno::INVAL);
        let result = sync.map_or(control::error_result(errno), |unit| control::run(&self.fds, &unit));
        self.refused.push(Completion { unit_index, result });
        if matches!(result.outcome(), Outcome::Failed(_)) && !self.refusals.contains(&unit_index) {
            self.refusals.push(unit_index);
        }
    }

    /// Queues the sync or trim if the kernel takes it as a request, or does it at once.
    #[cold]
    fn queue_control(&mut self, unit_index: u32, unit: &IoUnit, fd: RawFd) -> Queued {
        let operation = match unit.direction {
            Direction::Sync => AioOperation::Sync,
            Direction::Datasync => AioOperation::SyncData,
            _ if self.context.n_queued() == 0 => return Queued::Completed(control::run(&self.fds, unit)),
            _ => return Queued::Busy,
        };
        let region = self.arena.borrow().region(unit.buffer_offset, 0);
        let request = AioRequest { operation, fd, region, offset: 0, io_priority: 0, rw_flags: 0 };
        // SAFETY: by the contract of engines the loop does not close the file, nor use the slot, until the unit is reaped; a sync
        // touches no memory.
        let is_queued = unsafe { self.context.push(unit_index, &request) };
        if !is_queued {
            return Queued::Busy;
        }
        self.syncs.by_slot[unit_index as usize] = Some(*unit);
        self.syncs.n += 1;
        Queued::Queued
    }
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
        let fd = match self.fds.get(unit.file_index) {
            Ok(fd) => fd.as_raw_fd(),
            Err(errno) => return Queued::Completed(control::error_result(errno)),
        };
        if control::is_control(unit.direction) {
            return self.queue_control(unit_index, unit, fd);
        }
        let request = AioRequest {
            operation: self.operations[usize::from(unit.direction == Direction::Write)],
            fd,
            region: self.arena.borrow().region(unit.buffer_offset, unit.length_bytes),
            offset: unit.offset_bytes,
            io_priority: unit.ioprio,
            rw_flags: self.flags.of(unit.direction).bits(),
        };
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot, and does not
        // close the file, until the unit is reaped; the area lives as long as `self`, whose context waits when dropped.
        let is_queued = unsafe { self.context.push(unit_index, &request) };
        if is_queued { Queued::Queued } else { Queued::Busy }
    }

    fn commit(&mut self) -> io::Result<u32> {
        let n_before = self.context.n_queued();
        let mut n_tries = 0;
        while self.context.n_queued() > 0 {
            match self.context.submit() {
                // The kernel stops at the first unit that it refuses; it returns the errno only if that unit is the
                // oldest.
                Ok(n_taken) if n_taken > 0 => {}
                Ok(_) | Err(Errno::AGAIN) if self.context.n_in_flight() > 0 || !self.refused.is_empty() => break,
                Ok(_) | Err(Errno::AGAIN) if n_tries < MAX_SUBMIT_TRIES => {
                    n_tries += 1;
                    std::thread::sleep(SUBMIT_PAUSE);
                }
                Ok(_) => return Err(io::Error::from(Errno::AGAIN)),
                Err(Errno::INTR) => {}
                Err(errno) => self.refuse_oldest(errno),
            }
        }
        Ok(n_before - self.context.n_queued())
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let n_refused = self.refused.len().min(max as usize);
        completions.extend(self.refused.drain(..n_refused));
        let (min, max) = (min.saturating_sub(n_refused as u32), max - n_refused as u32);
        if max == 0 {
            return Ok(());
        }
        let Self { context, syncs, .. } = self;
        context.reap(min, max, |done| push_in_room(completions, syncs.completion(done)))?;
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        if !self.refused.is_empty() {
            return self.reap(0, max, completions);
        }
        let Self { context, syncs, .. } = self;
        context
            .reap_within(time_left(clock, until_ns), max, |done| push_in_room(completions, syncs.completion(done)))?;
        Ok(())
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.flags.hint(unit.direction, errno)
    }

    fn failures(&mut self) -> Option<&mut dyn FailureDetails> {
        Some(self)
    }
}

impl FailureDetails for Running {
    fn take_refusal(&mut self, unit_index: u32) -> bool {
        let position = self.refusals.iter().position(|refusal| *refusal == unit_index);
        position.map(|index| self.refusals.swap_remove(index)).is_some()
    }
}

/// The queues of an engine take their requests from those of the system (`fs.aio-max-nr`).
pub fn takes_requests_of_system(engine: &EngineDef) -> bool {
    engine.name == NAME
}

/// The message when the context cannot be made.
fn explain_setup(iodepth: u32, errno: Option<i32>) -> EngineError {
    let number =
        |name| std::fs::read_to_string(format!("/proc/sys/fs/{name}")).map_or("?".into(), |n| n.trim().to_owned());
    let hint = match errno {
        Some(libc::EAGAIN) => format!(
            "all queues of the system together may have {} requests (fs.aio-max-nr), {} are taken; lower iodepth, or \
             raise the limit: sysctl fs.aio-max-nr=N",
            number("aio-max-nr"),
            number("aio-nr")
        ),
        Some(libc::ENOSYS) => "this kernel or sandbox has no native AIO; use ioengine=io_uring or psync".to_owned(),
        Some(libc::EINVAL) => "this iodepth is beyond what the kernel takes; lower it".to_owned(),
        _ => "lower iodepth, or use ioengine=io_uring".to_owned(),
    };
    EngineError::Refused {
        engine: NAME,
        what: format!("io_setup for iodepth={iodepth}"),
        source: io::Error::from_raw_os_error(errno.unwrap_or(libc::EAGAIN)),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rig, RigOptions, TestFile, check_end_of_file, check_file_engine};
    use ferrio_spec::GivenOptions;
    use ferrio_spec::engines::options::declaration::EngineOption;
    use std::os::fd::{AsFd, BorrowedFd};

    fn options(iodepth: u32, direct: bool, option: Option<&EngineOption<bool>>) -> RigOptions {
        let options = GivenOptions::default();
        let options = if let Some(option) = option { options.with(option, true) } else { options };
        RigOptions { iodepth, direct, options, ..RigOptions::default() }
    }

    #[test]
    fn files_are_read_written_and_synced() {
        for option in [None, Some(&USERSPACE_REAP), Some(&LIBAIO_VECTORED)] {
            for (depth, direct) in [(1, false), (8, false), (1, true), (8, true)] {
                check_file_engine("libaio", || options(depth, direct, option));
            }
        }
        check_end_of_file("libaio", options(4, false, None));
    }

    #[test]
    fn a_unit_that_the_kernel_does_not_take_gets_its_error_and_the_others_go_on() {
        let file = TestFile::new("libaio");
        let Ok(mut rig) = Rig::new("libaio", Some(&file), options(4, false, None)) else { return };
        let good = rig.unit(Direction::Read, 1);
        // SAFETY: no limit lets a descriptor have this number: what is done with it fails.
        rig.open_second(unsafe { BorrowedFd::borrow_raw(i32::MAX - 1) });
        let bad = IoUnit { file_index: 1, ..good };
        let results = rig.run(&[good, bad, good, bad, bad, good], |_, _| (), |_, _, _| ());
        let refused = -i64::from(libc::EBADF);
        assert_eq!(results, [4096, refused, 4096, refused, refused, 4096]);
    }

    #[test]
    fn syncs_are_queued_but_for_those_that_the_kernel_does_not_queue() {
        let file = TestFile::new("libaio");
        let Ok(mut rig) = Rig::new("libaio", Some(&file), options(4, false, None)) else { return };
        let (write, sync, data) =
            (rig.unit(Direction::Write, 1), rig.unit(Direction::Sync, 0), rig.unit(Direction::Datasync, 0));
        let range = rig.unit(Direction::SyncFileRange, 0);
        assert_eq!(rig.engine.queue(0, &write), Queued::Queued);
        assert_eq!(rig.engine.queue(1, &sync), Queued::Queued);
        assert_eq!(rig.engine.queue(2, &range), Queued::Busy);
        assert_eq!(rig.engine.queue(2, &data), Queued::Queued);
        assert_eq!(rig.engine.commit().unwrap(), 3);
        assert_eq!(rig.engine.queue(3, &range), Queued::Completed(IoResult::done(4096)));
        let mut completions = Vec::with_capacity(4);
        while completions.len() < 3 {
            rig.engine.reap(1, 4, &mut completions).unwrap();
        }
        completions.sort_unstable_by_key(|completion| completion.unit_index);
        assert_eq!(completions, [0, 1, 2].map(|unit_index| Completion { unit_index, result: IoResult::done(4096) }));
    }

    /// A pipe cannot be synced.
    #[test]
    fn a_sync_that_the_kernel_refuses_is_done_by_the_job() {
        let file = TestFile::new("libaio");
        let Ok(mut rig) = Rig::new("libaio", Some(&file), options(4, false, None)) else { return };
        let (reader, _writer) = std::io::pipe().unwrap();
        rig.open_second(reader.as_fd());
        let sync = IoUnit { file_index: 1, ..rig.unit(Direction::Sync, 0) };
        let good = rig.unit(Direction::Read, 1);
        let results = rig.run(&[good, sync, good], |_, _| (), |_, _, _| ());
        assert_eq!(results, [4096, -i64::from(libc::EINVAL), 4096]);
    }

    #[test]
    fn a_depth_beyond_the_limit_is_explained() {
        let error = explain_setup(1 << 20, Some(libc::EAGAIN)).to_string();
        assert!(error.starts_with("libaio: io_setup for iodepth=1048576 failed"), "{error}");
        assert!(error.contains("fs.aio-max-nr"), "{error}");
    }
}
