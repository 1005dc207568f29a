//! The different blocks of a target by their hash values, in bounded memory.
//!
//! A value of 128 bits stands for its block: of 2^32 different blocks, two share one with a probability of 2^-65. When a
//! shard is full, all go on with every second value only (the lowest bits of a value decide), so that what is counted
//! is counted for each of its occurrences.
//! Must not know: files, threads. Start reading at [`CountedBlocks::count`].

use crate::repeats::repeat_figures::RepeatedBlock;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of parts with a lock each; the highest bits of a value decide.
const N_SHARDS: usize = 64;

/// What a place in a map takes, bytes: value, entry and a byte of the map; while a map grows, the old one with half as many places is
/// there too.
const BYTES_OF_PLACE: usize = (32 + 1) * 3 / 2;

/// A map fills 7 of 8 places.
const MAX_LOAD: (usize, usize) = (7, 8);

/// More values are left out at most this often; no target has so many blocks.
const MAX_LEVEL: u32 = 60;

/// What is known of a block.
#[derive(Debug, Clone, Copy)]
struct Occurrences {
    first_offset_bytes: u64,
    /// Stays at its maximum, which is 16 TiB of the same block of 4 KiB.
    n_times: u32,
    packed_bytes: u32,
}

/// Values are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only values of 128 bits are keys; the bits in the middle decide neither the shard nor the sample.
        let middle = bytes.get(4..12).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes);
        self.0 = middle;
    }
}

#[derive(Default)]
struct BlockShard {
    /// Values whose lowest `level` bits are 0 are counted.
    level: u32,
    blocks: HashMap<u128, Occurrences, BuildHasherDefault<AsIs>>,
}

impl BlockShard {
    fn rise_to(&mut self, level: u32) {
        if self.level < level {
            self.level = level;
            // A new map: after removals in place, the old one would grow beyond its bound.
            let all = std::mem::take(&mut self.blocks);
            self.blocks = all.into_iter().filter(|(value, _)| is_counted(*value, level)).collect();
        }
    }
}

fn is_counted(value: u128, level: u32) -> bool {
    value.trailing_zeros() >= level
}

/// The blocks that were found so far.
pub(crate) struct CountedBlocks {
    shards: Vec<Mutex<BlockShard>>,
    level: AtomicU32,
    max_per_shard: usize,
}

/// Sums over the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TableFigures {
    pub(crate) sampled_one_in: u64,
    pub(crate) n_counted: u64,
    pub(crate) n_distinct: u64,
    pub(crate) n_repeated: u64,
    pub(crate) all_packed_bytes: u64,
    pub(crate) distinct_packed_bytes: u64,
}

impl CountedBlocks {
    /// A table that takes at most this much memory, and at least 0.3 MiB.
    pub(crate) fn new(memory_bytes: usize) -> Self {
        let n_places = (memory_bytes / N_SHARDS / BYTES_OF_PLACE).max(64);
        // Maps have a power of two of places.
        let n_places = 1_usize << n_places.ilog2();
        let shards = (0..N_SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, level: AtomicU32::new(0), max_per_shard: n_places * MAX_LOAD.0 / MAX_LOAD.1 }
    }

    /// Counts a block that was found so often. `pack` is called for its compressed size if the table does not have it yet.
    pub(crate) fn count(&self, value: u128, n_times: u32, offset_bytes: u64, pack: &mut dyn FnMut() -> u32) {
        let level = self.level.load(Ordering::Relaxed);
        if !is_counted(value, level) {
            return;
        }
        let mut shard = self.shard((value >> 122) as usize);
        shard.rise_to(level);
        if let Some(known) = shard.blocks.get_mut(&value) {
            known.n_times = known.n_times.saturating_add(n_times);
            known.first_offset_bytes = known.first_offset_bytes.min(offset_bytes);
            return;
        }
        // Compression takes long, so the lock is given back meanwhile. Another thread may insert the same block.
        drop(shard);
        let packed_bytes = pack();
        let mut shard = self.shard((value >> 122) as usize);
        self.insert(&mut shard, value, Occurrences { first_offset_bytes: offset_bytes, n_times, packed_bytes });
    }

    fn insert(&self, shard: &mut BlockShard, value: u128, new: Occurrences) {
        shard.rise_to(self.level.load(Ordering::Relaxed));
        while shard.blocks.len() >= self.max_per_shard && shard.level < MAX_LEVEL {
            let level = shard.level + 1;
            self.level.fetch_max(level, Ordering::Relaxed);
            shard.rise_to(level);
        }
        if is_counted(value, shard.level) {
            let known = shard.blocks.entry(value).or_insert(Occurrences { n_times: 0, ..new });
            known.n_times = known.n_times.saturating_add(new.n_times);
            known.first_offset_bytes = known.first_offset_bytes.min(new.first_offset_bytes);
        }
    }

