//! Offsets of blocks: random, each block once a pass, from the same generator and map as a job's; or one after another.

use anyhow::{Context, Result, bail, ensure};
use ferrio_sys::huge_pages;
use ferrio_units::RandomMap;
use ferrio_units::random::{Taus88, UniformBlocks};

/// Order of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Random,
    Sequential,
}

impl Order {
    /// The order of this name: `random` or `sequential`.
    pub(crate) fn of_name(name: &str) -> Result<Self> {
        match name {
            "random" => Ok(Self::Random),
            "sequential" => Ok(Self::Sequential),
            _ => bail!("{name} is no order: random, sequential"),
        }
    }
}

/// Offsets of blocks.
pub(crate) struct Offsets {
    /// `None`: blocks follow one another.
    random: Option<(RandomMap, UniformBlocks)>,
    block: u64,
    n_blocks: u64,
    block_bytes: u64,
}

impl Offsets {
    /// Offsets in a file of this length, which must hold at least one block.
    pub(crate) fn new(order: Order, file_bytes: u64, block_bytes: u64) -> Result<Self> {
        ensure!(block_bytes > 0 && file_bytes >= block_bytes, "the file holds no block of {block_bytes} bytes");
        let n_blocks = file_bytes / block_bytes;
        let random = if order == Order::Random {
            let blocks = UniformBlocks::new(Taus88::new(1), n_blocks).context("too many blocks for 32 bits")?;
            Some((RandomMap::with_memory(n_blocks, huge_pages::prefer)?, blocks))
        } else {
            None
        };
        Ok(Self { random, block: n_blocks - 1, n_blocks, block_bytes })
    }

    /// The next offset; after all blocks, all are free again.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.block = if let Some((map, blocks)) = &mut self.random {
            let drawn = blocks.next_block();
            map.take_next_free(drawn).unwrap_or_else(|| {
                map.reset();
                drawn
            })
        } else if self.block + 1 < self.n_blocks {
            self.block + 1
        } else {
            0
        };
        self.block * self.block_bytes
    }
}

/// Length of a file or device; a device without one (`/dev/zero`) counts as 1 GiB.
pub(crate) fn length_of(file: &mut std::fs::File) -> std::io::Result<u64> {
    use std::io::Seek;
    let bytes = file.seek(std::io::SeekFrom::End(0))?;
    Ok(if bytes == 0 { 1 << 30 } else { bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_visits_each_block_once_a_pass() {
        let mut offsets = Offsets::new(Order::Sequential, 1 << 20, 4096).unwrap();
        let places: Vec<u64> = (0..257).map(|_| offsets.next()).collect();
        assert_eq!((places[0], places[1], places[255], places[256]), (0, 4096, 255 * 4096, 0));
        let mut offsets = Offsets::new(Order::Random, 1 << 20, 4096).unwrap();
        let mut places: Vec<u64> = (0..256).map(|_| offsets.next()).collect();
        assert!(!places.is_sorted());
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 256);
    }
}
