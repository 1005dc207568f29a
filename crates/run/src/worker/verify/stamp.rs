//! Contents of blocks: makes them for writes, and checks the results of reads.
//!
//! Must not know: slots, the remembered writes. Start reading at [`Stamping::stamp`], then [`Stamping::check`].

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
    /// Contents of blocks that are known before they are written or read.
    known: KnownBlocks,
    /// Random stream for the seeds of the next writes.
    seeds: Taus88,
    /// Number of the next write.
    n_writes: u64,
    /// True with any method except for the one that checks nothing.
    makes_contents: bool,
}

impl Stamping {
    pub(crate) fn new(plan: &WorkerPlan, spec: &VerifySpec, block_bytes: usize) -> Self {
        // Fits: job numbers in headers have 16 bits.
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

    /// Number of the next write.
    pub(crate) fn n_writes(&self) -> u64 {
        self.n_writes
    }

    /// The random stream for the seeds of the next writes, in its present state.
    pub(crate) fn seeds(&self) -> Taus88 {
        self.seeds.clone()
    }

    /// The next write, without its block.
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

    /// Makes the block of an earlier write again, of a job whose blocks have no time.
    pub(crate) fn remake(&self, block: &mut [u8], write: &PendingWrite) {
        if write.number.is_trimmed() {
            return block.fill(0);
        }
        let (seed, sequence) = (write.seed, write.number.sequence());
        let write = Write { offset_bytes: write.offset_bytes, seed, sequence, start_ns: 0 };
        self.rules.stamp_from(block, &write, None);
    }

    /// Called before a read is issued from a slot. It reads back the first of these writes; the others are read after
    /// it.
    pub(crate) fn prepare_reads(&mut self, slot_index: u32, writes: &[PendingWrite]) {
        self.known.prepare_reads(slot_index, writes);
    }

    /// The same if only the seed is known; `seeds` gives the seeds after it.
    pub(crate) fn prepare_regenerated(&mut self, seed: u64, length_bytes: usize, seeds: &Taus88) {
        self.known.prepare_regenerated(seed, length_bytes, seeds);
    }

    /// Checks the result of a read.
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

    /// Length of the kept checksums, bytes.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.known.kept_bytes()
    }
}
