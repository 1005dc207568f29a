//! The seeded random streams. Users see their numbers: a run with a given seed touches the same blocks in the same
//! order on every machine. So the arithmetic here is fixed to the last bit.
//!
//! Must not know: purposes of streams, jobs, files.
//! Start reading at [`SeedTable`] (one seed for each purpose), then [`Generator`].

mod distribution;
mod generator;
mod hits;
mod lfsr;
mod permutation;
mod ranked_blocks;
mod seed_table;
mod taus258;
mod taus88;
mod uniform_blocks;

pub use distribution::{DistributionShape, SkewedBlocks, file_distribution_seed};
pub use generator::{Generator, GeneratorKind};
pub use hits::{HitCounts, HitRow, HitsError};
pub use lfsr::Lfsr;
pub use permutation::Permutation;
pub use ranked_blocks::{RankedBlocks, RankedSeeds};
pub use seed_table::{DEFAULT_RAND_SEED, OwnSeed, SeedIndex, SeedTable};
pub use taus88::Taus88;
pub use taus258::Taus258;
pub use uniform_blocks::UniformBlocks;

/// A number of the system, another one at each call.
pub fn system_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library seeds its hash maps with the system's random numbers.
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// 2^64 divided by the square of the golden ratio: the odd multiplier that scatters ranks of skewed distributions and words of random fills.
pub const GOLDEN_RATIO_64: u64 = 0x61C8_8646_80B5_83EB;

/// Every bit of the outcome depends on every bit of the word (S. Vigna, the output function of `splitmix64`, public domain).
#[inline]
const fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

/// `trunc(n * fraction)` in double arithmetic, for a fraction in `0.0..=1.0`; 0 for `n = 0`.
///
/// The multiplication rounds to 53 bits, so for `n` above 2^21 this can differ by one from an exact integer product:
/// the streams are defined with the double. Never returns `n`: a fraction that was rounded up to 1.0 gives `n - 1`.
#[inline]
fn scale_fraction(n: u64, fraction: f64) -> u64 {
    ((n as f64 * fraction) as u64).min(n.saturating_sub(1))
}

/// Inclusive draw `lo + trunc((hi - lo + 1) * fraction)`; `lo` where `hi <= lo`.
#[inline]
fn between_fraction(lo: u64, hi: u64, fraction: f64) -> u64 {
    // The span is at most hi - lo + 1, and scale_fraction stays below it: the sum cannot exceed hi.
    let span = hi.saturating_sub(lo).saturating_add(1);
    lo + scale_fraction(span, fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fraction_of_one_stays_below_the_bound() {
        assert_eq!(scale_fraction(10, 1.0), 9);
        assert_eq!(scale_fraction(0, 0.5), 0);
        assert_eq!(scale_fraction(u64::MAX, 1.0), u64::MAX - 1);
    }

    #[test]
    fn between_reaches_both_ends() {
        assert_eq!(between_fraction(5, 7, 0.0), 5);
        assert_eq!(between_fraction(5, 7, 0.999), 7);
        assert_eq!(between_fraction(7, 5, 0.999), 7);
        assert!(between_fraction(0, u64::MAX, 1.0) > u64::MAX - 2);
    }
}
