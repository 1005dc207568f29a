//! The blocks of a pass that brings an empty device into the state that long random writes leave (`sprandom`): each once, in a
//! random order, and between them more and more overwrites.
//!
//! Must not know: files, offsets. Start reading at [`SpRandomBlocks::next_block`]; how many overwrites there are and when is in
//! `schedule`. The model, and where it is from, is in docs/sprandom.md. Memory does not grow with the device.

mod outline;
mod schedule;

pub use outline::{PassOutline, RegionOutline};

use ferrio_spec::SpRandomSpec;
use ferrio_units::random::{GOLDEN_RATIO_64, Permutation, SeedIndex, SeedTable, Taus258};
use schedule::Schedule;

/// A file has at least so many times the blocks of the cache: then there is always a block to overwrite (see [`Stretches`]).
const MIN_CACHES: u64 = 4;

/// The blocks of one file.
#[derive(Debug, Clone)]
pub(crate) struct SpRandomBlocks {
    spec: SpRandomSpec,
    n_blocks: u64,
    /// Blocks that the cache holds, rounded up.
    n_cached: u64,
    seed: u64,
    stream: Taus258,
    /// In which order blocks are written for the first time.
    order: Permutation,
    /// Blocks that are written: the first of that order.
    n_written: u64,
    schedule: Schedule,
    stretches: Option<Stretches>,
}

/// Keeps overwrites away from what may still be in the cache of the device. Writes are counted in stretches as long as the cache.
/// In a stretch only one half of the blocks is overwritten, every other one in the order in which they were written first, turn
/// about; each at most once, and only those that were first written before the stretch before it. So a whole stretch lies between
/// a write of a block and the next.
///
/// Once all of at least four caches of blocks are written, a half of those that are old enough has a cache of blocks at least:
/// no stretch runs out of them.
#[derive(Debug, Clone)]
struct Stretches {
    /// Writes of a stretch.
    n_writes: u64,
    /// Writes left in the present one.
    n_left: u64,
    /// Blocks that were written when it began.
    n_at_start: u64,
    /// 1: odd ones are overwritten.
    parity: u64,
    /// The order in which they are.
    order: Permutation,
    /// How many there are.
    n_eligible: u64,
    /// How many of them were overwritten.
    n_taken: u64,
}

impl SpRandomBlocks {
    /// The blocks of a file; `None`: the cache is too large for it.
    pub(crate) fn new(
        spec: SpRandomSpec,
        n_blocks: u64,
        block_bytes: u64,
        seeds: &SeedTable,
        file_index: usize,
    ) -> Option<Self> {
        let n_cached = spec.cache_bytes.div_ceil(block_bytes.max(1));
        if n_cached > n_blocks / MIN_CACHES {
            return None;
        }
        // Files have streams of their own: what one draws does not depend on when the others do.
        let seed = seeds.get(SeedIndex::SpRandom).wrapping_add(GOLDEN_RATIO_64.wrapping_mul(file_index as u64));
        let mut stream = Taus258::new(seed);
        Some(Self {
            n_blocks,
            n_cached,
            seed,
            order: Permutation::new(n_blocks, &mut stream),
            stream,
            n_written: 0,
            schedule: Schedule::new(&spec, n_blocks),
            stretches: Stretches::new(n_cached),
            spec,
        })
    }

    /// The next block; `None`: the pass is over.
    pub(crate) fn next_block(&mut self) -> Option<u64> {
        let is_overwrite = self.schedule.next(&mut self.stream)?;
        if let Some(stretches) = &mut self.stretches {
            stretches.count(self.n_written, &mut self.stream);
        }
        let has_new = self.n_written < self.n_blocks;
        let again = if is_overwrite || !has_new { self.written_block() } else { None };
        let place = match again {
            Some(place) => {
                self.schedule.overwrote();
                place
            }
            None if has_new => {
                self.n_written += 1;
                self.n_written - 1
            }
            None => return None,
        };
        Some(self.order.at(place))
    }

    /// The place of a block to overwrite; `None`: there is none yet.
    fn written_block(&mut self) -> Option<u64> {
        match &mut self.stretches {
            Some(stretches) => stretches.take(),
            None => (self.n_written > 0).then(|| self.stream.below(self.n_written)),
        }
    }

    /// Another pass, in another order, unless this one has not begun.
    pub(crate) fn rewind(&mut self) {
        if self.n_written > 0 {
            self.begin();
        }
    }

    /// The stream starts anew: a pass that begins is as the first.
    pub(crate) fn reseed(&mut self) {
        self.stream = Taus258::new(self.seed);
        self.begin();
    }

    fn begin(&mut self) {
        self.order = Permutation::new(self.n_blocks, &mut self.stream);
        self.n_written = 0;
        self.schedule = Schedule::new(&self.spec, self.n_blocks);
        self.stretches = Stretches::new(self.n_cached);
    }
}

impl Stretches {
    /// `None`: there is no cache.
    fn new(n_writes: u64) -> Option<Self> {
        let order = Permutation::new(0, &mut Taus258::new(0));
        let first = Self { n_writes, n_left: 0, n_at_start: 0, parity: 0, order, n_eligible: 0, n_taken: 0 };
        (n_writes > 0).then_some(first)
    }

    /// A write is about to be done, after so many blocks were written.
    fn count(&mut self, n_written: u64, stream: &mut Taus258) {
        if self.n_left == 0 {
            let n_old = std::mem::replace(&mut self.n_at_start, n_written);
            self.parity ^= 1;
            self.n_eligible = (n_old + 1 - self.parity) / 2;
            self.order = Permutation::new(self.n_eligible, stream);
            (self.n_left, self.n_taken) = (self.n_writes, 0);
        }
        self.n_left -= 1;
    }

    /// The place of a block that may be overwritten; `None`: there is none in this stretch.
    fn take(&mut self) -> Option<u64> {
        let taken = (self.n_taken < self.n_eligible).then(|| 2 * self.order.at(self.n_taken) + self.parity);
        self.n_taken += u64::from(taken.is_some());
        taken
    }
}

#[cfg(test)]
mod tests;
