//! Which blocks are made before they are needed: those of the next writes, by the next seeds of the job, and those of the next reads
//! of what was written.
//!
//! Must not know: what stands in blocks. Start reading at [`BlocksAhead`].

use ferrio_units::random::Taus88;
use ferrio_workload::verify::ahead::{Ahead, KnownBlock};
use ferrio_workload::verify::block::{BlockRules, Expected};
use ferrio_workload::verify::pending::PendingWrite;

/// Blocks of writes and of reads; none where it would save nothing.
pub(super) struct BlocksAhead {
    writes: Option<Ahead>,
    reads: Option<Ahead>,
}

impl BlocksAhead {
    /// `iodepth`: I/Os that may be in flight at once.
    pub(super) fn new(rules: &BlockRules, block_bytes: usize, iodepth: usize) -> Self {
        // A write is done with its block when it is issued, a read when it is complete.
        Self { writes: Ahead::new(rules, block_bytes, 1), reads: Ahead::new(rules, block_bytes, iodepth) }
    }

    /// The block of a write; `seeds` makes the seeds after its own.
    #[inline]
    pub(super) fn of_write(&mut self, seed: u64, length_bytes: usize, seeds: &Taus88) -> Option<KnownBlock<'_>> {
        let writes = self.writes.as_mut()?;
        writes.prepare(seed, length_bytes, |places| following(seed, seeds, places));
        writes.take(seed, length_bytes)
    }

    /// A read is about to be issued, of the first of these writes; those of the others follow.
    #[inline]
    pub(super) fn prepare_reads(&mut self, writes: &[PendingWrite]) {
        if let (Some(reads), Some(first)) = (&mut self.reads, writes.first()) {
            reads.prepare(first.seed, first.length_bytes as usize, |places| seeds_of(writes, places));
        }
    }

    /// The same where nothing but the seed is known; `seeds` makes those after it.
    pub(super) fn prepare_regenerated(&mut self, seed: u64, length_bytes: usize, seeds: &Taus88) {
        if let Some(reads) = &mut self.reads {
            reads.prepare(seed, length_bytes, |places| following(seed, seeds, places));
        }
    }

    /// What a read must give, if it was made.
    #[inline]
    pub(super) fn of_read(&mut self, expected: &Expected, length_bytes: usize) -> Option<KnownBlock<'_>> {
        self.reads.as_mut()?.take(expected.seed?, length_bytes)
    }
}

/// A seed and those that come after it.
fn following(seed: u64, seeds: &Taus88, places: &mut [u64]) -> bool {
    let mut seeds = seeds.clone();
    for (index, place) in places.iter_mut().enumerate() {
        *place = if index == 0 { seed } else { seeds.buffer_seed() };
    }
    true
}

/// The seeds of the first writes; false: there are too few, or they differ in length, or were trimmed.
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
    use super::*;
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
}
