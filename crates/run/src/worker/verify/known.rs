//! Known blocks of a job. Those of the next writes are made several at once from the job's next seeds. For blocks that
//! are read back, the checksums were kept when they were written, or are made several at once too.
//!
//! Must not know: contents of blocks. Start reading at [`KnownBlocks`].

use ferrio_spec::{VerifiedWrites, VerifySpec};
use ferrio_units::random::Taus88;
use ferrio_workload::verify::block::{BlockRules, Expected, Write};
use ferrio_workload::verify::known::KnownBlock;
use ferrio_workload::verify::known::ahead::Ahead;
use ferrio_workload::verify::known::written::WrittenChecksums;
use ferrio_workload::verify::pending::PendingWrite;

/// Known blocks of writes and of reads; each part is empty where it would save nothing.
pub(crate) struct KnownBlocks {
    writes: Option<Ahead>,
    reads: Option<Ahead>,
    written: Option<WrittenChecksums>,
    /// By slot: number and seed of the write that its read reads back, if its checksums are kept.
    reading: Vec<Option<(u64, u64)>>,
}

impl KnownBlocks {
    /// `block_bytes`: length of the longest block; `iodepth`: most I/Os in flight.
    pub(crate) fn new(spec: &VerifySpec, rules: &BlockRules, block_bytes: usize, iodepth: usize) -> Self {
        // Helper threads check without known blocks, and so do jobs that do not remember their writes.
        let checks_here = spec.n_threads == 0;
        let keeps = checks_here && spec.reads_back && spec.reads != VerifiedWrites::Regenerated;
        Self {
            // A write needs its block only until it is issued, a read until it is complete.
            writes: Ahead::new(rules, block_bytes, 1),
            reads: Ahead::new(rules, block_bytes, iodepth).filter(|_| checks_here),
            written: keeps.then(|| WrittenChecksums::new(rules, block_bytes)).flatten(),
            reading: vec![None; iodepth],
        }
    }

    /// Makes the block of a write; `seeds` gives the seeds after its own.
    #[inline]
    pub(crate) fn stamp(&mut self, rules: &BlockRules, block: &mut [u8], write: &Write, seeds: &Taus88) {
        let known = self.writes.as_mut().and_then(|writes| {
            writes.prepare(write.seed, block.len(), |places| following(write.seed, seeds, places));
            writes.take(write.seed, block.len())
        });
        rules.stamp_from(block, write, known);
        if let Some(written) = &mut self.written {
            written.keep(write.sequence, write.seed, block);
        }
    }

    /// Called before a read is issued from a slot. It reads back the first of these writes; the others are read after
    /// it.
    #[inline]
    pub(crate) fn prepare_reads(&mut self, slot_index: u32, writes: &[PendingWrite]) {
        let Some(first) = writes.first() else { return };
        let (number, seed, length_bytes) = (first.number.sequence(), first.seed, first.length_bytes as usize);
        let is_kept = self.written.as_ref().is_some_and(|written| written.has(number, seed, length_bytes));
        self.reading[slot_index as usize] = is_kept.then_some((number, seed));
        if let (false, Some(reads)) = (is_kept, &mut self.reads) {
            reads.prepare(seed, length_bytes, |places| seeds_of(writes, places));
        }
    }

    /// The same if only the seed is known; `seeds` gives the seeds after it.
    pub(crate) fn prepare_regenerated(&mut self, seed: u64, length_bytes: usize, seeds: &Taus88) {
        if let Some(reads) = &mut self.reads {
            reads.prepare(seed, length_bytes, |places| following(seed, seeds, places));
        }
    }

    /// The expected block of a read, if it is known.
    #[inline]
    pub(crate) fn of_read(
        &mut self,
        slot_index: u32,
        expected: &Expected,
        length_bytes: usize,
    ) -> Option<KnownBlock<'_>> {
        match (self.reading[slot_index as usize].take(), &mut self.written) {
            (Some((number, seed)), Some(written)) => written.block(number, seed, length_bytes),
            _ => self.reads.as_mut()?.take(expected.seed?, length_bytes),
        }
    }

    /// Length of the kept checksums, bytes.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.written.as_ref().map_or(0, WrittenChecksums::n_bytes)
    }
}

/// A seed, and those that come after it.
fn following(seed: u64, seeds: &Taus88, places: &mut [u64]) -> bool {
    let mut seeds = seeds.clone();
    for (index, place) in places.iter_mut().enumerate() {
        *place = if index == 0 { seed } else { seeds.buffer_seed() };
    }
    true
}