    fn shard(&self, index: usize) -> MutexGuard<'_, BlockShard> {
        // Nothing in a locked section panics, and a count that was lost would not make the others wrong.
        self.shards[index % N_SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The figures of all shards, and up to `n_most` of the most frequent blocks. No thread may be counting.
    pub(crate) fn figures(&self, n_most: usize) -> (TableFigures, Vec<RepeatedBlock>) {
        let level = self.level.load(Ordering::Relaxed);
        let factor = 1_u64 << level;
        let mut sums = TableFigures { sampled_one_in: factor, ..TableFigures::default() };
        let mut most: Vec<RepeatedBlock> = Vec::new();
        for index in 0..N_SHARDS {
            let mut shard = self.shard(index);
            shard.rise_to(level);
            for block in shard.blocks.values() {
                let n_times = u64::from(block.n_times);
                sums.n_counted += 1;
                sums.n_repeated += u64::from(n_times > 1);
                sums.distinct_packed_bytes += u64::from(block.packed_bytes);
                sums.all_packed_bytes += u64::from(block.packed_bytes) * n_times;
                if n_times > 1 && n_most > 0 {
                    most.push(RepeatedBlock { n_times, first_offset_bytes: block.first_offset_bytes });
                    keep_most(&mut most, n_most, n_most.saturating_mul(2).max(1024));
                }
            }
        }
        keep_most(&mut most, n_most, n_most);
        for sum in [&mut sums.n_repeated, &mut sums.distinct_packed_bytes, &mut sums.all_packed_bytes] {
            *sum = sum.saturating_mul(factor);
        }
        sums.n_distinct = sums.n_counted.saturating_mul(factor);
        (sums, most)
    }
}

/// Keeps the `n` most frequent blocks where there are more than `limit`.
fn keep_most(blocks: &mut Vec<RepeatedBlock>, n: usize, limit: usize) {
    if blocks.len() > limit || n == limit {
        blocks.sort_unstable_by_key(|block| (std::cmp::Reverse(block.n_times), block.first_offset_bytes));
        blocks.truncate(n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_128;

    fn value(number: u64) -> u128 {
        xxh3_128(&number.to_le_bytes())
    }

    #[test]
    fn blocks_are_counted_exactly_while_they_fit() {
        let table = CountedBlocks::new(1 << 20);
        for (offset, number) in [7, 1, 7, 2, 3, 3, 7].into_iter().enumerate() {
            table.count(value(number), 1, offset as u64, &mut || 10 * number as u32);
        }
        let (figures, most) = table.figures(2);
        let expected = TableFigures {
            sampled_one_in: 1,
            n_counted: 4,
            n_distinct: 4,
            n_repeated: 2,
            all_packed_bytes: 3 * 70 + 10 + 20 + 2 * 30,
            distinct_packed_bytes: 70 + 10 + 20 + 30,
        };
        assert_eq!(figures, expected);
        let expected =
            [(3, 0), (2, 4)].map(|(n_times, first_offset_bytes)| RepeatedBlock { n_times, first_offset_bytes });
        assert_eq!(most, expected);
    }

    /// A table of 3,584 places and 400,000 different blocks, each of them twice: an estimate of each figure is within
    /// five standard deviations, which are 1/sqrt(counted).
    #[test]
    fn a_full_table_estimates() {
        let table = CountedBlocks::new(300 << 10);
        let n_distinct = 400_000;
        for number in (0..n_distinct).chain(0..n_distinct) {
            table.count(value(number), 1, number, &mut || 1000);
        }
        let (figures, _) = table.figures(0);
        assert!(figures.sampled_one_in >= 128 && figures.n_counted <= 64 * 56, "{figures:?}");
        let allowed = 5.0 / (figures.n_counted as f64).sqrt();
        for (estimate, truth) in [
            (figures.n_distinct, n_distinct),
            (figures.n_repeated, n_distinct),
            (figures.distinct_packed_bytes, 1000 * n_distinct),
            (figures.all_packed_bytes, 2000 * n_distinct),
        ] {
            let ratio = estimate as f64 / truth as f64;
            assert!((ratio - 1.0).abs() < allowed, "{figures:?}: {ratio}, allowed {allowed}");
        }
        let n_in_shards: usize = (0..N_SHARDS).map(|index| table.shard(index).blocks.capacity()).sum();
        assert!(n_in_shards <= N_SHARDS * 64, "{n_in_shards} places");
    }

    #[test]
    fn a_place_takes_what_is_said() {
        assert_eq!(size_of::<(u128, Occurrences)>(), 32);
    }
}
