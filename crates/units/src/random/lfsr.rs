//! A linear feedback shift register that visits every block exactly once, in a scattered order, without a random map
//! (`random_generator=lfsr`).
//!
//! Must not know: files, jobs.

use crate::BuildError;

/// Tap positions (1 is the lowest bit) of a register of 3 + index bits. Every set gives the full cycle of 2^n - 1 states.
const TAPS: [&[u32]; 61] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 31, 29, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
    &[41, 38],
    &[42, 41, 20, 19],
    &[43, 42, 38, 37],
    &[44, 43, 18, 17],
    &[45, 44, 42, 41],
    &[46, 45, 26, 25],
    &[47, 42],
    &[48, 47, 21, 20],
    &[49, 40],
    &[50, 49, 24, 23],
    &[51, 50, 36, 35],
    &[52, 49],
    &[53, 52, 38, 37],
    &[54, 53, 18, 17],
    &[55, 31],
    &[56, 55, 35, 34],
    &[57, 50],
    &[58, 39],
    &[59, 58, 38, 37],
    &[60, 59],
    &[61, 60, 46, 45],
    &[62, 61, 6, 5],
    &[63, 62],
];

/// Narrowest register.
const MIN_BITS: u32 = 3;

/// The register: yields each of `0..n_blocks` once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lfsr {
    state: u64,
    seed_state: u64,
    top_bit: u64,
    tap_mask: u64,
    n_blocks: u64,
    n_left: u64,
}

impl Lfsr {
    /// Most blocks that a register can cover.
    pub const MAX_BLOCKS: u64 = (1 << 63) - 1;

    /// A register over `0..n_blocks` that starts from the low bits of `seed`, or from 0 where those are all ones: the register could
    /// not leave that state.
    ///
    /// # Errors
    /// [`BuildError::LfsrTooManyBlocks`] above [`Self::MAX_BLOCKS`].
    pub fn new(n_blocks: u64, seed: u64) -> Result<Self, BuildError> {
        if n_blocks > Self::MAX_BLOCKS {
            return Err(BuildError::LfsrTooManyBlocks { n_blocks });
        }
        // The least n with 2^n > n_blocks is its bit length: at most 63 here.
        let n_bits = (u64::BITS - n_blocks.leading_zeros()).max(MIN_BITS);
        let state_mask = (1 << n_bits) - 1;
        let state = if seed & state_mask == state_mask { 0 } else { seed & state_mask };
        let taps = TAPS[(n_bits - MIN_BITS) as usize];
        let tap_mask = taps.iter().map(|tap| 1 << (tap - 1)).sum();
        let mut register =
            Self { state, seed_state: state, top_bit: 1 << (n_bits - 1), tap_mask, n_blocks, n_left: n_blocks };
        // The reference never yields the first state after the seed at the start (it comes last in the cycle).
        register.step();
        Ok(register)
    }

    #[inline]
    const fn step(&mut self) {
        let toggled = if self.state & 1 == 0 { self.tap_mask } else { 0 };
        self.state = ((self.state >> 1) | self.top_bit) ^ toggled;
    }

    /// The next block, or `None` after all of them.
    #[inline]
    pub fn next_block(&mut self) -> Option<u64> {
        self.n_left = self.n_left.checked_sub(1)?;
        // Ends: n_blocks >= 1 here, every state but the all-ones one is on the one cycle, and a state below n_blocks is
        // on it. At most half of a cycle is skipped in all, since n_blocks >= 2^(n-1) (or n = 3).
        loop {
            self.step();
            if self.state < self.n_blocks {
                return Some(self.state);
            }
        }
    }

