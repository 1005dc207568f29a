//! Skewed draws in which each block of a file has a rank of its own (`random_distribution_permute`).
//!
//! Must not know: lengths of blocks. Start reading at [`PermutedBlocks::next_block`].

use ferrio_spec::RankLaw;
use ferrio_units::random::{RankedBlocks, RankedSeeds};
use ferrio_units::{BuildError, DataDirection, PerDirection};

/// The blocks of one file. Directions whose blocks are of one size have the same hot blocks, and draws of their own.
#[derive(Debug, Clone)]
pub(crate) struct PermutedBlocks(PerDirection<Option<RankedBlocks>>);

impl PermutedBlocks {
    /// The blocks of a file in which each direction has so many; a direction may have none.
    pub(crate) fn new(
        law: RankLaw,
        center: Option<f64>,
        n_blocks: &PerDirection<u64>,
        seed: u32,
    ) -> Result<Self, BuildError> {
        let of = |direction: DataDirection| {
            let n_blocks = n_blocks[direction];
            // The draws of directions differ in the bits above those of the file's seed.
            let draws = (direction as u64 + 1) << u32::BITS | u64::from(seed);
            let seeds = RankedSeeds { order: seed.into(), draws, center };
            match law {
                _ if n_blocks == 0 => Ok(None),
                RankLaw::Zipf { theta } => RankedBlocks::zipf(n_blocks, theta, seeds).map(Some),
                RankLaw::Pareto { h } => RankedBlocks::pareto(n_blocks, h, seeds).map(Some),
            }
        };
        let [read, write, trim] = DataDirection::ALL.map(of);
        Ok(Self(PerDirection([read?, write?, trim?])))
    }

    /// Draws a block; `None` if no block fits into the file.
    #[inline]
    pub(crate) fn next_block(&mut self, direction: DataDirection) -> Option<u64> {
        self.0[direction].as_mut().map(RankedBlocks::next_block)
    }
}
