//! Uniform block numbers below one bound: the draw of most random jobs, with constant parts computed once.
//!
//! Must not know: offsets in bytes. Start reading at [`UniformBlocks::next_block`].

use super::Taus88;

/// 2^-32: turns a 32-bit output into a fraction below 1.
const FRACTION_PER_STEP: f64 = 1.0 / 4_294_967_296.0;

/// A taus88 stream of numbers below one bound: bit for bit [`Taus88::below`], at half its instructions.
#[derive(Debug, Clone)]
pub struct UniformBlocks {
    stream: Taus88,
    /// The bound times 2^-32.
    blocks_per_step: f64,
}

impl UniformBlocks {
    /// Largest bound.
    pub const MAX_BLOCKS: u64 = 1 << 32;

    /// Numbers in `0..n_blocks` (0 for `n_blocks = 0`); `None` above [`Self::MAX_BLOCKS`], where 32 bits do not reach every
    /// block.
    pub fn new(stream: Taus88, n_blocks: u64) -> Option<Self> {
        let blocks_per_step = n_blocks as f64 * FRACTION_PER_STEP;
        (n_blocks <= Self::MAX_BLOCKS).then_some(Self { stream, blocks_per_step })
    }

    /// The stream in its present state.
    pub fn stream(&self) -> &Taus88 {
        &self.stream
    }

    #[inline]
    pub fn next_block(&mut self) -> u64 {
        // n * (r * 2^-32) = (n * 2^-32) * r to the last bit: multiplying by a power of two is exact.
        // Cannot reach n: the exact product is at most n - n * 2^-32, which is further from n than rounding goes.
        let block = f64::from(self.stream.next_u32()) * self.blocks_per_step;
        // Cannot truncate: it is below n <= 2^32. A conversion to 32 bits is three instructions, one to 64 bits twelve.
        u64::from(block as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bounds() {
        assert!(UniformBlocks::new(Taus88::new(1), UniformBlocks::MAX_BLOCKS + 1).is_none());
        let mut none = UniformBlocks::new(Taus88::new(1), 0).expect("0 is within the bounds");
        assert_eq!(none.next_block(), 0);
    }

    /// The largest output is the one that could round up to the bound.
    #[test]
    fn the_largest_output_stays_below_every_power_of_two() {
        for bits in 0..=32 {
            for n_blocks in [(1_u64 << bits) - 1, 1 << bits, ((1 << bits) + 1).min(UniformBlocks::MAX_BLOCKS)] {
                let top = f64::from(u32::MAX) * (n_blocks as f64 * FRACTION_PER_STEP);
                assert!(n_blocks == 0 || u64::from(top as u32) < n_blocks, "{n_blocks}");
            }
        }
    }

    proptest! {
        #[test]
        fn as_drawn_one_by_one(seed: u32, n_blocks in 0..=UniformBlocks::MAX_BLOCKS) {
            let mut plain = Taus88::new(seed);
            let mut blocks = UniformBlocks::new(plain.clone(), n_blocks).expect("within the bounds");
            for _ in 0..100 {
                prop_assert_eq!(blocks.next_block(), plain.below(n_blocks));
            }
        }
    }
}
