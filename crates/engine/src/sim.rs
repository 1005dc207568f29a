//! `ioengine=sim`: a seeded virtual device, for tests that need a known truth and for trying things out.
//!
//! Its options; defaults are in their declarations (`ferrio_spec::engines::options::sim`):
//!
//! | option | meaning |
//! |---|---|
//! | `sim_service` | service times, see `service` |
//! | `sim_channels` | I/Os served at the same time, 1 to 65536; each goes to the channel that is free first |
//! | `sim_seed` | seed of the device; else that of the worker |
//! | `sim_capacity` | bytes of the device: writes behind it fail with ENOSPC, reads find the end; else there is no limit, with contents 1 GiB |
//! | `sim_read_cache` | `SIZE/HIT_TIME`, see `read_cache` |
//! | `sim_write_cache` | `SIZE/HIT_TIME/DRAIN_RATE`, see `device` |
//! | `sim_stall` | `EVERY/DURATION`, see `stall` |
//! | `sim_burst` | credits, see `burst` |
//! | `sim_fault` | what goes wrong, see `fault` |
//! | `sim_data` | 1: keep what is written, so that reads return it and faults are real in the data |
//!
//! Each worker has a device of its own, on which its files follow each other. Times are those of the run's clock: with
//! a real clock the engine waits for them, a virtual clock jumps to the next completion. The same seed and the same
//! arrivals give the same figures on every machine. Start reading at `Sim`, then `Running` and `device`.

mod bucket;
mod burst;
mod device;
mod error;
mod fault;
mod options;
mod parse;
mod read_cache;
mod rng;
mod service;
mod stall;
mod store;

use crate::contract::{
    Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, Outcome, Prepare, Prepared, Queued,
};
use device::{Arrival, SimDevice};
use fault::SimFault;
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::{Clock, ClockKind};
use ferrio_units::Direction;
use options::SimOptions;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::rc::Rc;
use store::{DeviceRange, Store};

const NAME: &str = "sim";

/// Virtual time that one look for completions takes, ns. Without it, virtual time would stand still in a loop that only
/// polls.
const POLL_NS: u64 = 100;

/// On a real clock the engine sleeps until this long before the time, ns, then spins, because a sleep ends late by the
/// slack of timers (50 us).
const SPIN_NS: u64 = 60_000;

pub(crate) const PREPARE: Prepare = |options| Ok(Box::new(Sim { options: SimOptions::parse(options)? }));

/// The engine before it is started.
struct Sim {
    options: SimOptions,
}

impl Prepared for Sim {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let depth = setup.iodepth as usize;
        let store = self.options.has_data.then(|| Store::new(self.options.capacity_bytes)).transpose()?;
        Ok(Box::new(Running {
            device: self.options.device(self.options.seed.unwrap_or(setup.seed))?,
            store,
            epoch_ns: setup.clock.now_ns(),
            clock: setup.clock,
            arena: setup.arena,
            capacity_bytes: self.options.capacity_bytes,
            files: Files { bases: vec![None; setup.n_files as usize], end: 0 },
            queued: Vec::with_capacity(depth),
            in_flight: BinaryHeap::with_capacity(depth),
            slots: vec![None; depth],
            n_taken: 0,
        }))
    }
}

/// A started device. Lists have room for `iodepth`.
struct Running {
    device: SimDevice,
    store: Option<Store>,
    arena: Rc<RefCell<Arena>>,
    clock: Clock,
    /// Time of the clock when the engine started; the device counts from here.
    epoch_ns: u64,
    capacity_bytes: u64,
    files: Files,
    queued: Vec<(u32, IoUnit)>,
    /// Completion time (of the device), order of arrival, slot.
    in_flight: BinaryHeap<Reverse<(u64, u64, u32)>>,
    slots: Vec<Option<Flight>>,
    n_taken: u64,
}

/// An I/O in the device.
#[derive(Clone, Copy)]
struct Flight {
    unit: IoUnit,
    address: u64,
    /// Bytes of the I/O that lie within the device.
    length_bytes: usize,
    fault: SimFault,
    result: IoResult,
}

/// Address of each file on the device: files follow each other, in the order in which they were first opened.
struct Files {
    bases: Vec<Option<u64>>,
    end: u64,
}

impl Files {
    fn open(&mut self, file: &EngineFile<'_>) {
        if let Some(base @ None) = self.bases.get_mut(file.index as usize) {
            *base = Some(self.end);
            self.end = self.end.saturating_add(file.range_start).saturating_add(file.range_bytes);
        }
    }

    fn address(&self, unit: &IoUnit) -> u64 {
        let base = self.bases.get(unit.file_index as usize).copied().flatten().unwrap_or(0);
        base.saturating_add(unit.offset_bytes)
    }
}

impl Running {
    fn now_ns(&self) -> u64 {
        self.clock.now_ns().saturating_sub(self.epoch_ns)
    }

