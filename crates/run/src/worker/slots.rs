//! The units of a worker: one slot for each I/O that may be in flight.
//!
//! Must not know: engines, statistics. Start reading at [`Slots`].

use super::account::Stamps;
use ferrio_engine::IoUnit;
use ferrio_units::Direction;

/// One slot: the unit as the engine sees it, and what the worker remembers of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) unit: IoUnit,
    pub(super) stamps: Stamps,
    /// Where its last read, write or trim was: traces of the reference show it for syncs.
    pub(super) data_offset: u64,
    /// Bytes asked for at first; the unit holds what is left after short transfers.
    pub(super) wanted_bytes: u64,
    /// It came back short at least once.
    pub(super) was_short: bool,
}

/// All slots of a worker; the free ones are a stack.
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Slots {
    pub(super) fn new(iodepth: u32, block_bytes: usize) -> Self {
        let slot = |index: u32| Slot {
            unit: IoUnit {
                direction: Direction::Read,
                file_index: 0,
                fd: -1,
                offset: 0,
                length: 0,
                buffer_offset: index as usize * block_bytes,
                sync_flags: 0,
                ioprio: 0,
            },
            stamps: Stamps::default(),
            data_offset: 0,
            wanted_bytes: 0,
            was_short: false,
        };
        Self { slots: (0..iodepth).map(slot).collect(), free: (0..iodepth).rev().collect() }
    }

    /// Takes a free slot.
    #[inline]
    pub(super) fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Gives a slot back.
    #[inline]
    pub(super) fn give_back(&mut self, index: u32) {
        self.free.push(index);
    }

    /// True when no slot is free.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Slots in use.
    #[inline]
    pub(super) fn n_used(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> &Slot {
        &self.slots[index as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> &mut Slot {
        &mut self.slots[index as usize]
    }
}
