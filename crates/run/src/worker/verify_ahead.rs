//! Which blocks are made before they are needed: those of the next writes, by the next seeds of the job, and those of the next reads
//! of what was written.
//!
//! Must not know: what stands in blocks. Start reading at [`BlocksAhead`].

use ferrio_units::random::Taus88;
use ferrio_workload::verify::ahead::{Ahead, GROUP, KnownBlock};
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
        writes.prepare(seed, length_bytes, || Some(following(seed, seeds)));
        writes.take(seed, length_bytes)
    }

    /// A read is about to be issued, of the first of these writes; those of the others follow.
    #[inline]
    pub(super) fn prepare_reads(&mut self, writes: &[PendingWrite]) {
        if let (Some(reads), Some(first)) = (&mut self.reads, writes.first()) {
            reads.prepare(first.seed, first.length_bytes as usize, || seeds_of(writes));
        }
    }

    /// The same where nothing but the seed is known; `seeds` makes those after it.
    pub(super) fn prepare_regenerated(&mut self, seed: u64, length_bytes: usize, seeds: &Taus88) {
        if let Some(reads) = &mut self.reads {
            reads.prepare(seed, length_bytes, || Some(following(seed, seeds)));
        }
    }

    /// What a read must give, if it was made.
    #[inline]
    pub(super) fn of_read(&mut self, expected: &Expected, length_bytes: usize) -> Option<KnownBlock<'_>> {
        self.reads.as_mut()?.take(expected.seed?, length_bytes)
    }
}

/// A seed and those that come after it.
fn following(seed: u64, seeds: &Taus88) -> [u64; GROUP] {
    let mut seeds = seeds.clone();
    std::array::from_fn(|index| if index == 0 { seed } else { seeds.buffer_seed() })
}

/// The seeds of the first writes; `None`: there are too few, or they differ in length, or were trimmed.
fn seeds_of(writes: &[PendingWrite]) -> Option<[u64; GROUP]> {
    let writes = writes.first_chunk::<GROUP>()?;
    let are_alike =
        writes.iter().all(|write| write.length_bytes == writes[0].length_bytes && !write.number.is_trimmed());
    are_alike.then(|| writes.map(|write| write.seed))
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
        assert_eq!(seeds_of(&writes), Some([0, 1, 2, 3, 4, 5, 6, 7]));
        assert_eq!(seeds_of(&writes[2..]), Some([2, 3, 4, 5, 6, 7, 8, 9]));
        assert_eq!(seeds_of(&writes[3..]), None, "seven are left");
        let mut others = writes;
        others[4] = write(4, 512);
        assert_eq!(seeds_of(&others), None);
    }

    #[test]
    fn seeds_that_follow_are_the_next_of_the_job() {
        let mut seeds = Taus88::new(7);
        let first = seeds.buffer_seed();
        let ahead = following(first, &seeds);
        assert_eq!(ahead[1..], std::array::from_fn::<u64, 7, _>(|_| seeds.buffer_seed()));
        assert_eq!(ahead[0], first);
    }
}
