//! What reads must give, by the slots that they are issued from.
//!
//! Must not know: what is in blocks, which writes there were. Start reading at [`Expectations`].

use crate::plan::WorkerPlan;
use ferrio_spec::VerifySpec;
use ferrio_workload::verify::block::Expected;
use ferrio_workload::verify::pending::PendingWrite;

/// What the reads in flight must give.
pub(crate) struct Expectations {
    /// By slot; `None`: the read is not checked.
    in_flight: Vec<Option<Expected>>,
    /// Reads of the job itself are checked, by what their headers say.
    checks_own_reads: bool,
    /// The engine moves no data: whatever it reads is right.
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

    /// Reads of the job itself are checked.
    pub(crate) fn checks_own_reads(&self) -> bool {
        self.checks_own_reads
    }

    /// What the read of a write must give.
    pub(crate) fn of_write(&self, write: &PendingWrite) -> Expected {
        let expected = self.of_numbers(write.offset_bytes, write.seed, write.number.sequence());
        Expected { is_trimmed: write.number.is_trimmed(), ..expected }
    }

    /// The same of one of which this is known.
    pub(crate) fn of_numbers(&self, offset_bytes: u64, seed: u64, sequence: u64) -> Expected {
        Expected {
            offset_bytes,
            seed: self.checks_seed.then_some(seed),
            sequence: self.checks_sequence.then_some(sequence),
            is_trimmed: false,
        }
    }

    /// What a read of the job itself must give.
    pub(crate) fn of_own_read(&self, offset_bytes: u64) -> Option<Expected> {
        self.checks_own_reads.then_some(Expected { offset_bytes, seed: None, sequence: None, is_trimmed: false })
    }

    /// A read is about to be issued.
    pub(crate) fn issue(&mut self, slot_index: u32, expected: Option<Expected>) {
        self.in_flight[slot_index as usize] = expected;
    }

    /// A read is done: what it must have given; `None`: anything.
    pub(crate) fn done(&mut self, slot_index: u32) -> Option<Expected> {
        self.in_flight[slot_index as usize].take().filter(|_| !self.is_blind)
    }
}
