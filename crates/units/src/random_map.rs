//! The random map: which blocks of a file a pass has already touched, so that a random job visits every block once.
//!
//! One bit a block, and above them levels of summary bits: a bit of level k is set when its whole word of level k - 1 is.
//! A free block is found in one word test nearly always, else by climbing and descending the levels: at most one word
//! each (11 levels for 2^64 blocks), however full the map is.
//!
//! Must not know: offsets in bytes, files, generators. Start reading at [`RandomMap::next_free`].

use crate::BuildError;
use std::mem::MaybeUninit;

const WORD_BITS: u64 = 64;

/// Levels of a map of 2^64 blocks: 64^11 is the first power of 64 that covers it.
const MAX_LEVELS: usize = 11;

/// A word in which every block is taken.
const FULL: u64 = u64::MAX;

/// The blocks of a file that are taken and free.
#[derive(Debug, Clone)]
pub struct RandomMap {
    /// All levels, lowest first. Bits past the end of a level are set: they are never free.
    words: Vec<u64>,
    /// Index in `words` where each level starts.
    level_starts: [usize; MAX_LEVELS],
    n_levels: usize,
    n_blocks: u64,
    n_free: u64,
}

impl RandomMap {
    /// A map of `n_blocks` free blocks: `n_blocks / 8` bytes and 1/63 more. The memory is touched here, not in use.
    ///
    /// # Errors
    /// [`BuildError::RandomMapMemory`] when the memory cannot be allocated.
    pub fn new(n_blocks: u64) -> Result<Self, BuildError> {
        Self::with_memory(n_blocks, |_| {})
    }

    /// The same; `prepare` gets the memory before it is touched.
    pub fn with_memory(n_blocks: u64, prepare: impl FnOnce(&mut [MaybeUninit<u64>])) -> Result<Self, BuildError> {
        let (level_starts, n_levels, n_words) = Self::layout(n_blocks);
        let no_memory = || BuildError::RandomMapMemory { n_blocks, n_bytes: n_words.saturating_mul(8) };
        let n_words = usize::try_from(n_words).map_err(|_| no_memory())?;
        let mut words = Vec::new();
        words.try_reserve_exact(n_words).map_err(|_| no_memory())?;
        prepare(words.spare_capacity_mut());
        words.resize(n_words, 0);
        let mut map = Self { words, level_starts, n_levels, n_blocks, n_free: 0 };
        map.reset();
        Ok(map)
    }

    /// Starts of the levels in words, their number, and words in all.
    fn layout(n_blocks: u64) -> ([usize; MAX_LEVELS], usize, u64) {
        let mut level_starts = [0; MAX_LEVELS];
        let mut n_words = 0;
        let mut n_level_words = n_blocks.div_ceil(WORD_BITS);
        for (level, start) in level_starts.iter_mut().enumerate() {
            // If this truncates, on a 32-bit machine, the allocation fails before the value is used.
            *start = n_words as usize;
            // Cannot overflow: the sum is below 2^58 * 64 / 63.
            n_words += n_level_words;
            if n_level_words <= 1 {
                return (level_starts, level + 1, n_words);
            }
            n_level_words = n_level_words.div_ceil(WORD_BITS);
        }
        (level_starts, MAX_LEVELS, n_words)
    }

    /// Frees every block.
    pub fn reset(&mut self) {
        self.words.fill(0);
        self.n_free = self.n_blocks;
        let mut n_bits = self.n_blocks;
        for level in 0..self.n_levels {
            let n_tail_bits = n_bits % WORD_BITS;
            n_bits = n_bits.div_ceil(WORD_BITS);
            if n_tail_bits != 0 {
                let last = self.level_starts[level] + n_bits as usize - 1;
                self.words[last] = FULL << n_tail_bits;
            }
        }
    }

    #[inline]
    pub const fn n_blocks(&self) -> u64 {
        self.n_blocks
    }

    #[inline]
    pub const fn n_free(&self) -> u64 {
        self.n_free
    }

    /// True if the block is free; false past the end.
    #[inline]
    pub fn is_free(&self, block: u64) -> bool {
        block < self.n_blocks && self.words[(block / WORD_BITS) as usize] >> (block % WORD_BITS) & 1 == 0
    }

    /// The next free block at or above `block`, going on at block 0 after the end; `None` when all are taken.
    #[inline]
    pub fn next_free(&self, block: u64) -> Option<u64> {
        if block >= self.n_blocks {
            return self.first_free();
        }
        let free = !self.words[(block / WORD_BITS) as usize] & (FULL << (block % WORD_BITS));
        if free == 0 {
            return self.next_free_word(block / WORD_BITS + 1).or_else(|| self.first_free());
        }
        // The word and the place in it: no carry.
        Some((block & !(WORD_BITS - 1)) | u64::from(free.trailing_zeros()))
    }

