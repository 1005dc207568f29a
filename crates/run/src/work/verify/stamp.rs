//! What stands in blocks: made for writes, and what reads gave is checked against it.
//!
//! Must not know: slots, what is remembered. Start reading at [`Stamping::stamp`], then [`Stamping::check`].

use super::checkers::Faulty;
use super::known::KnownBlocks;
use crate::plan::WorkerPlan;
use ferrio_spec::{VerifyForm, VerifySpec};
use ferrio_units::random::{SeedIndex, Taus88};
use ferrio_workload::verify::block::{BlockRules, Expected, Write};
use ferrio_workload::verify::pending::PendingWrite;

/// Makes blocks, and checks them.
pub(crate) struct Stamping {
    rules: BlockRules,
    /// What is known of blocks before they are written or read.
    known: KnownBlocks,
    /// The seeds of the next writes.
    seeds: Taus88,
    /// The number of the next write.
    n_writes: u64,
    /// All methods make what stands in blocks but that which checks nothing.
    makes_contents: bool,
}

impl Stamping {
    pub(crate) fn new(plan: &WorkerPlan, spec: &VerifySpec, block_bytes: usize) -> Self {
        // Job numbers of headers have 16 bits.
        let rules = BlockRules::new(spec.content.clone(), plan.thread_number as u16);
        let rules = if spec.recognises_layouts { rules.recognising() } else { rules };
        Self {
            known: KnownBlocks::new(spec, &rules, block_bytes, plan.queue().iodepth as usize),
            rules,
            seeds: Taus88::from_table(&plan.seeds, SeedIndex::Verify),
            n_writes: 0,
            makes_contents: spec.content.method.def().form != VerifyForm::Nothing,
        }
    }

    pub(crate) fn rules(&self) -> &BlockRules {
        &self.rules
    }

    pub(crate) fn makes_contents(&self) -> bool {
        self.makes_contents
    }

    /// The number of the next write.
    pub(crate) fn n_writes(&self) -> u64 {
        self.n_writes
    }

    /// The seeds of the next writes, from where they stand.
    pub(crate) fn seeds(&self) -> Taus88 {
        self.seeds.clone()
    }

    /// The next write, of which no block is made.
    pub(crate) fn next(&mut self, offset_bytes: u64, start_ns: u64) -> Write {
        let write = Write { offset_bytes, seed: self.seeds.buffer_seed(), sequence: self.n_writes, start_ns };
        self.n_writes += 1;
        write
    }

    /// Makes the block of the next write.
    pub(crate) fn stamp(&mut self, block: &mut [u8], offset_bytes: u64, start_ns: u64) -> Write {
        let write = self.next(offset_bytes, start_ns);
        if self.makes_contents {
            self.known.stamp(&self.rules, block, &write, &self.seeds);
        }
        write
    }

    /// A read is about to be issued from a slot, of the first of these writes; those of the others follow.
    pub(crate) fn prepare_reads(&mut self, slot_index: u32, writes: &[PendingWrite]) {
        self.known.prepare_reads(slot_index, writes);
    }

    /// The same where nothing but the seed is known; `seeds` makes those after it.
    pub(crate) fn prepare_regenerated(&mut self, seed: u64, length_bytes: usize, seeds: &Taus88) {
        self.known.prepare_regenerated(seed, length_bytes, seeds);
    }

    /// Checks what a read gave.
    pub(crate) fn check(
        &mut self,
        slot_index: u32,
        file_index: u32,
        block: &mut [u8],
        expected: Expected,
    ) -> Option<Faulty> {
        let known = self.known.of_read(slot_index, &expected, block.len());
        let fault = self.rules.check_from(block, &expected, known).err()?;
        Some(Faulty { file_index, expected, fault, received: block.to_vec() })
    }

    /// Bytes of the checksums that are kept by now.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.known.kept_bytes()
    }
}
