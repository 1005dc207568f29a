//! Expected results of reads, by the slots from which they are issued.
//!
//! Must not know: contents of blocks, the list of writes. Start reading at [`Expectations`].

use crate::plan::WorkerPlan;
use ferrio_spec::VerifySpec;
use ferrio_workload::verify::block::Expected;
use ferrio_workload::verify::pending::PendingWrite;

/// Expected results of the reads in flight.
pub(crate) struct Expectations {
    /// By slot; `None`: the read is not checked.
    in_flight: Vec<Option<Expected>>,
    /// Reads of the job itself are checked, using their own headers.
    checks_own_reads: bool,
    /// The engine moves no data, so any result of a read is right.
    is_blind: bool,
    checks_seed: bool,
    checks_sequence: bool,
}

impl Expectations {
    pub(crate) fn new(plan: &WorkerPlan, spec: &VerifySpec) -> Self {
        Self {
            in_flight: vec![None; plan.queue().iodepth as usize],
            checks_own_reads: !plan.writes(),
            is_blind: plan.engine.def.drops_data(),
            checks_seed: spec.checks_seed,
            checks_sequence: spec.checks_sequence,
        }
    }

    /// True if reads of the job itself are checked.
    pub(crate) fn checks_own_reads(&self) -> bool {
        self.checks_own_reads
    }

    /// Expected result of reading a write back.
    pub(crate) fn of_write(&self, write: &PendingWrite) -> Expected {
        let expected = self.of_numbers(write.offset_bytes, write.seed, write.number.sequence());
        Expected { is_trimmed: write.number.is_trimmed(), ..expected }
    }

    /// The same for a write with these numbers.
    pub(crate) fn of_numbers(&self, offset_bytes: u64, seed: u64, sequence: u64) -> Expected {
        Expected {
            offset_bytes,
            seed: self.checks_seed.then_some(seed),
            sequence: self.checks_sequence.then_some(sequence),
            is_trimmed: false,
        }
    }

    /// Expected result of a read of the job itself.
    pub(crate) fn of_own_read(&self, offset_bytes: u64) -> Option<Expected> {
        self.checks_own_reads.then_some(Expected { offset_bytes, seed: None, sequence: None, is_trimmed: false })
    }

    /// Called before a read is issued.
    pub(crate) fn issue(&mut self, slot_index: u32, expected: Option<Expected>) {
        self.in_flight[slot_index as usize] = expected;
    }

    /// True if the contents of the read in flight in this slot will be checked.
    pub(crate) fn checks(&self, slot_index: u32) -> bool {
        !self.is_blind && self.in_flight[slot_index as usize].is_some()
    }

    /// Called after a read is done: its expected result; `None`: anything.
    pub(crate) fn done(&mut self, slot_index: u32) -> Option<Expected> {
        self.in_flight[slot_index as usize].take().filter(|_| !self.is_blind)
    }
}
