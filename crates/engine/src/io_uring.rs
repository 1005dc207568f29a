//! `ioengine=io_uring`: requests by a submission ring, completions from a mapped ring.
//!
//! Completions that are there are taken without a system call; else the kernel is entered once for all that are wanted.
//! Like fio (seen by strace) syncs and `sync_file_range` go through the ring, trims and `syncfs` are done in the thread of
//! the job, after what was queued before them was submitted. With `hipri` a ring takes no syncs: they are done in the
//! thread of the job then, too.
//! Must not know: batches, depths. Start reading at `Uring`, then `options`.
#![expect(unsafe_code, reason = "requests point into the buffer area")]

mod buffers;
mod explain;
mod options;

use crate::contract::{
    Completion, Engine, EngineError, EngineFile, EngineInfo, EngineSetup, IoResult, IoUnit, Queued, push_in_room,
    time_left,
};
use crate::control;
use crate::options::EngineOptions;
use buffers::Windows;
use ferrio_sys::Clock;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::uring::{BufferForm, Ring, RingFd, RingIo, RingRequest, SyncKind};
use ferrio_units::Direction;
use options::{UringOptions, Vectoring};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// The engine's row in the registry.
pub const INFO: EngineInfo = EngineInfo {
    name: "io_uring",
    help: "Linux io_uring: rings shared with the kernel",
    create,
    ..crate::libaio::INFO
};

/// The kernel moves no more in one I/O (`MAX_RW_COUNT`); a request has 32 bits for its length.
const MAX_IO_BYTES: usize = 0x7fff_f000;

/// A kernel without room (EAGAIN), of which nothing is in flight that could make room, is asked again so often.
const MAX_SUBMIT_TRIES: u32 = 1000;

/// Pause between these tries.
const SUBMIT_PAUSE: Duration = Duration::from_millis(1);

/// With a polling kernel thread, the ring is looked at so often (some 10 us) before the kernel is entered to wait: such
/// jobs want no system calls, but a slow device should not cost a CPU.
const N_SPINS: u32 = 1000;

fn create(options: &EngineOptions) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(Uring { options: UringOptions::parse(options)?, running: None }))
}

/// The engine: checked options, and the ring once it is started.
struct Uring {
    options: UringOptions,
    running: Option<Running>,
}

/// The ring stands first: dropping it waits for what is in flight, then the buffers may go.
struct Running {
    ring: Ring,
    arena: Rc<RefCell<Arena>>,
    /// For jobs with registered buffers.
    windows: Option<Windows>,
    is_plain: bool,
    /// By slot: the length that a sync reports; 0 for reads and writes.
    sync_lengths: Vec<IoResult>,
    /// Units queued whose submission was not yet reported by `commit`.
    n_queued: u32,
    /// Reads and writes since the last one that was forced to a worker.
    n_since_forced: u32,
    is_sqpoll: bool,
}

impl Uring {
    fn start_ring(&self, setup: EngineSetup) -> Result<Running, EngineError> {
        let options = &self.options;
        let request =
            RingRequest { is_iopoll: options.is_iopoll, sqpoll: options.sqpoll, ..RingRequest::new(setup.iodepth) };
        let ring = Ring::new(&request).map_err(|error| explain::ring(options, setup.iodepth, error.errno()))?;
        if options.has_registered_files {
            ring.register_file_table(setup.n_files).map_err(|error| explain::files(setup.n_files, error.errno()))?;
        }
        Ok(Running {
            is_plain: match options.vectoring {
                Vectoring::Plain => true,
                Vectoring::Vectored => false,
                Vectoring::Probe => ring.supports_plain_io(),
            },
            windows: None,
            sync_lengths: vec![0; setup.iodepth as usize],
            n_queued: 0,
            n_since_forced: 0,
            is_sqpoll: options.sqpoll.is_some(),
            arena: setup.arena,
            ring,
        })
    }

