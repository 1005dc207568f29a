//! Checksums of written blocks, kept until the blocks are read back. Making the data of a seed again and comparing
//! takes a fraction of the time that most checksums take.
//!
//! If a pass has more writes than are kept, the last ones are kept; other blocks are checked as usual. Verdicts do not
//! change, as equal data have equal checksums.
//!
//! Must not know: when blocks are read back. Start reading at [`WrittenChecksums`].

use super::super::block::BlockRules;
use super::KnownBlock;

/// Largest memory of one [`WrittenChecksums`].
const MAX_BYTES: usize = 32 << 20;
/// Longest block whose checksums are kept, because the check makes its data again beside it.
const MAX_BLOCK_BYTES: usize = 8 << 20;
/// Number of writes for which memory is taken at once; the memory grows with the writes, and nothing has to be moved.
const PART: usize = 1 << 12;

/// The checksums of the last writes of a job.
#[derive(Debug)]
pub struct WrittenChecksums {
    rules: BlockRules,
    parts: Vec<Part>,
    /// Number of writes that are kept at most, a multiple of [`PART`].
    n_most: usize,
    /// Largest length of one write's checksums.
    checksums_bytes: usize,
    /// Expected data of the block that is being checked.
    data: Vec<u8>,
}

#[derive(Debug)]
struct Part {
    writes: Vec<KeptWrite>,
    checksums: Vec<u8>,
}

/// Identity of a write; its data depend on nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KeptWrite {
    seed: u64,
    /// Length of the write; 0: the entry is empty.
    length_bytes: usize,
}

impl WrittenChecksums {
    /// `None`: it would save no time, or take too much memory. `block_bytes`: length of the longest block.
    pub fn new(rules: &BlockRules, block_bytes: usize) -> Option<Self> {
        if block_bytes > MAX_BLOCK_BYTES || !rules.comparing_gains(block_bytes) {
            return None;
        }
        let checksums_bytes = rules.checksums_bytes(block_bytes);
        let part_bytes = PART * (size_of::<KeptWrite>() + checksums_bytes);
        let n_most = MAX_BYTES / part_bytes * PART;
        let data = vec![0; block_bytes];
        (n_most > 0).then(|| Self { rules: rules.clone(), parts: Vec::new(), n_most, checksums_bytes, data })
    }

    /// Keeps the checksums of a write. `block` is what the write stores; `number` counts the writes of the job.
    pub fn keep(&mut self, number: u64, seed: u64, block: &[u8]) {
        // Fits: it is below `n_most`, which is a `usize`.
        let place = (number % self.n_most as u64) as usize;
        while self.parts.len() <= place / PART {
            let none = KeptWrite { seed: 0, length_bytes: 0 };
            self.parts.push(Part { writes: vec![none; PART], checksums: vec![0; PART * self.checksums_bytes] });
        }
        let (part, at) = (&mut self.parts[place / PART], place % PART);
        part.writes[at] = KeptWrite { seed, length_bytes: block.len() };
        let kept = &mut part.checksums[at * self.checksums_bytes..][..self.checksums_bytes];
        self.rules.copy_checksums(block, kept);
    }

    /// True if the checksums of this write are kept.
    pub fn has(&self, number: u64, seed: u64, length_bytes: usize) -> bool {
        self.find(number, seed, length_bytes).is_some()
    }

    /// The block of a write, if its checksums are kept.
    pub fn block(&mut self, number: u64, seed: u64, length_bytes: usize) -> Option<KnownBlock<'_>> {
        let (part, at) = self.find(number, seed, length_bytes)?;
        let checksums = &self.parts[part].checksums[at * self.checksums_bytes..][..self.checksums_bytes];
        let data = &mut self.data[..length_bytes];
        self.rules.fill_seeded(data, seed);
        Some(KnownBlock { data, checksums })
    }

    /// Memory that is in use so far, bytes.
    pub fn n_bytes(&self) -> usize {
        self.parts.len() * PART * (size_of::<KeptWrite>() + self.checksums_bytes) + self.data.len()
    }

    /// Index of the part that has the write, and the write's index there.
    fn find(&self, number: u64, seed: u64, length_bytes: usize) -> Option<(usize, usize)> {
        let place = (number % self.n_most as u64) as usize;
        let kept = self.parts.get(place / PART)?.writes[place % PART];
        (kept == KeptWrite { seed, length_bytes } && length_bytes > 0).then_some((place / PART, place % PART))
    }
}

#[cfg(test)]
mod tests;
