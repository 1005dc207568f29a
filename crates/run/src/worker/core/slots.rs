//! The slots of a worker, one for each I/O that may be in flight.
//!
//! Must not know: engines, statistics. Start reading at [`Slots`].

use crate::worker::core::account::Stamps;
use ferrio_engine::IoUnit;
use ferrio_units::Direction;

/// One slot: the unit as the engine sees it, and the worker's own data about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) unit: IoUnit,
    pub(crate) stamps: Stamps,
    /// Offset of the last read, write or trim in this slot: traces of fio show it for syncs.
    pub(crate) data_offset: u64,
    /// Length of the I/O; the unit has the length of the rest after a short transfer.
    pub(crate) length_bytes: u64,
    /// There was at least one short transfer.
    pub(crate) was_short: bool,
}

/// Slots whose units the engine has queued but not committed, oldest first.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Slots; those before `n_committed` are with the kernel already.
    slot_indexes: Vec<u32>,
    n_committed: usize,
}

impl Batch {
    pub(crate) fn new(iodepth: u32) -> Self {
        Self { slot_indexes: Vec::with_capacity(iodepth as usize), n_committed: 0 }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.slot_indexes.is_empty()
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        (self.slot_indexes.len() - self.n_committed) as u32
    }

    /// Adds a slot whose unit the engine has queued.
    #[inline]
    pub(crate) fn push(&mut self, slot_index: u32) {
        if self.slot_indexes.len() == self.slot_indexes.capacity() {
            self.forget_committed();
        }
        debug_assert!(
            self.slot_indexes.len() < self.slot_indexes.capacity(),
            "no more units wait than there are slots"
        );
        self.slot_indexes.push(slot_index);
    }

    /// Makes room without an allocation: at most `iodepth` units are not committed.
    #[cold]
    fn forget_committed(&mut self) {
        self.slot_indexes.drain(..self.n_committed);
        self.n_committed = 0;
    }

    /// Takes the oldest `n` slots, or all if there are fewer, and calls `each` for them.
    #[inline]
    pub(crate) fn commit(&mut self, n: u32, each: impl FnMut(&u32)) {
        debug_assert!(self.n_committed <= self.slot_indexes.len(), "only units that were queued are committed");
        let end = self.slot_indexes.len().min(self.n_committed + n as usize);
        self.slot_indexes[self.n_committed..end].iter().for_each(each);
        self.n_committed = end;
        if end == self.slot_indexes.len() {
            self.slot_indexes.clear();
            self.n_committed = 0;
        }
    }
}

/// All slots of a worker; the free ones are a stack.
pub(crate) struct Slots {
    all: Vec<Slot>,
    free: Vec<u32>,
    /// Number of slots that may be in use at the same time.
    n_usable: u32,
}

impl Slots {
    pub(crate) fn new(iodepth: u32, block_bytes: usize) -> Self {
        let slot = |index: u32| Slot {
            unit: IoUnit {
                direction: Direction::Read,
                file_index: 0,
                offset_bytes: 0,
                length_bytes: 0,
                buffer_offset: index as usize * block_bytes,
                sync_flags: 0,
                ioprio: 0,
            },
            stamps: Stamps::default(),
            data_offset: 0,
            length_bytes: 0,
            was_short: false,
        };
        Self { all: (0..iodepth).map(slot).collect(), free: (0..iodepth).rev().collect(), n_usable: iodepth }
    }

    /// Limits the number of slots in use. None may be in use now.
    pub(crate) fn limit(&mut self, depth: u32) {
        debug_assert_eq!(self.n_used(), 0, "slots in use cannot be taken away");
        self.n_usable = depth.clamp(1, self.all.len() as u32);
        self.free.clear();
        self.free.extend((0..self.n_usable).rev());
    }

    /// Takes a free slot.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    #[inline]
    pub(crate) fn give_back(&mut self, index: u32) {
        debug_assert!((index as usize) < self.all.len(), "slot {index} is none of the worker");
        debug_assert!(!self.free.contains(&index), "slot {index} is free already");
        self.free.push(index);
        debug_assert!(self.free.len() <= self.n_usable as usize, "more slots are free than may be used");
    }

    /// Leaves the slot that is being filled out of the count for now.
    pub(crate) fn hold_one_back(&mut self) {
        debug_assert!(self.n_used() > 0, "the slot that is being filled is in use");
        self.n_usable -= 1;
    }

    pub(crate) fn count_it_again(&mut self) {
        self.n_usable += 1;
        debug_assert!(self.n_usable as usize <= self.all.len(), "no more slots may be used than there are");
    }

    /// The slot that will be taken next; the first one if none is free.
    pub(crate) fn next(&self) -> u32 {
        self.free.last().copied().unwrap_or(0)
    }

    /// True when no slot is free.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    #[inline]
    pub(crate) fn n_used(&self) -> u32 {
        debug_assert!(self.free.len() <= self.n_usable as usize, "the number in flight is never negative");
        self.n_usable - self.free.len() as u32
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> &Slot {
        &self.all[index as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> &mut Slot {
        &mut self.all[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_committed_in_order_and_does_not_grow() {
        let mut batch = Batch::new(4);
        let capacity = batch.slot_indexes.capacity();
        let (mut next, mut seen) = (0, Vec::new());
        for n_committed in [1, 3, 0, 2, 9, 1, 1, 4] {
            while batch.len() < 4 {
                batch.push(next);
                next += 1;
            }
            batch.commit(n_committed, |slot_index| seen.push(*slot_index));
        }
        assert!(seen.iter().copied().eq(0..seen.len() as u32), "{seen:?}");
        assert_eq!(seen.len(), 1 + 3 + 2 + 4 + 1 + 1 + 4);
        assert!(batch.is_empty());
        assert_eq!(batch.slot_indexes.capacity(), capacity);
    }
}