    /// The first free block of the words from `word_index` of level 0 on.
    fn next_free_word(&self, word_index: u64) -> Option<u64> {
        let mut position = word_index;
        for level in 1..self.n_levels {
            let index = self.level_starts[level] + (position / WORD_BITS) as usize;
            if index >= self.level_end(level) {
                return None;
            }
            let free = !self.words[index] & (FULL << (position % WORD_BITS));
            if free != 0 {
                let child = position / WORD_BITS * WORD_BITS + u64::from(free.trailing_zeros());
                return Some(self.descend(level, child));
            }
            position = position / WORD_BITS + 1;
        }
        None
    }

    fn first_free(&self) -> Option<u64> {
        (self.n_free > 0).then(|| self.descend(self.n_levels, 0))
    }

    /// The first free block beneath word `position` of level `level - 1`, which must not be full.
    fn descend(&self, level: usize, position: u64) -> u64 {
        self.level_starts[..level].iter().rev().fold(position, |position, start| {
            // A word that its level above does not call full has a zero bit: trailing_zeros is at most 63.
            let word = self.words[start + position as usize];
            position * WORD_BITS + u64::from((!word).trailing_zeros())
        })
    }

    fn level_end(&self, level: usize) -> usize {
        if level + 1 < self.n_levels { self.level_starts[level + 1] } else { self.words.len() }
    }

    /// Takes the next free block at or above `block`, continuing at block 0 after the end; `None` if all are taken. The
    /// same as [`Self::next_free`] and [`Self::mark`] of one block, in a single look at the word.
    #[inline]
    pub fn take_next_free(&mut self, block: u64) -> Option<u64> {
        if block >= self.n_blocks {
            return self.take_elsewhere(block);
        }
        let word_index = (block / WORD_BITS) as usize;
        let word = &mut self.words[word_index];
        let free = !*word & (FULL << (block % WORD_BITS));
        if free == 0 {
            return self.take_elsewhere(block);
        }
        // The lowest bit that is set.
        *word |= free & free.wrapping_neg();
        self.n_free -= 1;
        if *word == FULL {
            self.mark_full(word_index);
        }
        Some((block & !(WORD_BITS - 1)) | u64::from(free.trailing_zeros()))
    }

    /// The word at which [`Self::take_next_free`] will look first, for a prefetch; `None` past the end.
    #[inline]
    pub fn word_of(&self, block: u64) -> Option<&u64> {
        self.words.get((block / WORD_BITS) as usize)
    }

    /// The word of `block` has no free one from there on, or there is no such block.
    #[cold]
    fn take_elsewhere(&mut self, block: u64) -> Option<u64> {
        let free = self.next_free(block)?;
        self.mark(free, 1);
        Some(free)
    }

    /// Takes up to `n_blocks` blocks from `block` on, stopping before the first that is taken already and at the end.
    /// Returns the number taken: 0 if `block` itself was not free.
    #[inline]
    pub fn mark(&mut self, block: u64, n_blocks: u64) -> u64 {
        let mut n_marked = 0;
        // block + n_marked cannot overflow: blocks are marked only below self.n_blocks.
        while n_marked < n_blocks && block < self.n_blocks - n_marked {
            let n_in_word = self.mark_in_word(block + n_marked, n_blocks - n_marked);
            n_marked += n_in_word;
            let is_at_word_end = (block + n_marked).is_multiple_of(WORD_BITS);
            if n_in_word == 0 || !is_at_word_end {
                break;
            }
        }
        n_marked
    }

    /// Takes up to `n_wanted` free blocks from `block` on, within its word; `block` is below the end, `n_wanted` not 0.
    #[inline]
    fn mark_in_word(&mut self, block: u64, n_wanted: u64) -> u64 {
        let word_index = (block / WORD_BITS) as usize;
        let shift = block % WORD_BITS;
        let word = &mut self.words[word_index];
        let n_run = u64::from((*word >> shift).trailing_zeros()).min(WORD_BITS - shift).min(n_wanted);
        if n_run == 0 {
            return 0;
        }
        // n_run is 1..=64 here: neither shift reaches the width of the word.
        *word |= (FULL >> (WORD_BITS - n_run)) << shift;
        self.n_free -= n_run;
        if *word == FULL {
            self.mark_full(word_index);
        }
        n_run
    }