    #[inline]
    fn fd_of(&self, unit: &IoUnit) -> RingFd {
        if self.options.has_registered_files { RingFd::Registered(unit.file_index) } else { RingFd::Open(unit.fd) }
    }

    /// The sync that a ring can do for a unit.
    fn sync_of(&self, unit: &IoUnit) -> Option<SyncKind> {
        if self.options.is_iopoll {
            return None;
        }
        match unit.direction {
            Direction::Sync => Some(SyncKind::All),
            Direction::Datasync => Some(SyncKind::Data),
            // Longer ranges do not fit a request; they are done inline.
            Direction::SyncFileRange => u32::try_from(unit.length).ok().map(|len| SyncKind::Range {
                offset: unit.offset,
                len,
                flags: unit.sync_flags,
            }),
            _ => None,
        }
    }

    fn queue_control(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let (fd, sync) = (self.fd_of(unit), self.sync_of(unit));
        let Some(running) = &mut self.running else { return not_started_unit() };
        let Some(kind) = sync else {
            return if running.n_queued == 0 { Queued::Completed(control::run(unit)) } else { Queued::Busy };
        };
        // SAFETY: by the contract of engines the file stays open until the unit is reaped.
        let is_queued = unsafe { running.ring.push_sync(unit_index, fd, kind) };
        running.queued(unit_index, unit.length as IoResult, is_queued)
    }
}

impl Running {
    #[inline]
    fn form_of(&self, unit: &IoUnit) -> BufferForm {
        match self.windows {
            Some(windows) => BufferForm::Registered(windows.index_of(unit.buffer_offset)),
            None if self.is_plain => BufferForm::Plain,
            None => BufferForm::Vector,
        }
    }

    /// True for every n-th call; never for 0.
    #[inline]
    fn takes_turn(&mut self, every: u32) -> bool {
        if every == 0 {
            return false;
        }
        self.n_since_forced += 1;
        let is_turn = self.n_since_forced >= every;
        if is_turn {
            self.n_since_forced = 0;
        }
        is_turn
    }

    #[inline]
    fn queued(&mut self, unit_index: u32, sync_length: IoResult, is_queued: bool) -> Queued {
        if !is_queued {
            return Queued::Busy;
        }
        self.sync_lengths[unit_index as usize] = sync_length;
        self.n_queued += 1;
        Queued::Queued
    }

    /// Takes completions that are there.
    #[inline]
    fn pop(&mut self, n_max: usize, completions: &mut Vec<Completion>) {
        let lengths = &self.sync_lengths;
        self.ring.pop(n_max as u32, |done| {
            let length = if done.result == 0 { lengths[done.slot as usize] } else { 0 };
            push_in_room(
                completions,
                Completion { unit_index: done.slot, result: IoResult::from(done.result) + length },
            );
        });
    }

    /// Waits until there are `n_missing` completions.
    fn wait(&mut self, n_missing: usize) -> Result<(), Errno> {
        self.ring.submit_and_wait(n_missing as u32)
    }

    /// Hands pushed requests to the kernel, with patience where it has no room.
    fn submit(&mut self) -> Result<(), Errno> {
        let mut n_tries = 0;
        loop {
            match self.ring.submit() {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::BUSY) => {
                    let n_in_flight = self.ring.n_outstanding().saturating_sub(self.ring.n_unsubmitted());
                    if n_in_flight > 0 {
                        return Ok(());
                    }
                    if n_tries == MAX_SUBMIT_TRIES {
                        return Err(Errno::AGAIN);
                    }
                    n_tries += 1;
                    std::thread::sleep(SUBMIT_PAUSE);
                }
                result => return result.map(drop),
            }
        }
    }
}

fn not_started_unit() -> Queued {
    Queued::Completed(control::error_result(Errno::INVAL))
}

fn not_started() -> io::Error {
    io::Error::from(Errno::INVAL)
}

