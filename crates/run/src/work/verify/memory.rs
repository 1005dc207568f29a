//! What a job remembers of its writes: those that are to be read back, and those in flight.
//!
//! Must not know: blocks, trims, loops. Start reading at [`WriteMemory`].

use super::allowed::keeps_passes_apart;
use crate::files::FileSet;
use crate::plan::WorkerPlan;
use crate::zones::ZonedFiles;
use ferrio_workload::shape::Shape;
use ferrio_workload::verify::pending::{PendingWrite, PendingWrites, TooMany};

/// What the passes of an earlier run left (`verify_only`).
struct PassesApart {
    /// The newest writes of all passes so far.
    left: PendingWrites,
    /// Bytes that the passes of that run read back.
    n_bytes: u64,
}

/// What a job remembers.
pub(crate) struct WriteMemory {
    pending: PendingWrites,
    /// By slot: the write in flight, or the one that a trim in flight takes away.
    in_flight: Vec<Option<PendingWrite>>,
    /// Writes in flight may lie over each other.
    races: bool,
    /// Zones that are written in sequence.
    zones: ZonedFiles,
    /// What the passes of an earlier run left, until the last of them.
    apart: Option<Box<PassesApart>>,
}

impl WriteMemory {
    pub(crate) fn new(plan: &WorkerPlan, set: &FileSet, shape: Shape) -> Self {
        let pending = PendingWrites::new(shape.overlaps());
        Self {
            // What a trim or another job takes away in a zone has to be found by its place, but as with fio 3.41 writes are read
            // back in their order.
            pending: if shape.fills_zones_once { pending.in_order_of_numbers() } else { pending },
            in_flight: vec![None; plan.queue().iodepth as usize],
            races: shape.overlaps_unwaited() && !plan.serializes(),
            zones: set.zones.clone(),
            apart: keeps_passes_apart(plan, set, shape)
                .then(|| Box::new(PassesApart { left: PendingWrites::new(true), n_bytes: 0 })),
        }
    }

    /// What is to be read back.
    pub(crate) fn pending(&self) -> &PendingWrites {
        &self.pending
    }

    /// The same, to be changed.
    pub(crate) fn pending_mut(&mut self) -> &mut PendingWrites {
        &mut self.pending
    }

    /// They are kept by their places: a write of a pass may lie over another of it.
    pub(crate) fn is_by_place(&self) -> bool {
        self.pending.is_by_place()
    }

    /// Keeps a write to be read back.
    ///
    /// # Errors
    /// There are more writes than can be remembered.
    pub(crate) fn push(&mut self, write: PendingWrite) -> Result<(), TooMany> {
        self.pending.push(write)
    }

    /// The same of a write that an earlier run did.
    ///
    /// # Errors
    /// There are more writes than can be remembered.
    pub(crate) fn push_unwritten(&mut self, write: PendingWrite) -> Result<(), TooMany> {
        self.pending.push(write)?;
        self.apart.as_mut().map_or(Ok(()), |apart| apart.left.push(write))
    }

    /// A write that is not kept is in flight, or a trim that takes one away.
    pub(crate) fn hold(&mut self, slot_index: u32, write: PendingWrite) {
        self.in_flight[slot_index as usize] = Some(write);
    }

    /// A write that is kept is in flight. Of writes that are in flight together the kernel may do either first: where one lies
    /// over another, nobody knows what is there, and neither is read back.
    pub(crate) fn takes_off(&mut self, slot_index: u32, write: PendingWrite) {
        // Those under it were forgotten with its push.
        if self.races && self.in_flight.iter().flatten().any(|other| other.overlaps(&write)) {
            self.pending.forget(&write);
        }
        self.hold(slot_index, write);
    }

    /// What a slot held is no longer in flight.
    pub(crate) fn lands(&mut self, slot_index: u32) -> Option<PendingWrite> {
        self.in_flight.get_mut(slot_index as usize).and_then(Option::take)
    }

    /// The write has not landed.
    pub(crate) fn is_in_flight(&self, write: &PendingWrite) -> bool {
        self.in_flight.iter().flatten().any(|other| other.number == write.number)
    }

    /// The smallest number of the writes to a file that are in flight.
    pub(crate) fn first_in_flight(&self, file_index: u32) -> Option<u64> {
        let in_flight = self.in_flight.iter().flatten().filter(|write| write.file_index == file_index);
        in_flight.map(|write| write.number.sequence()).min()
    }

    /// A sequential zone is written from here on: what it held here and above was taken away by a reset, whoever did it.
    pub(crate) fn forget_above(&mut self, file_index: u32, offset_bytes: u64) {
        let Some(table) = self.zones.tables().get(file_index as usize) else { return };
        let zone_bytes = table.layout().zone_bytes.max(1);
        let is_sequential = usize::try_from(offset_bytes / zone_bytes)
            .is_ok_and(|zone| zone < table.layout().n_zones && table.layout().shape(zone).is_sequential);
        if is_sequential {
            self.forget_range(file_index, offset_bytes, zone_bytes - offset_bytes % zone_bytes);
        }
    }

    /// Of a range nothing is known any more.
    pub(crate) fn forget_range(&mut self, file_index: u32, offset_bytes: u64, length_bytes: u64) {
        self.pending.forget_range(file_index, offset_bytes, length_bytes);
        if let Some(apart) = &mut self.apart {
            apart.left.forget_range(file_index, offset_bytes, length_bytes);
        }
    }

    /// A trim that an earlier run did.
    pub(crate) fn trim_unwritten(&mut self, file_index: u32, offset_bytes: u64, length_bytes: u64) {
        // A trim that the device of zones refused ended that run.
        let _ = self.zones.tables().get(file_index as usize).map(|table| table.trim(offset_bytes, length_bytes));
        self.forget_range(file_index, offset_bytes, length_bytes);
    }

    /// A write is trimmed again; `stays`: its place is read back as zeroes.
    pub(crate) fn trim(&mut self, write: &PendingWrite, stays: bool) {
        self.pending.trim(write, stays);
    }

    /// The same in an earlier run.
    pub(crate) fn trim_of_earlier_run(&mut self, write: &PendingWrite, stays: bool) {
        self.pending.trim(write, stays);
        if let Some(apart) = &mut self.apart {
            apart.left.trim(write, stays);
        }
    }

    /// A pass of the earlier run is over, which read back these: now they are not, where the passes after it may have written
    /// over parts of them. Gives back what is to be read now.
    pub(crate) fn keep_pass(&mut self, writes: Vec<PendingWrite>) -> Vec<PendingWrite> {
        let Some(apart) = &mut self.apart else { return writes };
        apart.n_bytes += writes.iter().map(|write| u64::from(write.length_bytes)).sum::<u64>();
        Vec::new()
    }

    /// Bytes that the passes of the earlier run read back, where they are not read back now.
    pub(crate) fn unread_bytes(&self) -> u64 {
        self.apart.as_ref().map_or(0, |apart| apart.n_bytes)
    }

    /// What all passes of the earlier run left; `None`: nothing was kept apart.
    pub(crate) fn take_apart(&mut self) -> Option<Vec<PendingWrite>> {
        self.apart.take().map(|mut apart| apart.left.take())
    }
}
