//! `ioengine=null`: every I/O succeeds at once and moves nothing. The cost of the loop itself.

use crate::contract::{Completion, Engine, EngineError, EngineInfo, EngineSetup, IoUnit, Queued, push_in_room};
use std::io;

/// The engine's row in the registry.
pub const INFO: EngineInfo = EngineInfo {
    name: "null",
    help: "Does no I/O; every request succeeds",
    inline: false,
    synchronous: false,
    diskless: true,
    needs_full_layout: false,
    needs_aligned_buffers: false,
    supports_atomic: false,
    supports_syncfs: true,
    needs_shared_descriptors: false,
    completes_on_commit: true,
    uses_library_threads: false,
    stamps_calls: false,
    create: |_options| Ok(Box::<Null>::default()),
};

/// With a depth of 1 a unit completes within `queue`; else it goes through queue, commit and reap like a real one, and a
/// batch is reaped whole before the next is queued. So it is in Debian's fio 3.33: its depths show the size of the batch.
#[derive(Default)]
struct Null {
    iodepth: u32,
    units: Vec<Completion>,
    /// How many of them were committed: none, or all, for no unit is taken before they are reaped.
    n_committed: usize,
}

impl Engine for Null {
    fn start(&mut self, setup: EngineSetup) -> Result<(), EngineError> {
        self.iodepth = setup.iodepth;
        self.units = Vec::with_capacity(setup.iodepth as usize);
        Ok(())
    }

    #[inline]
    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let result = unit.length as i64;
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
            // A batch is mostly one unit; to copy a block is a call, for which registers would be saved each time.
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