    /// Another pass over all blocks, unless this one has not begun. As seen on fio 3.41, it starts from the seed and leaves
    /// out no state.
    pub const fn rewind(&mut self) {
        if self.n_left < self.n_blocks {
            (self.state, self.n_left) = (self.seed_state, self.n_blocks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{DEFAULT_RAND_SEED, SeedIndex, SeedTable};
    use proptest::prelude::*;

    fn all(mut register: Lfsr) -> Vec<u64> {
        std::iter::from_fn(|| register.next_block()).collect()
    }

    /// Recorded from fio: 256 blocks, job 1, default seed.
    #[test]
    fn reference_offsets() {
        let seed = SeedTable::new(DEFAULT_RAND_SEED, 1).get(SeedIndex::Offset);
        let blocks = all(Lfsr::new(256, seed).unwrap());
        assert_eq!(blocks[..16], [228, 98, 33, 152, 92, 62, 15, 224, 96, 32, 0, 16, 24, 28, 30, 31]);
    }

    /// Recorded from fio 3.41: 16 blocks, jobs 1 and 2, default seed.
    #[test]
    fn recorded_offsets() {
        let of_job = |n_job| {
            let seed = SeedTable::new(DEFAULT_RAND_SEED, n_job).get(SeedIndex::Offset);
            all(Lfsr::new(16, seed).unwrap())
        };
        assert_eq!(of_job(1), [11, 9, 14, 3, 8, 0, 4, 6, 7, 10, 1, 12, 2, 5, 13, 15]);
        assert_eq!(of_job(2), [0, 4, 6, 7, 10, 1, 12, 2, 5, 13, 15, 11, 9, 14, 3, 8]);
    }

    /// Of fio 3.41, with `randseed=6`: 5 blocks from state 4 of the cycle 0 2 3 5 6 1 4, in five passes.
    #[test]
    fn a_new_pass_starts_from_the_seed() {
        let mut register = Lfsr::new(5, 4).unwrap();
        register.rewind();
        assert_eq!(all(register.clone()), [2, 3, 1, 4, 0]);
        for n_before in [1, 3, 5] {
            (0..n_before).for_each(|_| _ = register.next_block());
            register.rewind();
            assert_eq!(all(register.clone()), [0, 2, 3, 1, 4]);
        }
    }

    /// fio ends such a job without an I/O; any other start value is as good.
    #[test]
    fn a_seed_of_all_ones_starts_from_another_state() {
        for (n_blocks, seed) in [(4, 7), (4, u64::MAX), (1024, 0x7ff), (1_000, 0xffff)] {
            let register = Lfsr::new(n_blocks, seed).unwrap();
            assert_eq!(register, Lfsr::new(n_blocks, 0).unwrap());
            let mut blocks = all(register);
            blocks.sort_unstable();
            assert!(blocks.into_iter().eq(0..n_blocks), "{n_blocks} from {seed:#x}");
        }
    }

    #[test]
    fn refuses_what_no_register_covers() {
        assert_eq!(Lfsr::new(1 << 63, 1), Err(BuildError::LfsrTooManyBlocks { n_blocks: 1 << 63 }));
        assert!(Lfsr::new((1 << 63) - 1, 1).is_ok());
        assert_eq!(Lfsr::new(0, 1).unwrap().next_block(), None);
    }

    #[test]
    fn tap_table_is_one_row_a_width() {
        for (index, taps) in TAPS.iter().enumerate() {
            assert_eq!(taps[0] as usize, index + MIN_BITS as usize, "the highest tap is the width");
        }
    }

    #[test]
    fn narrow_registers_have_the_full_cycle() {
        for n_bits in MIN_BITS..=20 {
            let n_blocks = (1_u64 << n_bits) - 1;
            let mut blocks = all(Lfsr::new(n_blocks, 0).unwrap());
            blocks.sort_unstable();
            assert!(blocks.iter().copied().eq(0..n_blocks), "{n_bits} bits");
        }
    }

    proptest! {
        #[test]
        fn every_block_once(n_blocks in 1_u64..5000, seed: u64) {
            let register = Lfsr::new(n_blocks, seed).expect("few blocks");
            let mut again = register.clone();
            let mut blocks = all(register);
            blocks.sort_unstable();
            prop_assert!(blocks.into_iter().eq(0..n_blocks));
            let first = again.next_block();
            again.rewind();
            prop_assert_eq!(std::iter::from_fn(|| again.next_block()).count() as u64, n_blocks);
            prop_assert!(first.is_some());
        }
    }
}
