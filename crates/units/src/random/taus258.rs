//! taus258: the 64-bit combined Tausworthe generator of `random_generator=tausworthe64` and of files with more than
//! 2^32 blocks.
//!
//! Source: P. L'Ecuyer, "Tables of maximally equidistributed combined LFSR generators", 1999; the seeding is fio's.

use super::{between_fraction, scale_fraction};
use crate::random::{SeedIndex, SeedTable};

/// 2^-64: turns a 64-bit output into a fraction. The output itself is rounded to 53 bits first and may reach 1.0.
const FRACTION_PER_STEP: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// A taus258 stream: 40 bytes of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taus258 {
    words: [u64; 5],
}

/// One component of the generator: `((v & mask) << left) ^ (((v << inner_left) ^ v) >> right)`.
#[inline]
const fn step(v: u64, n_masked_bits: u32, left: u32, inner_left: u32, right: u32) -> u64 {
    let mask = !0 << n_masked_bits;
    ((v & mask) << left) ^ (((v << inner_left) ^ v) >> right)
}

impl Taus258 {
    /// Outputs thrown away after seeding.
    const N_DISCARDED: usize = 6;

    /// Least values of the five words.
    const MINIMA: [u64; 5] = [1, 7, 15, 33, 49];

    /// The stream of `seed`; every seed is legal.
    pub fn new(seed: u64) -> Self {
        let mut previous = 53_u64;
        let words = Self::MINIMA.map(|least| {
            previous = previous.wrapping_mul(6_906_969_069) ^ seed;
            if previous < least {
                previous += least;
            }
            previous
        });
        let mut stream = Self { words };
        for _ in 0..Self::N_DISCARDED {
            stream.next_u64();
        }
        stream
    }

    /// The stream that continues from the state of [`Self::words`].
    pub const fn from_words(words: [u64; 5]) -> Self {
        Self { words }
    }

    /// The state from which it continues.
    pub fn words(&self) -> [u64; 5] {
        self.words
    }

    /// The stream that a job uses for one purpose.
    pub fn from_table(seeds: &SeedTable, index: SeedIndex) -> Self {
        Self::new(seeds.get(index))
    }

    /// The next output, `0..=u64::MAX`.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [s1, s2, s3, s4, s5] = self.words;
        self.words = [
            step(s1, 1, 10, 1, 53),
            step(s2, 9, 5, 24, 50),
            step(s3, 12, 29, 3, 23),
            step(s4, 17, 23, 5, 24),
            step(s5, 23, 8, 3, 33),
        ];
        self.words.iter().fold(0, |output, word| output ^ word)
    }

    /// The next output as a fraction in `0.0..=1.0`; 1.0 only for the highest 2^10 outputs, which round up.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        self.next_u64() as f64 * FRACTION_PER_STEP
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from fio 3.41 with `random_generator=tausworthe64`, default seed, jobs 1 and 2.
    #[test]
    fn recorded_offsets() {
        let first = |n_job: u64| {
            let seeds = SeedTable::new(crate::random::DEFAULT_RAND_SEED, n_job);
            let mut stream = Taus258::from_table(&seeds, SeedIndex::Offset);
            (0..16).map(|_| stream.below(16)).collect::<Vec<u64>>()
        };
        assert_eq!(first(1), [5, 2, 11, 8, 13, 6, 15, 14, 7, 13, 2, 1, 2, 0, 14, 3]);
        assert_eq!(first(2), [4, 12, 6, 14, 9, 9, 4, 3, 12, 5, 4, 10, 7, 2, 3, 6]);
    }

    #[test]
    fn masks_are_those_of_the_published_table() {
        let masks = [1, 9, 12, 17, 23].map(|n: u32| u64::MAX << n);
        let published = [2_u64, 512, 4096, 131_072, 8_388_608].map(u64::wrapping_neg);
        assert_eq!(masks, published);
    }
}
