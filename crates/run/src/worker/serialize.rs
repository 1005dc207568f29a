//! `serialize_overlap`: an I/O waits until those in flight that touch its bytes are complete.
//!
//! Must not know: engines, what is in blocks. Start reading at [`Worker::wait_for_overlapping`].
//! Facts: reference "Rates and pauses", last lines; as seen on fio 3.33 the wait is no part of the latency.

use super::account::Stamps;
use super::slots::Slot;
use super::{Stop, Worker};
use crate::plan::WorkerPlan;

/// Bytes of a file that an I/O touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    file_index: u32,
    start: u64,
    end: u64,
}

impl Span {
    /// `None`: it touches none, as a sync does.
    fn of(slot: &Slot) -> Option<Self> {
        slot.unit.direction.data()?;
        let start = slot.data_offset;
        Some(Self { file_index: slot.unit.file_index, start, end: start.saturating_add(slot.wanted_bytes) })
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.file_index == other.file_index && self.start < other.end && other.start < self.end
    }
}

/// What the I/Os in flight touch, by slot.
pub(super) struct Serializer {
    in_flight: Vec<Option<Span>>,
}

impl Serializer {
    /// `None`: the job does not serialise.
    pub(super) fn new(plan: &WorkerPlan) -> Option<Self> {
        plan.serializes().then(|| Self { in_flight: vec![None; plan.queue().iodepth as usize] })
    }

    fn is_touched(&self, span: &Span) -> bool {
        self.in_flight.iter().flatten().any(|other| other.overlaps(span))
    }
}

impl Worker<'_> {
    /// An I/O is about to be handed to the engine: first those are that touch its bytes, and complete.
    pub(super) fn wait_for_overlapping(&mut self, slot_index: u32) -> Result<(), Stop> {
        let Some(serializer) = &self.serializer else { return Ok(()) };
        let Some(span) = Span::of(self.slots.get(slot_index)) else { return Ok(()) };
        if serializer.is_touched(&span) {
            self.collect_overlapping(slot_index, span)?;
        }
        if let Some(serializer) = &mut self.serializer {
            serializer.in_flight[slot_index as usize] = Some(span);
        }
        Ok(())
    }

    fn collect_overlapping(&mut self, slot_index: u32, span: Span) -> Result<(), Stop> {
        self.slots.hold_one_back();
        let mut collected = Ok(());
        while collected.is_ok() && self.serializer.as_ref().is_some_and(|serializer| serializer.is_touched(&span)) {
            collected = self.collect_some();
        }
        self.slots.count_it_again();
        if collected.is_err() {
            self.never_issued(slot_index);
            return collected;
        }
        let now = self.clock.stamp();
        self.slots.get_mut(slot_index).stamps = Stamps { start: now, issue: now };
        Ok(())
    }

    /// The job ends while an I/O waits. Its slot is given back by who filled it.
    fn never_issued(&mut self, slot_index: u32) {
        self.forget_write(slot_index);
        if let Some(data) = self.slots.get(slot_index).unit.direction.data() {
            self.account.stats.directions[data].n_issued -= 1;
        }
    }

    /// An I/O is complete, or has failed.
    pub(super) fn no_longer_in_flight(&mut self, slot_index: u32) {
        if let Some(serializer) = &mut self.serializer {
            serializer.in_flight[slot_index as usize] = None;
        }
    }
}
