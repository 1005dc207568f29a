//! Random offsets, each block once a pass, from the same generator and map as a job's.

use crate::BLOCK_BYTES;
use anyhow::{Context, Result, ensure};
use ferrio_units::RandomMap;
use ferrio_units::random::{Taus88, UniformBlocks};

/// Offsets of random blocks.
pub(crate) struct Offsets {
    map: RandomMap,
    blocks: UniformBlocks,
}

impl Offsets {
    /// Of a file of this length, which must hold at least one block.
    pub(crate) fn new(file_bytes: u64) -> Result<Self> {
        ensure!(file_bytes >= BLOCK_BYTES, "the file holds no block of {BLOCK_BYTES} bytes");
        let n_blocks = file_bytes / BLOCK_BYTES;
        let blocks = UniformBlocks::new(Taus88::new(1), n_blocks).context("too many blocks for 32 bits")?;
        Ok(Self { map: RandomMap::new(n_blocks)?, blocks })
    }

    /// The next offset; after all blocks, all are free again.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let drawn = self.blocks.next_block();
        let block = self.map.take_next_free(drawn).unwrap_or_else(|| {
            self.map.reset();
            drawn
        });
        block * BLOCK_BYTES
    }
}
