//! Random offsets, each block once a pass, from the same generator and map as a job's.

use crate::BLOCK_BYTES;
use anyhow::{Result, ensure};
use ferrio_units::RandomMap;
use ferrio_units::random::Taus88;

/// Offsets of random blocks.
pub(crate) struct Offsets {
    map: RandomMap,
    stream: Taus88,
}

impl Offsets {
    /// Of a file of this length, which must hold at least one block.
    pub(crate) fn new(file_bytes: u64) -> Result<Self> {
        ensure!(file_bytes >= BLOCK_BYTES, "the file holds no block of {BLOCK_BYTES} bytes");
        Ok(Self { map: RandomMap::new(file_bytes / BLOCK_BYTES)?, stream: Taus88::new(1) })
    }

    /// The next offset; after all blocks, all are free again.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let drawn = self.stream.below(self.map.n_blocks());
        let block = self.map.next_free(drawn).unwrap_or_else(|| {
            self.map.reset();
            drawn
        });
        self.map.mark(block, 1);
        block * BLOCK_BYTES
    }
}
