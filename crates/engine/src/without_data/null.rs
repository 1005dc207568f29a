//! `ioengine=null`: every I/O succeeds at once and moves nothing, so that a run measures the cost of the loop itself.

use crate::contract::{
    Completion, Engine, EngineError, EngineSetup, IoResult, IoUnit, Prepare, Prepared, Queued, push_in_room,
};
use std::io;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Idle));

/// The engine before it is started.
struct Idle;

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let units = Vec::with_capacity(setup.iodepth as usize);
        Ok(Box::new(Null { iodepth: setup.iodepth, units, n_committed: 0 }))
    }
}

/// With a depth of 1 a unit completes within `queue`. With a larger depth it passes queue, commit and reap like a real
/// one, and a batch is reaped whole before the next one is queued. fio 3.41 does the same: its depth figures show the
/// size of the batch.
struct Null {
    iodepth: u32,
    units: Vec<Completion>,
    /// Number of committed units: none, or all, because no unit is queued again before all are reaped.
    n_committed: usize,
}

impl Engine for Null {
    #[inline]
    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let result = IoResult::done(unit.length_bytes);
        if self.iodepth == 1 {
            return Queued::Completed(result);
        }
        if self.n_committed > 0 {
            return Queued::Busy;
        }
        push_in_room(&mut self.units, Completion { unit_index, result });
        Queued::Queued
    }

    fn commit(&mut self) -> io::Result<u32> {
        let n_queued = self.units.len() - self.n_committed;
        self.n_committed = self.units.len();
        Ok(n_queued as u32)
    }

    fn reap(&mut self, _min: u32, _max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        match self.units.as_slice() {
            _ if self.n_committed == 0 => return Ok(()),
            // A batch is mostly one unit. Copying a slice is a call, which would save registers each time.
            [unit] => push_in_room(completions, *unit),
            units => copy(units, completions),
        }
        self.units.clear();
        self.n_committed = 0;
        Ok(())
    }
}

#[cold]
fn copy(units: &[Completion], completions: &mut Vec<Completion>) {
    completions.extend_from_slice(units);
}
