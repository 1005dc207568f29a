//! Random offsets, each block once a pass, from the same generator and map as a job's.

use anyhow::{Context, Result, ensure};
use ferrio_sys::huge_pages;
use ferrio_units::RandomMap;
use ferrio_units::random::{Taus88, UniformBlocks};

/// Offsets of random blocks.
pub(crate) struct Offsets {
    map: RandomMap,
    blocks: UniformBlocks,
    block_bytes: u64,
}

impl Offsets {
    /// Offsets in a file of this length, which must hold at least one block.
    pub(crate) fn new(file_bytes: u64, block_bytes: u64) -> Result<Self> {
        ensure!(block_bytes > 0 && file_bytes >= block_bytes, "the file holds no block of {block_bytes} bytes");
        let n_blocks = file_bytes / block_bytes;
        let blocks = UniformBlocks::new(Taus88::new(1), n_blocks).context("too many blocks for 32 bits")?;
        Ok(Self { map: RandomMap::with_memory(n_blocks, huge_pages::prefer)?, blocks, block_bytes })
    }

    /// The next offset; after all blocks, all are free again.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let drawn = self.blocks.next_block();
        let block = self.map.take_next_free(drawn).unwrap_or_else(|| {
            self.map.reset();
            drawn
        });
        block * self.block_bytes
    }
}

/// Length of a file or device; a device without one (`/dev/zero`) counts as 1 GiB.
pub(crate) fn length_of(file: &mut std::fs::File) -> std::io::Result<u64> {
    use std::io::Seek;
    let bytes = file.seek(std::io::SeekFrom::End(0))?;
    Ok(if bytes == 0 { 1 << 30 } else { bytes })
}
