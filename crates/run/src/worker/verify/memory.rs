//! The writes that a job remembers: those to be read back, and those in flight.
//!
//! Must not know: blocks, trims, loops. Start reading at [`WriteMemory`].

use super::allowed::{keeps_passes_apart, remedies, too_many};
use crate::error::Failure;
use crate::files::{FileSet, ZonedFiles};
use crate::plan::WorkerPlan;
use ferrio_engine::WriteContent;
use ferrio_spec::VerifySpec;
use ferrio_stats::note::Remedy;
use ferrio_workload::shape::Shape;
use ferrio_workload::verify::block::Write;
use ferrio_workload::verify::pending::{PendingWrite, PendingWrites, TooMany, WriteNumber};

/// Writes of an earlier run's passes (`verify_only`).
struct PassesApart {
    /// The newest writes of all passes so far.
    left: PendingWrites,
    /// Bytes that the passes of that run read back.
    n_bytes: u64,
}

/// The remembered writes of a job.
pub(crate) struct WriteMemory {
    pending: PendingWrites,
    /// By slot: the write in flight, or the write whose block a trim in flight clears.
    in_flight: Vec<Option<PendingWrite>>,
    /// Writes in flight may overlap.
    races: bool,
    zones: ZonedFiles,
    /// Writes of an earlier run's passes, kept until the last pass.
    apart: Option<Box<PassesApart>>,
    /// Bytes of a mix's reads that were not repeated (`verify_only`).
    unread_mix_bytes: u64,
    /// A pass goes through its files several times: a file that starts over has nothing in flight.
    goes_round: bool,
    /// What would help against more writes than can be remembered.
    remedies: Vec<Remedy>,
}

impl WriteMemory {
    pub(crate) fn new(plan: &WorkerPlan, verify: &VerifySpec, set: &FileSet, shape: Shape) -> Self {
        let pending = PendingWrites::new(shape.overlaps());
        Self {
            // A trim or another job may clear a place in a zone, so writes have to be found by place. As in fio 3.41,
            // they are read back in their order all the same.
            pending: if shape.fills_zones_once { pending.in_order_of_numbers() } else { pending },
            in_flight: vec![None; plan.queue().iodepth as usize],
            races: shape.overlaps_unwaited() && !plan.serializes(),
            zones: set.zones.clone(),
            apart: keeps_passes_apart(plan, set, shape)
                .then(|| Box::new(PassesApart { left: PendingWrites::new(true), n_bytes: 0 })),
            unread_mix_bytes: 0,
            goes_round: shape.goes_round(),
            remedies: remedies(verify, shape.overlaps()),
        }
    }

    /// The writes to be read back.
    pub(crate) fn pending(&self) -> &PendingWrites {
        &self.pending
    }

    /// The same, mutable.
    pub(crate) fn pending_mut(&mut self) -> &mut PendingWrites {
        &mut self.pending
    }

    /// True if the writes are kept by place, because writes of a pass may overlap.
    pub(crate) fn is_by_place(&self) -> bool {
        self.pending.is_by_place()
    }

    /// Keeps a write to be read back.
    ///
    /// # Errors
    /// There are more writes than can be remembered.
    pub(crate) fn push(&mut self, write: PendingWrite) -> Result<(), Failure> {
        self.pending.push(write).map_err(|TooMany| too_many(&self.remedies))
    }

    /// The same for a write of an earlier run.
    ///
    /// # Errors
    /// There are more writes than can be remembered.
    pub(crate) fn push_unwritten(&mut self, write: PendingWrite) -> Result<(), Failure> {
        self.push(write)?;
        let kept = self.apart.as_mut().map_or(Ok(()), |apart| apart.left.push(write));
        kept.map_err(|TooMany| too_many(&self.remedies))
    }

    /// Notes a read of the earlier run that is not repeated.
    pub(crate) fn note_unread_mix(&mut self, n_bytes: u64) {
        self.unread_mix_bytes += n_bytes;
    }

    pub(crate) fn unread_mix_bytes(&self) -> u64 {
        self.unread_mix_bytes
    }

    /// True if a pass goes through its files several times, so that a file that starts over has nothing in flight.
    pub(crate) fn goes_round(&self) -> bool {
        self.goes_round
    }

    /// Records a write in flight that is not kept, or a trim that clears a write's block.
    pub(crate) fn hold(&mut self, slot_index: u32, write: PendingWrite) {
        debug_assert!((slot_index as usize) < self.in_flight.len(), "slot {slot_index} is none of the worker");
        self.in_flight[slot_index as usize] = Some(write);
    }

    /// Records a kept write in flight. The kernel may do overlapping writes in flight in either order, so the result is
    /// unknown, and neither is read back.
    pub(crate) fn takes_off(&mut self, slot_index: u32, write: PendingWrite) {
        // The write's `push` has already forgotten those that it covers.
        if self.races && self.in_flight.iter().flatten().any(|other| other.overlaps(&write)) {
            self.pending.forget(&write);
        }
        self.hold(slot_index, write);
    }

