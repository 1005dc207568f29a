//! `io_submit_mode=offload`: an engine whose I/Os are done by a pool of threads, so that the job's thread never waits in
//! them. Each slot of the job has a thread, and each thread an engine of the wanted kind at a depth of 1.
//!
//! Must not know: which loop drives it. Start reading at [`Offload`], then `seat` for the life of a thread.
//! Facts: reference "Rates and pauses", `io_submit_mode`.

mod guard;
mod seat;
#[cfg(test)]
mod tests;

use crate::contract::kind::EngineKind;
use crate::contract::options::EngineOptions;
use crate::contract::{Completion, Engine, EngineError, EngineFile, EngineSetup, IoUnit, Prepare, Prepared, Queued};
use ferrio_spec::engines::{Completes, EngineDef, Handover, Sharing};
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_sys::range_locks::Locker;
use guard::RangeGuard;
use seat::{PoolSeat, ResultBoard, SeatFile, SeatSetup};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

/// The reason why a pool of threads cannot do the I/Os of an engine; `None`: it can.
pub fn refusal(def: &EngineDef) -> Option<&'static str> {
    match def.sharing {
        // lseek(2) and the call that follows it are two: another thread would move the position between them.
        Sharing::Position => {
            Some("it moves the position of its files, which threads share; psync, pvsync and the others do not")
        }
        Sharing::WritePointers => Some("writes meet the write pointers of zones in order, and threads would mix them"),
        Sharing::DonorFile => Some("each I/O changes its donor file by several calls, which threads would mix"),
        Sharing::Connection => Some("the bytes of a connection come in their order, which threads would mix"),
        _ if def.targets.are_passthrough() => Some("its commands are in flight together without a pool"),
        _ => None,
    }
}

/// True where a pool would change nothing, because `queue` never waits for an I/O of this engine and the engine owns
/// its targets.
pub fn is_needless(def: &EngineDef) -> bool {
    matches!(def.sharing, Sharing::OwnTargets | Sharing::ClientThreads)
}

/// The row of an engine behind a pool: its I/Os are in flight from `queue` on.
pub fn pooled(kind: EngineKind) -> EngineKind {
    let handover = match kind.def.handover {
        Handover::Waits => Handover::Prepared { unseen_with: None },
        handover => handover,
    };
    EngineKind { def: EngineDef { completes: Completes::Later, handover, ..kind.def }, ..kind }
}

/// A pool before it is started.
pub struct Offload {
    name: &'static str,
    prepare: Prepare,
    options: EngineOptions,
    /// An engine that is never started; it only explains errors.
    adviser: Box<dyn Prepared>,
    /// One guard for each thread; empty: no I/O waits for another.
    guards: Vec<RangeGuard>,
}

/// A started pool. The seats are the first field: dropping them waits for all I/Os in flight, after which the buffers
/// may be dropped.
struct Pool {
    seats: Vec<PoolSeat>,
    board: Arc<ResultBoard>,
    queued: Vec<(u32, IoUnit)>,
    n_in_flight: u32,
    files: Vec<SeatFile>,
    adviser: Box<dyn Prepared>,
    _arena: Rc<RefCell<Arena>>,
}

impl Offload {
    /// Checks the options of the engine of this name, as the engine itself would.
    ///
    /// # Errors
    /// The options of the engine.
    pub fn new(name: &'static str, prepare: Prepare, options: EngineOptions) -> Result<Self, EngineError> {
        let adviser = prepare(&options)?;
        Ok(Self { name, prepare, options, adviser, guards: Vec::new() })
    }

    /// The same, but an I/O waits until no other I/O touches its bytes, among those of all jobs whose lockers share a
    /// lock space. `lockers` has one entry for each thread. `file_numbers` has a number for each file of the job; other
    /// jobs give the same file the same number.
    #[must_use]
    pub fn excluding(mut self, lockers: Vec<Locker>, file_numbers: &[u32]) -> Self {
        let file_numbers: Arc<[u32]> = file_numbers.into();
        let guard = |locker| RangeGuard::new(locker, Arc::clone(&file_numbers));
        self.guards = lockers.into_iter().map(guard).collect();
        self
    }
}

impl Prepared for Offload {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let depth = setup.iodepth;
        let board = Arc::new(ResultBoard::new(depth as usize));
        let mut seats = Vec::with_capacity(depth as usize);
        let mut guards = self.guards.into_iter();
        for index in 0..depth {
            // The buffers of the slots follow each other in the area; see `Slots` of the loop.
            let part = setup.arena.borrow().region(index as usize * setup.max_block_bytes, setup.max_block_bytes);
            let seat = SeatSetup {
                index,
                name: self.name,
                prepare: self.prepare,
                options: self.options.clone(),
                part,
                buffer_start: index as usize * setup.max_block_bytes,
                max_block_bytes: setup.max_block_bytes,
                n_files: setup.n_files,
                direct: setup.direct,
                atomic: setup.atomic,
                clock: setup.clock.clone(),
                seed: setup.seed.wrapping_add(u64::from(index)),
                guard: guards.next(),
            };
            seats.push(PoolSeat::start(seat, Arc::clone(&board))?);
        }
        // The threads make their engines at the same time.
        for seat in &mut seats {
            seat.is_ready()?;
        }
        Ok(Box::new(Pool {
            seats,
            board,
            queued: Vec::with_capacity(depth as usize),
            n_in_flight: 0,
            files: vec![SeatFile::default(); setup.n_files as usize],
            adviser: self.adviser,
            _arena: setup.arena,
        }))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.adviser.hint(unit, errno)
    }
}

impl Engine for Pool {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        if let Some(known) = self.files.get_mut(file.index as usize) {
            known.open(file);
        }
        Ok(())
    }

    fn close_file(&mut self, file_index: u32) {
        for seat in &mut self.seats {
            seat.close(file_index);
        }
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        self.queued.push((unit_index, *unit));
        Queued::Queued
    }

    fn commit(&mut self) -> io::Result<u32> {
        let n_queued = self.queued.len() as u32;
        for (unit_index, unit) in self.queued.drain(..) {
            let file = self.files.get(unit.file_index as usize).cloned().unwrap_or_default();
            self.seats[unit_index as usize].carry_out(unit, file);
        }
        self.n_in_flight += n_queued;
        Ok(n_queued)
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.adviser.hint(unit, errno)
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let min = min.min(max).min(self.n_in_flight);
        self.n_in_flight -= self.board.take(min, max, None, completions);
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        let left = crate::contract::time_left(clock, until_ns);
        self.n_in_flight -= self.board.take(self.n_in_flight.min(1), max, Some(left), completions);
        Ok(())
    }
}
