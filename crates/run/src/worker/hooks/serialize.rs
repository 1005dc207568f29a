//! `serialize_overlap`: an I/O waits until no I/O in flight touches its bytes.
//!
//! Must not know: engines, contents of blocks, how the loops wait. Start reading at [`Serializer::is_blocked`].
//! Facts: reference "Rates and pauses", last lines; as seen on fio 3.41 the wait is no part of the latency.

use crate::plan::WorkerPlan;
use crate::worker::core::slots::Slot;

/// The range of a file that an I/O touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    file_index: u32,
    start: u64,
    end: u64,
}

impl Span {
    /// `None`: the I/O touches no bytes, like a sync.
    fn of(slot: &Slot) -> Option<Self> {
        slot.unit.direction.data()?;
        let start = slot.data_offset;
        Some(Self { file_index: slot.unit.file_index, start, end: start.saturating_add(slot.length_bytes) })
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.file_index == other.file_index && self.start < other.end && other.start < self.end
    }
}

/// Ranges of the I/Os in flight, by slot.
pub(crate) struct Serializer {
    in_flight: Vec<Option<Span>>,
}

impl Serializer {
    /// `None`: the job does not serialise.
    pub(crate) fn new(plan: &WorkerPlan) -> Option<Self> {
        plan.serializes().then(|| Self { in_flight: vec![None; plan.queue().iodepth as usize] })
    }

    /// True if an I/O in flight touches bytes of the I/O in this slot.
    pub(crate) fn is_blocked(&self, slot: &Slot) -> bool {
        Span::of(slot).is_some_and(|span| self.in_flight.iter().flatten().any(|other| other.overlaps(&span)))
    }

    /// Called before an I/O is handed to the engine.
    pub(crate) fn takes_off(&mut self, slot_index: u32, slot: &Slot) {
        debug_assert!(!self.is_blocked(slot), "no two I/Os in flight touch the same bytes");
        if let Some(span) = Span::of(slot) {
            self.in_flight[slot_index as usize] = Some(span);
        }
    }

    /// Called after an I/O is done or has failed.
    pub(crate) fn lands(&mut self, slot_index: u32) {
        self.in_flight[slot_index as usize] = None;
    }
}