    /// Removes the entry of a slot, which is no longer in flight.
    pub(crate) fn lands(&mut self, slot_index: u32) -> Option<PendingWrite> {
        self.in_flight.get_mut(slot_index as usize).and_then(Option::take)
    }

    /// True if the write has not landed yet.
    pub(crate) fn is_in_flight(&self, write: &PendingWrite) -> bool {
        self.in_flight.iter().flatten().any(|other| other.number == write.number)
    }

    /// The smallest number of the writes in flight to a file.
    pub(crate) fn first_in_flight(&self, file_index: u32) -> Option<u64> {
        let in_flight = self.in_flight.iter().flatten().filter(|write| write.file_index == file_index);
        in_flight.map(|write| write.number.sequence()).min()
    }

    /// Called when a sequential zone is written from this offset on: a reset has cleared all that the zone held from
    /// here on.
    pub(crate) fn forget_above(&mut self, file_index: u32, offset_bytes: u64) {
        let Some(table) = self.zones.tables().get(file_index as usize) else { return };
        let zone_bytes = table.layout().zone_bytes.max(1);
        let is_sequential = usize::try_from(offset_bytes / zone_bytes)
            .is_ok_and(|zone| zone < table.layout().n_zones && table.layout().shape(zone).is_sequential);
        if is_sequential {
            self.forget_range(file_index, offset_bytes, zone_bytes - offset_bytes % zone_bytes);
        }
    }

    /// Forgets all writes in a range, whose contents are unknown.
    pub(crate) fn forget_range(&mut self, file_index: u32, offset_bytes: u64, length_bytes: u64) {
        self.pending.forget_range(file_index, offset_bytes, length_bytes);
        if let Some(apart) = &mut self.apart {
            apart.left.forget_range(file_index, offset_bytes, length_bytes);
        }
    }

    /// Repeats a trim of an earlier run.
    pub(crate) fn trim_unwritten(&mut self, file_index: u32, offset_bytes: u64, length_bytes: u64) {
        // If the zones had refused the trim, the earlier run would have ended.
        let _ = self.zones.tables().get(file_index as usize).map(|table| table.trim(offset_bytes, length_bytes));
        self.forget_range(file_index, offset_bytes, length_bytes);
    }

    /// Marks a write as trimmed; `stays`: its place is read back as zeroes.
    pub(crate) fn trim(&mut self, write: &PendingWrite, stays: bool) {
        self.pending.trim(write, stays);
    }

    /// The same for a trim of an earlier run.
    pub(crate) fn trim_of_earlier_run(&mut self, write: &PendingWrite, stays: bool) {
        self.pending.trim(write, stays);
        if let Some(apart) = &mut self.apart {
            apart.left.trim(write, stays);
        }
    }

    /// Called after a write was kept that leaves this in its place.
    pub(crate) fn left(&mut self, write: &PendingWrite, content: WriteContent) {
        if content == WriteContent::Zeroes {
            self.trim(write, true);
        }
    }

    /// The same for a write of an earlier run.
    pub(crate) fn left_by_earlier_run(&mut self, write: &PendingWrite, content: WriteContent) {
        if content == WriteContent::Zeroes {
            self.trim_of_earlier_run(write, true);
        }
    }

    /// Called at the end of an earlier run's pass, which read back these writes. They are not read now if later passes
    /// may have overwritten parts of them. Returns those to be read now.
    pub(crate) fn keep_pass(&mut self, writes: Vec<PendingWrite>) -> Vec<PendingWrite> {
        let Some(apart) = &mut self.apart else { return writes };
        apart.n_bytes += writes.iter().map(|write| u64::from(write.length_bytes)).sum::<u64>();
        Vec::new()
    }

    /// Bytes that the passes of the earlier run read back and that are not read back now.
    pub(crate) fn unread_bytes(&self) -> u64 {
        self.apart.as_ref().map_or(0, |apart| apart.n_bytes)
    }

    /// The remaining writes of all passes of the earlier run; `None`: nothing was kept.
    pub(crate) fn take_apart(&mut self) -> Option<Vec<PendingWrite>> {
        self.apart.take().map(|mut apart| apart.left.take())
    }
}

/// A write in the form in which it is remembered. Blocks are below 4 GiB.
pub(crate) fn pending(file_index: u32, write: &Write, length_bytes: u64) -> PendingWrite {
    PendingWrite {
        file_index,
        length_bytes: u32::try_from(length_bytes).unwrap_or(u32::MAX),
        offset_bytes: write.offset_bytes,
        seed: write.seed,
        number: WriteNumber::new(write.sequence),
    }
}
