//! Trims in a verified job: those of its mix, and those of blocks that it wrote (`trim_percentage`).
//!
//! A trim and a write over one place must not be in flight together: nobody would know what is there. So while a trim is in
//! flight nothing else is issued, and a block is trimmed once its write has landed.
//!
//! Must not know: which blocks are chosen, headers. Start reading at [`Worker::trim_between`].

use super::slots::Slot;
use super::verify::Verifier;
use super::{Stop, Worker};
use crate::plan::WorkerPlan;
use ferrio_job::spec::DirectionMix;
use ferrio_units::Direction;
use ferrio_workload::NextIo;
use ferrio_workload::verify::pending::PendingWrite;
use ferrio_workload::verify::trims::TrimBacklog;

/// There are trims in what a job verifies: before each I/O somebody has to see whether one is in flight or due.
pub(super) fn has_trims(plan: &WorkerPlan) -> bool {
    let mixes = plan.spec.pattern.mix == DirectionMix::TrimWrite;
    let mixes = mixes || plan.spec.replay.is_set();
    plan.spec.verify.as_ref().is_some_and(|verify| verify.trims.is_some() || (verify.reads_back && mixes))
}

impl Verifier {
    /// A trim is about to be issued from a slot.
    pub(super) fn trim_issued(&mut self, slot_index: u32, slot: &Slot) {
        if !self.has_trims {
            return;
        }
        self.n_trims_in_flight += 1;
        if let Some(write) = self.present_trim.take() {
            let stays = self.trims.as_ref().is_some_and(TrimBacklog::checks_zeroes);
            self.pending.trim(&write, stays);
            self.in_flight[slot_index as usize] = Some(write);
        } else {
            self.pending.forget_range(slot.unit.file_index, slot.unit.offset, slot.unit.length as u64);
        }
    }

    /// A trim has landed; where it failed, nothing is known of what it lies over.
    pub(super) fn trim_landed(&mut self, slot_index: u32, has_failed: bool) {
        self.n_trims_in_flight = self.n_trims_in_flight.saturating_sub(1);
        let trimmed = self.in_flight.get_mut(slot_index as usize).and_then(Option::take);
        if let Some(write) = trimmed.filter(|_| has_failed) {
            self.pending.trim(&write, false);
        }
    }

    fn is_in_flight(&self, write: &PendingWrite) -> bool {
        self.in_flight.iter().flatten().any(|other| other.number == write.number)
    }
}

impl Worker<'_> {
    /// Before each I/O of a job with trims: waits for the trim in flight. True: a trim of what was written comes first.
    pub(super) fn trim_between(&mut self) -> Result<bool, Stop> {
        while self.verifier.as_ref().is_some_and(|verifier| verifier.n_trims_in_flight > 0) {
            self.collect_some()?;
        }
        let Some(write) = self.next_trim()? else { return Ok(false) };
        self.workload.put_between(NextIo {
            direction: Direction::Trim,
            file_index: write.file_index,
            offset_bytes: write.offset_bytes,
            length_bytes: write.length_bytes.into(),
        });
        Ok(true)
    }

    /// What is to be trimmed now; its write has landed.
    fn next_trim(&mut self) -> Result<Option<PendingWrite>, Stop> {
        loop {
            let Some(verifier) = self.verifier.as_mut() else { return Ok(None) };
            let Verifier { trims, pending, .. } = verifier.as_mut();
            let Some(write) = trims.as_mut().and_then(|trims| trims.next(pending)) else { return Ok(None) };
            while self.verifier.as_ref().is_some_and(|verifier| verifier.is_in_flight(&write)) {
                self.collect_some()?;
            }
            // It may have failed.
            if let Some(verifier) = self.verifier.as_mut().filter(|verifier| verifier.pending.has(&write)) {
                verifier.present_trim = Some(write);
                return Ok(Some(write));
            }
        }
    }
}