    /// Hands a unit to the device.
    fn take(&mut self, unit_index: u32, unit: &IoUnit, now_ns: u64) {
        let address = self.files.address(unit);
        let room_bytes = self.capacity_bytes.saturating_sub(address);
        let length_bytes = usize::try_from(room_bytes).unwrap_or(usize::MAX).min(unit.length_bytes);
        let arrival = Arrival { direction: unit.direction, address, length_bytes: length_bytes as u64, now_ns };
        let outcome = self.device.take(&arrival);
        let result = result_of(unit, length_bytes, outcome.fault);
        self.slots[unit_index as usize] =
            Some(Flight { unit: *unit, address, length_bytes, fault: outcome.fault, result });
        self.in_flight.push(Reverse((outcome.done_ns, self.n_taken, unit_index)));
        self.n_taken += 1;
    }

    /// Takes the units that are done by now.
    fn collect(&mut self, n_max: usize, completions: &mut Vec<Completion>) {
        let now_ns = self.now_ns();
        let n_end = completions.len() + n_max;
        while let Some(&Reverse((done_ns, _, unit_index))) = self.in_flight.peek() {
            if done_ns > now_ns || completions.len() >= n_end {
                return;
            }
            self.in_flight.pop();
            if let Some(flight) = self.slots[unit_index as usize].take() {
                self.carry_out(&flight);
                completions.push(Completion { unit_index, result: flight.result });
            }
        }
    }

    /// Moves the data of a finished I/O.
    fn carry_out(&mut self, flight: &Flight) {
        let Some(store) = &mut self.store else { return };
        // The address fits: an I/O that moves bytes lies within a mapping.
        let (Ok(address), Outcome::Done(moved_bytes @ 1..)) =
            (usize::try_from(flight.address), flight.result.outcome())
        else {
            return;
        };
        let length_bytes = match flight.fault {
            SimFault::Short(_) => moved_bytes as usize,
            _ => flight.length_bytes,
        };
        let mut arena = self.arena.borrow_mut();
        let buffer_bytes = if flight.unit.direction == Direction::Trim { 0 } else { length_bytes };
        let buffer = arena.slice_mut(flight.unit.buffer_offset, buffer_bytes);
        let span_bytes =
            if self.files.end == 0 { self.capacity_bytes } else { self.files.end.min(self.capacity_bytes) };
        store.apply(flight.unit.direction, DeviceRange { address, length_bytes }, flight.fault, buffer, span_bytes);
    }

    /// Completion time of the device's next I/O, on the clock of the run.
    fn next_done_ns(&self) -> Option<u64> {
        self.in_flight.peek().map(|Reverse((done_ns, ..))| self.epoch_ns.saturating_add(*done_ns))
    }

    /// Waits until the device's next I/O is done.
    fn wait(&self) {
        let Some(until_ns) = self.next_done_ns() else { return };
        if self.clock.kind() == ClockKind::Virtual {
            self.clock.sleep_until_ns(until_ns);
            return;
        }
        let sleep_until_ns = until_ns.saturating_sub(SPIN_NS);
        if sleep_until_ns > self.clock.now_ns() {
            self.clock.sleep_until_ns(sleep_until_ns);
        }
        while self.clock.now_ns() < until_ns && self.clock.now_ns() >= sleep_until_ns {
            std::hint::spin_loop();
        }
    }
}

/// The reported result: an error, all bytes within the device, or fewer.
fn result_of(unit: &IoUnit, length_bytes: usize, fault: SimFault) -> IoResult {
    let is_behind_the_end = length_bytes == 0 && unit.length_bytes > 0;
    match (fault, unit.direction) {
        (SimFault::Eio, _) => IoResult::failed(libc::EIO),
        (_, Direction::Write) if is_behind_the_end => IoResult::failed(libc::ENOSPC),
        (_, Direction::Trim) if is_behind_the_end => IoResult::failed(libc::EINVAL),
        (SimFault::Short(short_bytes), _) => IoResult::done(short_bytes.min(length_bytes as u64) as usize),
        (_, Direction::Read | Direction::Write | Direction::Trim) => IoResult::done(length_bytes),
        _ => IoResult::done(unit.length_bytes),
    }
}

impl Engine for Running {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.files.open(file);
        Ok(())
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        self.queued.push((unit_index, *unit));
        Queued::Queued
    }

    fn commit(&mut self) -> io::Result<u32> {
        let now_ns = self.now_ns();
        let n_queued = self.queued.len();
        for index in 0..n_queued {
            let (unit_index, unit) = self.queued[index];
            self.take(unit_index, &unit, now_ns);
        }
        self.queued.clear();
        Ok(n_queued as u32)
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let n_before = completions.len();
        let n_max = max as usize;
        let n_min = (min as usize).min(n_max).min(self.in_flight.len());
        self.collect(n_max, completions);
        if n_min == 0 && completions.len() == n_before && !self.in_flight.is_empty() {
            // Only a virtual clock advances here.
            self.clock.advance(POLL_NS);
        }
        while completions.len() - n_before < n_min {
            self.wait();
            self.collect(n_max - (completions.len() - n_before), completions);
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
        match self.next_done_ns() {
            Some(done_ns) if done_ns <= until_ns => self.wait(),
            _ => _ = clock.sleep_until_ns(until_ns),
        }
        self.collect(max as usize, completions);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
