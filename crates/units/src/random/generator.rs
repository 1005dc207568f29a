//! The generator that a job chose with `random_generator`, behind one type.
//!
//! Start reading at [`Generator::below`], the draw of every uniform offset.

use super::{SeedIndex, SeedTable, Taus88, Taus258};

/// Which of the two generators a stream uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GeneratorKind {
    /// `tausworthe`: 32 bits an output, the default.
    #[default]
    Taus88,
    /// `tausworthe64`: 64 bits an output.
    Taus258,
}

/// A stream of one of the two generators. The choice is one well predicted branch a draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generator {
    /// 32 bits an output.
    Taus88(Taus88),
    /// 64 bits an output.
    Taus258(Taus258),
}

impl Generator {
    /// A stream from a 64-bit seed; taus88 takes its low 32 bits.
    pub fn new(kind: GeneratorKind, seed: u64) -> Self {
        match kind {
            GeneratorKind::Taus88 => Self::Taus88(Taus88::new(seed as u32)),
            GeneratorKind::Taus258 => Self::Taus258(Taus258::new(seed)),
        }
    }

    /// The stream that a job uses for one purpose.
    pub fn from_table(kind: GeneratorKind, seeds: &SeedTable, index: SeedIndex) -> Self {
        Self::new(kind, seeds.get(index))
    }

    /// Largest output: 2^32 - 1 or 2^64 - 1. Divided by where a fraction may reach 1.0.
    #[inline]
    pub const fn max_output(&self) -> u64 {
        match self {
            Self::Taus88(_) => Taus88::MAX as u64,
            Self::Taus258(_) => u64::MAX,
        }
    }

    /// The next output, `0..=max_output()`.
    #[inline]
    pub fn next_output(&mut self) -> u64 {
        match self {
            Self::Taus88(stream) => u64::from(stream.next_u32()),
            Self::Taus258(stream) => stream.next_u64(),
        }
    }

    /// A uniform value in `0..n`: the block of a random offset. 0 for `n = 0`.
    ///
    /// `trunc(n * (r / 2^32))` (or `/ 2^64`) in double arithmetic, bit for bit. With 32 bits an output at most 2^32
    /// different values exist: use taus258 for more blocks than that.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        match self {
            Self::Taus88(stream) => stream.below(n),
            Self::Taus258(stream) => stream.below(n),
        }
    }

    /// A uniform value in `lo..=hi`; `lo` where `hi <= lo`.
    #[inline]
    pub fn between(&mut self, lo: u64, hi: u64) -> u64 {
        match self {
            Self::Taus88(stream) => stream.between(lo, hi),
            Self::Taus258(stream) => stream.between(lo, hi),
        }
    }

    /// A draw to compare with a percentage: `1..=100`.
    #[inline]
    pub fn percent(&mut self) -> u32 {
        match self {
            Self::Taus88(stream) => stream.percent(),
            Self::Taus258(stream) => stream.percent(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn taus88_takes_the_low_half_of_the_seed() {
        let mut wide = Generator::new(GeneratorKind::Taus88, 0x1234_5678_0000_0007);
        assert_eq!(wide.next_output(), u64::from(Taus88::new(7).next_u32()));
        assert_eq!(wide.max_output(), 0xFFFF_FFFF);
    }

    proptest! {
        #[test]
        fn draws_stay_in_their_range(seed: u64, n in 1_u64.., wide: bool, lo: u64, hi: u64) {
            let kind = if wide { GeneratorKind::Taus258 } else { GeneratorKind::Taus88 };
            let mut stream = Generator::new(kind, seed);
            prop_assert!(stream.below(n) < n);
            prop_assert!((1..=100).contains(&stream.percent()));
            let drawn = stream.between(lo, hi);
            prop_assert!(drawn == lo || (lo..=hi).contains(&drawn));
        }

        #[test]
        fn below_is_the_stated_double_arithmetic(seed: u64, n in 0_u64..1 << 52) {
            let mut plain = Generator::new(GeneratorKind::Taus88, seed);
            let mut drawn = plain.clone();
            let expected = (n as f64 * (plain.next_output() as f64 / 4_294_967_296.0)) as u64;
            prop_assert_eq!(drawn.below(n), expected);
        }
    }
}
