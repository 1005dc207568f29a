//! Blocks that are made before they are needed. Their seeds are known in advance, so several checksums can be computed
//! together, in a fraction of the time that they take one by one.
//!
//! The next writes have the next seeds of the job, and the next reads of written blocks have the seeds of those writes.
//! A block made ahead is found by its seed. If it is not found, or if the data read differ from it, the block is made
//! and checked as usual, so that verdicts never change.
//!
//! Must not know: the source of the seeds. Start reading at [`Ahead`].

use super::super::block::BlockRules;
use super::super::digest::MAX_LANES;
use super::KnownBlock;

/// Largest memory of one [`Ahead`].
const MAX_BYTES: usize = 8 << 20;
/// Number of blocks that are made one by one after a group of which most was not needed (as with blocks of several
/// sizes).
const REST: u32 = 64;

/// Groups of blocks that are made ahead.
#[derive(Debug)]
pub struct Ahead {
    rules: BlockRules,
    groups: Vec<Group>,
    /// Index of the group to replace next: the oldest.
    next: usize,
    /// Number of blocks still to be made one by one before another group is tried.
    n_resting: u32,
}

#[derive(Debug)]
struct Group {
    seeds: Vec<u64>,
    /// Length of each block.
    length_bytes: usize,
    /// Contents of the blocks without headers, one block after another.
    data: Vec<u8>,
    /// Checksums of the intervals of the blocks, one block after another.
    checksums: Vec<u8>,
    /// Length of one block's checksums.
    checksums_bytes: usize,
    /// Number of times that a block of the group was needed.
    n_used: usize,
}

impl Ahead {
    /// `None`: it would save no time, or take too much memory. `n_in_flight`: number of blocks needed at the same time.
    pub fn new(rules: &BlockRules, block_bytes: usize, n_in_flight: usize) -> Option<Self> {
        let n_groups = |n_blocks| 1 + n_in_flight.saturating_sub(1).div_ceil(n_blocks);
        let fits = |n_blocks: usize| {
            let n_bytes = block_bytes.checked_mul(n_blocks).and_then(|n| n.checked_mul(n_groups(n_blocks)));
            n_bytes.is_some_and(|n_bytes| n_bytes <= MAX_BYTES)
        };
        let n_blocks = *rules.groups_that_gain(block_bytes).iter().find(|n_blocks| fits(**n_blocks))?;
        // No block is longer than `block_bytes`, so nothing is allocated later.
        let group = |_| Group {
            seeds: Vec::with_capacity(n_blocks),
            length_bytes: 0,
            data: vec![0; block_bytes * n_blocks],
            checksums: vec![0; rules.checksums_bytes(block_bytes) * n_blocks],
            checksums_bytes: 0,
            n_used: 0,
        };
        let groups = (0..n_groups(n_blocks)).map(group).collect();
        Some(Self { rules: rules.clone(), groups, next: 0, n_resting: 0 })
    }

    /// Called when a block of this seed and length is about to be needed. `upcoming` fills its slice with the seeds of
    /// the next blocks of this length, starting with this one; it returns false if there are not as many.
    pub fn prepare(&mut self, seed: u64, length_bytes: usize, upcoming: impl Fn(&mut [u64]) -> bool) {
        if self.find(seed, length_bytes).is_some() {
            return;
        }
        if self.n_resting > 0 {
            self.n_resting -= 1;
            return;
        }
        let group = &mut self.groups[self.next];
        if group.n_used < group.seeds.len() / 2 {
            group.n_used = group.seeds.len();
            self.n_resting = REST;
            return;
        }
        let mut seeds = [0; MAX_LANES];
        for n_blocks in self.rules.groups_that_gain(length_bytes) {
            let seeds = &mut seeds[..*n_blocks];
            if length_bytes * n_blocks <= group.data.len() && upcoming(seeds) {
                group.make(&self.rules, seeds, length_bytes);
                self.next = (self.next + 1) % self.groups.len();
                return;
            }
        }
    }

    /// The block of this seed and length, if it was made ahead.
    pub fn take(&mut self, seed: u64, length_bytes: usize) -> Option<KnownBlock<'_>> {
        let (group, lane) = self.find(seed, length_bytes)?;
        self.groups[group].n_used += 1;
        Some(self.groups[group].block(lane))
    }

    /// Index of the group that has the block, and the block's index there.
    fn find(&self, seed: u64, length_bytes: usize) -> Option<(usize, usize)> {
        let mut groups = self.groups.iter().enumerate().filter(|(_, group)| group.length_bytes == length_bytes);
        let lane_of = |group: &Group| group.seeds.iter().position(|other| *other == seed);
        groups.find_map(|(index, group)| Some((index, lane_of(group)?)))
    }
}

impl Group {
    fn make(&mut self, rules: &BlockRules, seeds: &[u64], length_bytes: usize) {
        self.seeds.clear();
        self.seeds.extend_from_slice(seeds);
        (self.length_bytes, self.n_used) = (length_bytes, 0);
        self.checksums_bytes = rules.checksums_bytes(length_bytes);
        let mut blocks = [&[][..]; MAX_LANES];
        for ((data, seed), block) in self.data.chunks_exact_mut(length_bytes).zip(seeds).zip(&mut blocks) {
            rules.fill_seeded(data, *seed);
            *block = data;
        }
        rules.store_checksums(&blocks[..seeds.len()], &mut self.checksums);
    }

    fn block(&self, lane: usize) -> KnownBlock<'_> {
        KnownBlock {
            data: &self.data[lane * self.length_bytes..][..self.length_bytes],
            checksums: &self.checksums[lane * self.checksums_bytes..][..self.checksums_bytes],
        }
    }
}

#[cfg(test)]
mod tests;