impl Engine for Uring {
    fn start(&mut self, setup: EngineSetup) -> Result<(), EngineError> {
        self.options.flags = self.options.flags.with_atomic(setup.atomic);
        let max_block_bytes = setup.max_block_bytes;
        let mut running = self.start_ring(setup)?;
        if self.options.has_fixed_buffers {
            let arena = running.arena.borrow();
            let windows = Windows::new(arena.len());
            if !windows.can_hold(max_block_bytes) {
                let why = "with buffers of more than 1 GiB in all, blocks are at most 512 MiB";
                return Err(EngineError::bad_option(INFO.name, "fixedbufs", &1, why));
            }
            // SAFETY: the area lives as long as `running`, whose ring is dropped first.
            unsafe { running.ring.register_buffers(&windows.regions(&arena)) }
                .map_err(|error| explain::buffers(arena.len(), error.errno()))?;
            drop(arena);
            running.windows = Some(windows);
        }
        self.running = Some(running);
        Ok(())
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        match &self.running {
            Some(running) if self.options.has_registered_files => {
                running.ring.set_registered_file(file.index, file.fd).map_err(|error| explain::files(1, error.errno()))
            }
            _ => Ok(()),
        }
    }

    fn close_file(&mut self, file_index: u32) {
        if let (Some(running), true) = (&self.running, self.options.has_registered_files) {
            // A file that stays in the table is only kept open by the ring.
            let _ = running.ring.set_registered_file(file_index, None);
        }
    }

    #[inline]
    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        if control::is_control(unit.direction) {
            return self.queue_control(unit_index, unit);
        }
        let fd = self.fd_of(unit);
        let rw_flags = self.options.flags.of(unit.direction).bits();
        let Some(running) = &mut self.running else { return not_started_unit() };
        let is_forced_async = running.takes_turn(self.options.force_async_every);
        let io = RingIo {
            is_write: unit.direction == Direction::Write,
            fd,
            region: running.arena.borrow().region(unit.buffer_offset, unit.length.min(MAX_IO_BYTES)),
            form: running.form_of(unit),
            offset: unit.offset,
            rw_flags,
            io_priority: unit.ioprio,
            is_forced_async,
        };
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot, and does not
        // close the file, until the unit is reaped; the area lives as long as `running`, whose ring waits when dropped.
        let is_queued = unsafe { running.ring.push_io(unit_index, &io) };
        running.queued(unit_index, 0, is_queued)
    }

    #[inline]
    fn commit(&mut self) -> io::Result<u32> {
        let running = self.running.as_mut().ok_or_else(not_started)?;
        if running.n_queued == 0 {
            return Ok(0);
        }
        running.submit()?;
        // What a polling thread was shown counts as handed over. A wait may have submitted before.
        let n_left = if running.is_sqpoll { 0 } else { running.ring.n_unsubmitted() };
        let n_taken = running.n_queued.saturating_sub(n_left);
        running.n_queued -= n_taken;
        Ok(n_taken)
    }

    #[inline]
    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let running = self.running.as_mut().ok_or_else(not_started)?;
        let n_start = completions.len();
        let n_max = max as usize;
        running.pop(n_max, completions);
        let n_min = (min.min(max) as usize).min(completions.len() - n_start + running.ring.n_outstanding() as usize);
        if min == 0 && completions.len() == n_start {
            running.wait(0)?;
            running.pop(n_max, completions);
        }
        let mut n_spins = if running.is_sqpoll { N_SPINS } else { 0 };
        while completions.len() - n_start < n_min {
            if n_spins > 0 {
                n_spins -= 1;
                std::hint::spin_loop();
            } else {
                running.wait(n_min - (completions.len() - n_start))?;
            }
            running.pop(n_max - (completions.len() - n_start), completions);
        }
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        let running = self.running.as_mut().ok_or_else(not_started)?;
        let n_start = completions.len();
        running.pop(max as usize, completions);
        if completions.len() == n_start {
            running.ring.wait_within(time_left(clock, until_ns))?;
            running.pop(max as usize, completions);
        }
        Ok(())
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        explain::io(&self.options, unit, errno)
    }
}

#[cfg(test)]
mod tests;
