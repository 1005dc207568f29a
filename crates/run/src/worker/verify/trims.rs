//! Trims in a verified job: those of its mix, and those of written blocks (`trim_percentage`).
//!
//! A trim and a write to the same place must not be in flight together, because the result would be unknown. So nothing
//! else is issued while a trim is in flight, and a block is trimmed only after its write has landed.
//!
//! Must not know: the choice of blocks, headers. Start reading at [`Trims::next`].

use super::memory::WriteMemory;
use crate::plan::WorkerPlan;
use crate::worker::core::slots::Slot;
use ferrio_spec::{DirectionMix, VerifySpec};
use ferrio_workload::verify::pending::PendingWrite;
use ferrio_workload::verify::trims::TrimBacklog;

/// True if a verified job has trims, so that each I/O has to wait for a trim in flight or due.
pub(crate) fn has_trims(plan: &WorkerPlan) -> bool {
    let mixes = plan.spec.pattern.mix == DirectionMix::TrimWrite;
    let mixes = mixes || plan.spec.replay.is_set();
    plan.spec.verify.as_ref().is_some_and(|verify| verify.trims.is_some() || (verify.reads_back && mixes))
}

/// The next step of a job that inserts trims.
pub(crate) enum TrimStep {
    /// An I/O in flight has to land first.
    Wait,
    /// The block of this write is trimmed now.
    Trim(PendingWrite),
    /// The next I/O of the job itself may come.
    NoTrim,
}

/// The trims of a verified job.
pub(crate) struct Trims {
    /// Writes that are to be trimmed again.
    backlog: Option<TrimBacklog>,
    /// The write whose block is to be trimmed when it has landed.
    awaited: Option<PendingWrite>,
    /// The write that the next trim belongs to.
    present: Option<PendingWrite>,
    n_in_flight: u32,
    /// Number of trims of written blocks so far.
    n_between: u64,
    has_any: bool,
}

impl Trims {
    pub(crate) fn new(plan: &WorkerPlan, spec: &VerifySpec) -> Self {
        Self {
            backlog: spec.trims.map(|trims| TrimBacklog::new(trims, &plan.seeds)),
            awaited: None,
            present: None,
            n_in_flight: 0,
            n_between: 0,
            has_any: has_trims(plan),
        }
    }

    /// True if some writes are trimmed again.
    pub(crate) fn takes_writes(&self) -> bool {
        self.backlog.is_some()
    }

    /// Number of trims of written blocks so far.
    pub(crate) fn n_between(&self) -> u64 {
        self.n_between
    }

    /// Called after a write.
    pub(crate) fn wrote(&mut self, write: PendingWrite) {
        if let Some(backlog) = &mut self.backlog {
            backlog.wrote(write);
        }
    }

    /// Called before a read or a trim is issued.
    pub(crate) fn note(&mut self, is_trim: bool) {
        if let Some(backlog) = &mut self.backlog {
            backlog.issued(is_trim);
        }
    }

    pub(crate) fn end_pass(&mut self) {
        self.awaited = None;
        if let Some(backlog) = &mut self.backlog {
            backlog.end_pass();
        }
    }

    /// Called before a trim is issued from a slot.
    pub(crate) fn issue(&mut self, slot_index: u32, slot: &Slot, memory: &mut WriteMemory) {
        if !self.has_any {
            return;
        }
        self.n_in_flight += 1;
        self.note(true);
        if let Some(write) = self.present.take() {
            self.n_between += 1;
            let stays = self.backlog.as_ref().is_some_and(TrimBacklog::checks_zeroes);
            memory.trim(&write, stays);
            memory.hold(slot_index, write);
        } else {
            memory.pending_mut().forget_range(
                slot.unit.file_index,
                slot.unit.offset_bytes,
                slot.unit.length_bytes as u64,
            );
        }
    }

    /// Called after a trim has landed; if it failed, the contents of its range are unknown.
    pub(crate) fn lands(&mut self, slot_index: u32, has_failed: bool, memory: &mut WriteMemory) {
        self.n_in_flight = self.n_in_flight.saturating_sub(1);
        if let Some(write) = memory.lands(slot_index).filter(|_| has_failed) {
            memory.trim(&write, false);
        }
    }

    /// The step before the next I/O of the job. To be asked again after each step but the last.
    pub(crate) fn next(&mut self, memory: &WriteMemory) -> TrimStep {
        if self.n_in_flight > 0 {
            return TrimStep::Wait;
        }
        while let Some(write) = self.awaited.take().or_else(|| self.backlog.as_mut()?.next(memory.pending())) {
            if memory.is_in_flight(&write) {
                self.awaited = Some(write);
                return TrimStep::Wait;
            }
            // A write that has failed is gone.
            if memory.pending().has(&write) {
                self.present = Some(write);
                return TrimStep::Trim(write);
            }
        }
        TrimStep::NoTrim
    }

    /// True if writes wait for their trims; not called in jobs without inserted trims.
    pub(crate) fn has_waiting(&mut self, memory: &WriteMemory) -> bool {
        self.backlog.as_mut().is_none_or(|backlog| backlog.has_waiting(memory.pending()))
    }

    /// Remembers the inserted trims of an earlier run up to now.
    pub(crate) fn remember_due(&mut self, memory: &mut WriteMemory) {
        let Some(backlog) = &mut self.backlog else { return };
        while let Some(write) = backlog.next(memory.pending()) {
            self.n_between += 1;
            memory.trim_of_earlier_run(&write, backlog.checks_zeroes());
        }
    }
}
