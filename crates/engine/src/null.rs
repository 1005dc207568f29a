//! `ioengine=null`: every I/O succeeds at once and moves nothing. The cost of the loop itself.

use crate::contract::{Completion, Engine, EngineError, EngineInfo, EngineSetup, IoUnit, Queued};
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
    create: |_options| Ok(Box::<Null>::default()),
};

/// With a depth of 1 a unit completes within `queue`; else it goes through queue, commit and reap like a real one, and a
/// batch is reaped whole before the next is queued. So it is in Debian's fio 3.33: its depths show the size of the batch.
#[derive(Default)]
struct Null {
    iodepth: u32,
    queued: Vec<Completion>,
    done: Vec<Completion>,
}

impl Engine for Null {
    fn start(&mut self, setup: EngineSetup) -> Result<(), EngineError> {
        self.iodepth = setup.iodepth;
        self.queued = Vec::with_capacity(setup.iodepth as usize);
        self.done = Vec::with_capacity(setup.iodepth as usize);
        Ok(())
    }

    #[inline]
    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let result = unit.length as i64;
        if self.iodepth == 1 {
            return Queued::Completed(result);
        }
        if !self.done.is_empty() {
            return Queued::Busy;
        }
        self.queued.push(Completion { unit_index, result });
        Queued::Queued
    }

    fn commit(&mut self) -> io::Result<u32> {
        let n_queued = self.queued.len() as u32;
        self.done.append(&mut self.queued);
        Ok(n_queued)
    }

    fn reap(&mut self, _min: u32, _max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        completions.append(&mut self.done);
        Ok(())
    }
}