    /// Records in the levels above that word `word_index` of level 0 has become full.
    fn mark_full(&mut self, mut word_index: usize) {
        for level in 1..self.n_levels {
            let word = &mut self.words[self.level_starts[level] + word_index / WORD_BITS as usize];
            *word |= 1 << (word_index % WORD_BITS as usize);
            if *word != FULL {
                return;
            }
            word_index /= WORD_BITS as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{DEFAULT_RAND_SEED, SeedIndex, SeedTable, Taus88};
    use proptest::prelude::*;

    /// Takes every block in the order of a random job.
    fn visit_all(map: &mut RandomMap, stream: &mut Taus88) -> Vec<u64> {
        let n_blocks = map.n_blocks();
        let visit = || {
            let block = map.next_free(stream.below(n_blocks))?;
            assert_eq!(map.mark(block, 1), 1);
            Some(block)
        };
        std::iter::from_fn(visit).take(n_blocks as usize + 1).collect()
    }

    /// Recorded from fio: randread over 16 blocks, job 1, default seed.
    #[test]
    fn reference_order() {
        let seeds = SeedTable::new(DEFAULT_RAND_SEED, 1);
        let mut stream = Taus88::from_table(&seeds, SeedIndex::Offset);
        let mut map = RandomMap::new(16).unwrap();
        let blocks: Vec<u64> = visit_all(&mut map, &mut stream);
        assert_eq!(blocks, [15, 13, 10, 8, 9, 0, 1, 3, 5, 14, 11, 12, 2, 6, 4, 7]);
    }

    #[test]
    fn every_block_once_at_level_borders() {
        for n_blocks in [1, 63, 64, 65, 4095, 4096, 4097, 262_143, 262_144, 262_145] {
            let mut map = RandomMap::new(n_blocks).unwrap();
            let mut blocks = visit_all(&mut map, &mut Taus88::new(1));
            blocks.sort_unstable();
            assert!(blocks.into_iter().eq(0..n_blocks), "{n_blocks} blocks");
            assert_eq!(map.n_free(), 0);
            map.reset();
            assert_eq!(map.n_free(), n_blocks);
            assert_eq!(map.next_free(n_blocks - 1), Some(n_blocks - 1));
        }
    }

    #[test]
    fn empty_map_has_no_block() {
        let mut map = RandomMap::new(0).unwrap();
        assert_eq!(map.next_free(0), None);
        assert_eq!(map.mark(0, 1), 0);
        assert!(!map.is_free(0));
    }

    #[test]
    fn one_bit_a_block_and_a_little() {
        let map = RandomMap::new(1 << 20).unwrap();
        assert_eq!(map.words.len(), (1 << 14) + (1 << 8) + 4 + 1);
    }

    #[test]
    fn too_large_a_map_is_an_error() {
        for n_blocks in [u64::MAX, 1 << 62] {
            assert!(matches!(RandomMap::new(n_blocks), Err(BuildError::RandomMapMemory { .. })));
        }
    }

    #[test]
    fn a_run_stops_before_a_taken_block() {
        let mut map = RandomMap::new(1000).unwrap();
        assert_eq!(map.mark(300, 1), 1);
        assert_eq!(map.mark(60, 500), 240);
        assert_eq!(map.mark(60, 500), 0);
        assert_eq!(map.mark(990, u64::MAX), 10);
        assert_eq!(map.mark(1000, 1), 0);
        assert_eq!(map.n_free(), 1000 - 1 - 240 - 10);
        assert_eq!(map.next_free(60), Some(301));
        assert_eq!(map.next_free(995), Some(0));
    }

    /// The same questions answered by a plain list.
    fn naive_next_free(taken: &[bool], block: usize) -> Option<u64> {
        let above = (block..taken.len()).find(|&b| !taken[b]);
        above.or_else(|| taken.iter().position(|t| !t)).map(|b| b as u64)
    }

    fn naive_mark(taken: &mut [bool], block: usize, n_wanted: usize) -> u64 {
        let run = taken.iter_mut().skip(block).take(n_wanted).take_while(|t| !**t);
        run.map(|t| *t = true).count() as u64
    }

    proptest! {
        #[test]
        fn taking_is_finding_and_marking(
            n_blocks in 0_u64..5_000,
            blocks in prop::collection::vec(0_u64..5_200, 1..6_000),
        ) {
            let mut taken = RandomMap::new(n_blocks).unwrap();
            let mut marked = taken.clone();
            for block in blocks {
                let expected = marked.next_free(block);
                if let Some(free) = expected {
                    marked.mark(free, 1);
                }
                prop_assert_eq!(taken.take_next_free(block), expected);
                prop_assert_eq!(&taken.words, &marked.words);
                prop_assert_eq!(taken.n_free(), marked.n_free());
            }
        }

        #[test]
        fn agrees_with_a_plain_list(
            n_blocks in 1_usize..20_000,
            calls in prop::collection::vec((0_usize..21_000, 0_usize..600), 1..400),
        ) {
            let mut map = RandomMap::new(n_blocks as u64).unwrap();
            let mut taken = vec![false; n_blocks];
            for (block, n_wanted) in calls {
                prop_assert_eq!(map.is_free(block as u64), taken.get(block) == Some(&false));
                prop_assert_eq!(map.next_free(block as u64), naive_next_free(&taken, block));
                let n_marked = map.mark(block as u64, n_wanted as u64);
                prop_assert_eq!(n_marked, naive_mark(&mut taken, block, n_wanted));
                prop_assert_eq!(map.n_free(), taken.iter().filter(|t| !**t).count() as u64);
            }
        }
    }
}
