//! taus88: the 32-bit combined Tausworthe generator of every stream unless `random_generator=tausworthe64`.
//!
//! Source: P. L'Ecuyer, "Maximally equidistributed combined Tausworthe generators", 1996; the seeding is fio's.

use super::{between_fraction, scale_fraction};
use crate::random::SeedTable;

/// 2^-32: turns a 32-bit output into a fraction below 1. A power of two, so the multiplication is exact.
const FRACTION_PER_STEP: f64 = 1.0 / 4_294_967_296.0;

/// A taus88 stream: 12 bytes of state, about 1 ns an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taus88 {
    words: [u32; 3],
}

impl Taus88 {
    pub const MAX: u32 = u32::MAX;

    /// Outputs thrown away after seeding.
    const N_DISCARDED: usize = 6;

    /// Least values of the three words: below them a component would be stuck at zero.
    const MINIMA: [u32; 3] = [1, 7, 15];

    /// The stream of `seed`; every seed is legal. From a [`SeedTable`] use the low 32 bits, as [`Self::from_table`] does.
    pub fn new(seed: u32) -> Self {
        let mut previous = 53_u32;
        let words = Self::MINIMA.map(|least| {
            previous = previous.wrapping_mul(69_069) ^ seed;
            if previous < least {
                previous += least;
            }
            previous
        });
        let mut stream = Self { words };
        for _ in 0..Self::N_DISCARDED {
            stream.next_u32();
        }
        stream
    }

    /// The stream that continues from the state of [`Self::words`].
    pub const fn from_words(words: [u32; 3]) -> Self {
        Self { words }
    }

    /// The state from which it continues.
    pub fn words(&self) -> [u32; 3] {
        self.words
    }

    /// The stream that a job uses for one purpose.
    pub fn from_table(seeds: &SeedTable, index: super::SeedIndex) -> Self {
        Self::new(seeds.get(index) as u32)
    }

    /// The next output, `0..=u32::MAX`.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        let [s1, s2, s3] = self.words;
        let s1 = ((s1 & 0xFFFF_FFFE) << 12) ^ (((s1 << 13) ^ s1) >> 19);
        let s2 = ((s2 & 0xFFFF_FFF8) << 4) ^ (((s2 << 2) ^ s2) >> 25);
        let s3 = ((s3 & 0xFFFF_FFF0) << 17) ^ (((s3 << 3) ^ s3) >> 11);
        self.words = [s1, s2, s3];
        s1 ^ s2 ^ s3
    }

    /// The next output as a fraction in `0.0..1.0`.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        f64::from(self.next_u32()) * FRACTION_PER_STEP
    }

    /// A fraction that is never zero, `(r + 1) / 2^32`, in `2^-32..=1.0`: safe to take a logarithm of.
    #[inline]
    pub fn open_fraction(&mut self) -> f64 {
        (f64::from(self.next_u32()) + 1.0) * FRACTION_PER_STEP
    }

    /// A uniform value in `0..n`; 0 for `n = 0`.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        scale_fraction(n, self.fraction())
    }

    /// A uniform value in `lo..=hi`; `lo` where `hi <= lo`. One output is drawn in any case.
    #[inline]
    pub fn between(&mut self, lo: u64, hi: u64) -> u64 {
        between_fraction(lo, hi, self.fraction())
    }

    /// A draw to compare with a percentage: `1..=100`.
    #[inline]
    pub fn percent(&mut self) -> u32 {
        self.between(1, 100) as u32
    }

    /// A seed for the contents of a buffer: the 64-bit product of two outputs.
    #[inline]
    pub fn buffer_seed(&mut self) -> u64 {
        let first = u64::from(self.next_u32());
        // Cannot overflow: both factors are below 2^32.
        first * u64::from(self.next_u32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeedIndex;

    /// Recorded from fio: randread over 16 blocks without a random map, job 1, default seed.
    #[test]
    fn reference_offsets() {
        let seeds = SeedTable::new(crate::random::DEFAULT_RAND_SEED, 1);
        let mut stream = Taus88::from_table(&seeds, SeedIndex::Offset);
        let blocks: Vec<u64> = (0..16).map(|_| stream.below(16)).collect();
        assert_eq!(blocks, [15, 13, 10, 8, 9, 15, 0, 3, 5, 13, 10, 9, 15, 6, 0, 11]);
    }

    /// Recorded from fio 3.41: job 2, default seed.
    #[test]
    fn recorded_offsets_of_a_second_job() {
        let seeds = SeedTable::new(crate::random::DEFAULT_RAND_SEED, 2);
        let mut stream = Taus88::from_table(&seeds, SeedIndex::Offset);
        let blocks: Vec<u64> = (0..16).map(|_| stream.below(16)).collect();
        assert_eq!(blocks, [3, 2, 3, 6, 13, 9, 11, 8, 2, 6, 9, 13, 11, 5, 8, 8]);
    }

    #[test]
    fn small_first_words_are_lifted() {
        // This seed makes the first word 53 * 69069 ^ seed = 0, which becomes 1.
        let seed = 53 * 69_069;
        let multiplier = 69_069_u32;
        let second = multiplier ^ seed;
        let mut by_hand = Taus88 { words: [1, second, second.wrapping_mul(multiplier) ^ seed] };
        for _ in 0..6 {
            by_hand.next_u32();
        }
        assert_eq!(Taus88::new(seed), by_hand);
    }

    #[test]
    fn draws_follow_the_same_outputs() {
        let mut plain = Taus88::new(7);
        let mut drawn = Taus88::new(7);
        for _ in 0..1000 {
            let r = f64::from(plain.next_u32()) / 4_294_967_296.0;
            assert_eq!(drawn.percent(), 1 + (100.0 * r) as u32);
        }
        let (a, b) = (plain.next_u32(), plain.next_u32());
        assert_eq!(drawn.buffer_seed(), u64::from(a) * u64::from(b));
        let r = plain.next_u32();
        assert_eq!(drawn.open_fraction().to_bits(), ((f64::from(r) + 1.0) / 4_294_967_296.0).to_bits());
    }
}
