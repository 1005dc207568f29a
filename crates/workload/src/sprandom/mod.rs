//! The blocks of a pass that brings an empty device into the state that long random writes leave (`sprandom`): each
//! block once, in random order, with more and more overwrites in between.
//!
//! Must not know: files, offsets. Start reading at [`SpRandomBlocks::next_block`]; `schedule` decides how many
//! overwrites there are, and when. docs/sprandom.md has the model and its sources. Memory does not grow with the
//! device.

mod outline;
mod schedule;

pub use outline::{PassOutline, RegionOutline};

use ferrio_spec::SpRandomSpec;
use ferrio_units::random::{GOLDEN_RATIO_64, Permutation, SeedIndex, SeedTable, Taus258};
use schedule::Schedule;

/// A file has at least this many times the blocks of the cache, so that there is always a block to overwrite (see
/// [`Stretches`]).
const MIN_CACHES: u64 = 4;

#[derive(Debug, Clone)]
pub(crate) struct SpRandomBlocks {
    spec: SpRandomSpec,
    n_blocks: u64,
    /// Blocks that the cache holds, rounded up.
    n_cached: u64,
    seed: u64,
    stream: Taus258,
    /// The order in which blocks are written for the first time.
    order: Permutation,
    /// Number of blocks that are written so far: the first of that order.
    n_written: u64,
    schedule: Schedule,
    stretches: Option<Stretches>,
}

/// Keeps overwrites away from blocks that may still be in the device's cache. It divides the writes into stretches,
/// each as long as the cache. A stretch overwrites only one half of the blocks: every other block in the order of the
/// first writes, the odd and the even ones in turn, each at most once, and only blocks that were first written before
/// the preceding stretch. So there is a whole stretch between two writes of a block.
///
/// The file has at least four times the blocks of the cache. Once all of these are written, half of the old enough ones
/// are at least as many blocks as the cache has, so no stretch runs out of them.
#[derive(Debug, Clone)]
struct Stretches {
    n_writes: u64,
    /// Writes left in the present stretch.
    n_left: u64,
    /// Number of blocks that were written when the stretch began.
    n_at_start: u64,
    /// 1: the stretch overwrites odd blocks; 0: even ones.
    parity: u64,
    order: Permutation,
    /// Number of blocks that the stretch may overwrite.
    n_eligible: u64,
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
        // Each file has its own stream, so that its draws do not depend on the order in which files are used.
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

    /// Place in the order of a block to overwrite; `None`: there is none yet.
    fn written_block(&mut self) -> Option<u64> {
        match &mut self.stretches {
            Some(stretches) => stretches.take(),
            None => (self.n_written > 0).then(|| self.stream.below(self.n_written)),
        }
    }

    /// Prepares another pass, in another order, unless this one has not begun.
    pub(crate) fn rewind(&mut self) {
        if self.n_written > 0 {
            self.begin();
        }
    }

    /// The stream starts anew, so that the next pass repeats the first.
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
    /// `None`: the device has no cache.
    fn new(n_writes: u64) -> Option<Self> {
        let order = Permutation::new(0, &mut Taus258::new(0));
        let first = Self { n_writes, n_left: 0, n_at_start: 0, parity: 0, order, n_eligible: 0, n_taken: 0 };
        (n_writes > 0).then_some(first)
    }

    /// Counts the next write; `n_written` blocks were written before it.
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

    /// Place in the order of a block that may be overwritten; `None`: the stretch has none.
    fn take(&mut self) -> Option<u64> {
        let taken = (self.n_taken < self.n_eligible).then(|| 2 * self.order.at(self.n_taken) + self.parity);
        self.n_taken += u64::from(taken.is_some());
        taken
    }
}

#[cfg(test)]
mod tests;
