//! The seeds of a job: one for each purpose, so that, say, the mix of reads and writes does not shift the offsets.
//!
//! Must not know: the use of the streams, except for their names.

use super::mixed;
use crate::direction::DataDirection;

/// `randseed` if the user gives none.
pub const DEFAULT_RAND_SEED: u64 = 0x89;

/// Multiplier between one seed and the next.
const SEED_MULTIPLIER: u64 = 0x9e37_0001;

/// Multiplications before the first seed is taken.
const N_WARM_UP: usize = 4;

/// Purpose of a seed; the number is its index in the [`SeedTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum SeedIndex {
    BlockSizeRead = 0,
    BlockSizeWrite = 1,
    BlockSizeTrim = 2,
    Verify = 3,
    /// Choice of read or write in a mixed job.
    ReadWriteMix = 4,
    /// Choice of the next file.
    FilePick = 5,
    Offset = 6,
    /// Sizes of files given as a range.
    FileSize = 7,
    /// Choice of written blocks to trim.
    TrimPick = 8,
    Buffer = 9,
    /// Random or sequential, for `percentage_random`: all directions use this one.
    SequentialMixRead = 10,
    /// For writes; not drawn from in the place of fio.
    SequentialMixWrite = 11,
    /// For trims; not drawn from in the place of fio.
    SequentialMixTrim = 12,
    /// Start delays given as a range.
    StartDelay = 13,
    /// Whether a buffer repeats an earlier one.
    Dedupe = 14,
    PoissonRead = 15,
    /// Choice of a zone in zoned distributions.
    Zone = 16,
    PoissonWrite = 17,
    PoissonTrim = 18,
    CommandPriority = 19,
    /// Choice inside the working set of repeated buffers.
    DedupeSet = 20,
    /// Choice of a data placement identifier.
    Placement = 21,
    /// The sprandom preconditioning.
    SpRandom = 22,
    WriteMode = 23,
}

/// Purpose of a stream that fio does not have. Its seed has no place in the [`SeedTable`], so that the seeds of fio, and their number,
/// stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum OwnSeed {
    /// Lengths of pauses (`thinktime=exponential:2ms`).
    ThinkTime = 1,
    /// Runtime of a job (`runtime=2s-5s`).
    Runtime = 2,
    Patterns = 3,
}

impl SeedIndex {
    #[inline]
    pub const fn block_size(direction: DataDirection) -> Self {
        match direction {
            DataDirection::Read => Self::BlockSizeRead,
            DataDirection::Write => Self::BlockSizeWrite,
            DataDirection::Trim => Self::BlockSizeTrim,
        }
    }

    /// The stream of Poisson arrivals of one direction.
    #[inline]
    pub const fn poisson(direction: DataDirection) -> Self {
        match direction {
            DataDirection::Read => Self::PoissonRead,
            DataDirection::Write => Self::PoissonWrite,
            DataDirection::Trim => Self::PoissonTrim,
        }
    }
}

/// The seeds of one job instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedTable {
    seeds: [u64; Self::N_SEEDS],
}

impl SeedTable {
    pub const N_SEEDS: usize = 24;

    /// The seeds of the job with this thread number, which counts from 1 over all job instances of the run.
    ///
    /// All arithmetic is modulo 2^64: no `rand_seed` and no thread number is illegal.
    pub fn new(rand_seed: u64, thread_number: u64) -> Self {
        let mut s = (0..N_WARM_UP).fold(rand_seed, |s, _| s.wrapping_mul(SEED_MULTIPLIER));
        let seeds = std::array::from_fn(|i| {
            let seed = s.wrapping_mul(thread_number).wrapping_add(i as u64);
            s = s.wrapping_mul(SEED_MULTIPLIER);
            seed
        });
        Self { seeds }
    }

    /// Seeds of a part of a job that has streams of its own; the first part has those of the job.
    #[must_use]
    pub fn of_part(&self, index: u64) -> Self {
        if index == 0 {
            return self.clone();
        }
        Self { seeds: self.seeds.map(|seed| mixed(seed ^ mixed(index))) }
    }

    #[inline]
    pub const fn get(&self, index: SeedIndex) -> u64 {
        self.seeds[index as usize]
    }

    /// The seed for a purpose that fio does not have. Like the others it depends on the job's seed and thread number alone.
    #[inline]
    pub const fn own(&self, purpose: OwnSeed) -> u64 {
        mixed(self.seeds[Self::N_SEEDS - 1] ^ mixed(purpose as u64))
    }

    pub const fn all(&self) -> &[u64; Self::N_SEEDS] {
        &self.seeds
    }

    /// Replaces the seed for one purpose, for streams that must agree (block sizes of reads and writes of a verify job).
    pub const fn set(&mut self, index: SeedIndex, seed: u64) {
        self.seeds[index as usize] = seed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_follow_the_formula() {
        let table = SeedTable::new(1, 3);
        let power = |n: u32| 0x9e37_0001_u64.wrapping_pow(n);
        assert_eq!(table.get(SeedIndex::BlockSizeRead), power(4).wrapping_mul(3));
        assert_eq!(table.get(SeedIndex::Offset), power(10).wrapping_mul(3).wrapping_add(6));
        assert_eq!(table.get(SeedIndex::WriteMode), power(27).wrapping_mul(3).wrapping_add(23));
    }

    #[test]
    fn own_seeds_depend_on_the_job_and_its_number() {
        let own = |rand_seed, number| SeedTable::new(rand_seed, number).own(OwnSeed::ThinkTime);
        assert_eq!(own(DEFAULT_RAND_SEED, 1), own(DEFAULT_RAND_SEED, 1));
        let others =
            [own(DEFAULT_RAND_SEED, 2), own(1, 1), SeedTable::new(DEFAULT_RAND_SEED, 1).get(SeedIndex::Offset)];
        assert!(!others.contains(&own(DEFAULT_RAND_SEED, 1)));
    }

    #[test]
    fn set_replaces_one_seed() {
        let mut table = SeedTable::new(DEFAULT_RAND_SEED, 1);
        let before = table.clone();
        table.set(SeedIndex::BlockSizeWrite, table.get(SeedIndex::BlockSizeRead));
        assert_eq!(table.get(SeedIndex::BlockSizeWrite), before.get(SeedIndex::BlockSizeRead));
        assert_eq!(table.get(SeedIndex::Offset), before.get(SeedIndex::Offset));
    }

    #[test]
    fn directions_name_their_streams() {
        assert_eq!(SeedIndex::block_size(DataDirection::Trim) as usize, 2);
        assert_eq!(DataDirection::ALL.map(|d| SeedIndex::poisson(d) as usize), [15, 17, 18]);
    }
}