/// The seeds of the first writes; false: there are too few, or they differ in length, or a block was trimmed.
fn seeds_of(writes: &[PendingWrite], places: &mut [u64]) -> bool {
    let Some(writes) = writes.get(..places.len()) else { return false };
    for (place, write) in places.iter_mut().zip(writes) {
        if write.length_bytes != writes[0].length_bytes || write.number.is_trimmed() {
            return false;
        }
        *place = write.seed;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::checkers::tests::spec;
    use super::*;
    use ferrio_spec::{VerifyContentSpec, VerifyMethod};
    use ferrio_workload::verify::pending::WriteNumber;

    fn write(seed: u64, length_bytes: u32) -> PendingWrite {
        PendingWrite { file_index: 0, length_bytes, offset_bytes: 0, seed, number: WriteNumber::new(seed) }
    }

    #[test]
    fn seeds_are_those_of_writes_of_one_length() {
        let writes: Vec<PendingWrite> = (0..10).map(|seed| write(seed, 4096)).collect();
        let mut places = [0; 8];
        assert!(seeds_of(&writes, &mut places));
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(seeds_of(&writes[2..], &mut places));
        assert_eq!(places, [2, 3, 4, 5, 6, 7, 8, 9]);
        assert!(!seeds_of(&writes[3..], &mut places), "seven are left");
        let mut others = writes;
        others[4] = write(4, 512);
        assert!(!seeds_of(&others, &mut places));
    }

    #[test]
    fn seeds_that_follow_are_the_next_of_the_job() {
        let mut seeds = Taus88::new(7);
        let first = seeds.buffer_seed();
        let mut places = [0; 8];
        assert!(following(first, &seeds, &mut places));
        assert_eq!(places[1..], std::array::from_fn::<u64, 7, _>(|_| seeds.buffer_seed()));
        assert_eq!(places[0], first);
    }

    /// With SHA-512, blocks are made one at a time, so that reads have no other known blocks.
    fn known(reads: VerifiedWrites, n_threads: u32) -> (KnownBlocks, BlockRules) {
        let spec = spec(n_threads, None);
        let content = VerifyContentSpec { method: VerifyMethod::Sha512, ..spec.content.clone() };
        let rules = BlockRules::new(content, 1);
        (KnownBlocks::new(&VerifySpec { reads, ..spec }, &rules, 4096, 2), rules)
    }

    fn stamped(known: &mut KnownBlocks, rules: &BlockRules, number: u64) -> (PendingWrite, Vec<u8>) {
        let write = Write { offset_bytes: number * 4096, seed: number + 70, sequence: number, start_ns: 0 };
        let mut block = vec![0; 4096];
        known.stamp(rules, &mut block, &write, &Taus88::new(1));
        let number = WriteNumber::new(number);
        let (offset_bytes, seed) = (write.offset_bytes, write.seed);
        (PendingWrite { file_index: 0, length_bytes: 4096, offset_bytes, seed, number }, block)
    }

    /// Reads in flight together, of which the later completes first: each gets the block of its own write, and only
    /// once.
    #[test]
    fn what_a_slot_reads_is_known() {
        let (mut known, rules) = known(VerifiedWrites::Done, 0);
        let [(first, first_block), (second, second_block)] = [0, 1].map(|number| stamped(&mut known, &rules, number));
        known.prepare_reads(0, &[first, second]);
        known.prepare_reads(1, &[second]);
        for (slot, write, mut block) in [(1, second, second_block), (0, first, first_block)] {
            let expected = Expected {
                offset_bytes: write.offset_bytes,
                seed: Some(write.seed),
                sequence: Some(write.number.sequence()),
                is_trimmed: false,
            };
            let found = known.of_read(slot, &expected, 4096);
            assert!(found.is_some(), "{slot}");
            assert_eq!(rules.check_from(&mut block, &expected, found), Ok(()));
            assert!(known.of_read(slot, &expected, 4096).is_none(), "{slot}");
        }
        assert!(known.kept_bytes() > 0);
    }

    #[test]
    fn nothing_is_kept_without_use() {
        for (reads, n_threads) in [(VerifiedWrites::Regenerated, 0), (VerifiedWrites::Done, 2)] {
            let (mut known, rules) = known(reads, n_threads);
            stamped(&mut known, &rules, 0);
            assert_eq!(known.kept_bytes(), 0, "{reads:?} {n_threads}");
        }
    }
}
