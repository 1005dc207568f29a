//! Skewed choices of blocks: zipf, pareto and normal (`random_distribution`, `file_service_type`).
//!
//! A draw is a rank (0 the most frequent), which a multiplication scatters over the blocks, and a shift. The arithmetic
//! is in doubles, with exactly fio's operations.
//!
//! Must not know: files, jobs. Start reading at [`SkewedBlocks`]; a [`DistributionShape`] has the part that is worth
//! sharing.

use super::{GOLDEN_RATIO_64, SeedIndex, SeedTable, Taus88};
use crate::error::{AllowedParameter, BuildError};
use crate::jhash::jhash;

/// Terms of zipf's normalising sum that are added up, at most: about 0.3 s of start-up time.
const MAX_ZETA_TERMS: u64 = 10_000_000;

/// Draws that are averaged for one value of a normal distribution.
const N_NORMAL_DRAWS: u64 = 12;

/// A distribution over a number of blocks, without a stream. Cheap to copy, not always cheap to build: files of the
/// same size share one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistributionShape {
    n_blocks: u64,
    kind: DistributionKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum DistributionKind {
    Zipf(Zipf),
    /// The share h of the ranks, rounded up, is hot.
    Pareto {
        power: f64,
        n_hot_ranks: u64,
    },
    /// Ranks less than `middle` from half of the blocks are hot.
    Normal {
        spread: u64,
        middle: u64,
    },
}

/// Constants of Gray's method of drawing from a zipf distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Zipf {
    /// Sum of all weights, of which rank 0 has 1.
    weight_sum: f64,
    /// Weight of ranks 0 and 1 together, `1 + 0.5^theta`.
    first_two: f64,
    alpha: f64,
    eta: f64,
}

impl DistributionShape {
    /// Rank k is drawn in proportion to `1 / (k + 1)^theta`.
    ///
    /// # Errors
    /// No blocks; `theta` 1 (the method has no answer there), below 0 or not finite.
    pub fn zipf(n_blocks: u64, theta: f64) -> Result<Self, BuildError> {
        let is_allowed = theta >= 0.0 && theta.is_finite() && (theta - 1.0).abs() > f64::EPSILON;
        let n_blocks = check(n_blocks, theta, is_allowed, AllowedParameter::ZipfTheta)?;
        let n = n_blocks as f64;
        let weight_sum = (1..=n_blocks.min(MAX_ZETA_TERMS)).map(|i| (1.0 / i as f64).powf(theta)).sum();
        let first_two = 1.0 + 0.5_f64.powf(theta);
        let eta = (1.0 - (2.0 / n).powf(1.0 - theta)) / (1.0 - first_two / weight_sum);
        Ok(Self {
            n_blocks,
            kind: DistributionKind::Zipf(Zipf { weight_sum, first_two, alpha: 1.0 / (1.0 - theta), eta }),
        })
    }

    /// A share `1 - h` of the draws goes to a share `h` of the blocks, and within that share the same way again.
    ///
    /// # Errors
    /// No blocks; `h` not between 0 and 1.
    pub fn pareto(n_blocks: u64, h: f64) -> Result<Self, BuildError> {
        let n_blocks = check(n_blocks, h, h > 0.0 && h < 1.0, AllowedParameter::ParetoH)?;
        let n_hot_ranks = (n_blocks as f64 * h).ceil() as u64;
        Ok(Self { n_blocks, kind: DistributionKind::Pareto { power: h.ln() / (1.0 - h).ln(), n_hot_ranks } })
    }

    /// Ranks around the middle, with a deviation in percent of the blocks.
    ///
    /// # Errors
    /// No blocks; a deviation below 0, or of 100 % or more.
    pub fn normal(n_blocks: u64, deviation_percent: f64) -> Result<Self, BuildError> {
        let is_allowed = (0.0..100.0).contains(&deviation_percent);
        let n_blocks = check(n_blocks, deviation_percent, is_allowed, AllowedParameter::NormalDeviation)?;
        let spread = (n_blocks as f64 * deviation_percent / 100.0).ceil() as u64;
        let (spread, middle) = (spread.min(n_blocks / 2), n_blocks / N_NORMAL_DRAWS);
        Ok(Self { n_blocks, kind: DistributionKind::Normal { spread, middle } })
    }

    pub const fn n_blocks(&self) -> u64 {
        self.n_blocks
    }
}

pub(super) fn check(n_blocks: u64, given: f64, is_allowed: bool, allowed: AllowedParameter) -> Result<u64, BuildError> {
    if !is_allowed {
        return Err(BuildError::DistributionParameter { given, allowed });
    }
    if n_blocks == 0 { Err(BuildError::DistributionOfNothing) } else { Ok(n_blocks) }
}

/// The seed of the distribution over one file of a job.
pub fn file_distribution_seed(file_name: &[u8], thread_number: u64, seeds: &SeedTable) -> u32 {
    let hash = u64::from(jhash(file_name));
    hash.wrapping_mul(thread_number).wrapping_mul(seeds.get(SeedIndex::Offset)) as u32
}

/// A stream of blocks that follows a [`DistributionShape`].
#[derive(Debug, Clone, PartialEq)]
pub struct SkewedBlocks {
    shape: DistributionShape,
    stream: Taus88,
    shift: u64,
    scatter: u64,
    /// Draws of the hottest ranks, see [`Self::hot_draws`].
    n_hot: u64,
}

impl SkewedBlocks {
    /// A stream with its own generator. `center`, `0.0..=1.0`, is the position of the most frequent rank within the
    /// blocks; without it that position is drawn (zipf, pareto) or not shifted (normal).
    pub fn new(shape: DistributionShape, seed: u32, center: Option<f64>) -> Self {
        let mut stream = Taus88::new(seed);
        let n = shape.n_blocks as f64;
        let shift = if let DistributionKind::Normal { .. } = shape.kind {
            // fio keeps only the low 32 bits, so that a centre below 0.5 (a negative shift) or more than 2^33 blocks
            // move the most frequent rank elsewhere. This is part of the stream, so it is kept.
            center.map_or(0, |center| u64::from((n * (center - 0.5)) as i64 as u32))
        } else {
            // Drawn even where a centre takes its place: the draws that follow are the same.
            let drawn = stream.next_u32().into();
            center.map_or(drawn, |center| (n * center) as u64)
        };
        Self { shape, stream, shift, scatter: GOLDEN_RATIO_64, n_hot: 0 }
    }

    /// Leaves ranks where they are, neighbours of each other: for the choice of files. There the reference draws from
    /// `nrfiles << 10` blocks with the seed [`SeedIndex::FilePick`], and the file is the block `>> 10`.
    #[must_use]
    pub const fn without_scatter(self) -> Self {
        Self { scatter: 1, ..self }
    }

    /// Draws of the hottest ranks so far, one rank of zipf, the share h of pareto or the middle of normal, and the share of all draws that they
    /// are by the law; `None`: a normal distribution has too few blocks to tell.
    pub fn hot_draws(&self) -> Option<(u64, f64)> {
        let share = match self.shape.kind {
            DistributionKind::Zipf(zipf) => 1.0 / zipf.weight_sum,
            DistributionKind::Pareto { power, n_hot_ranks } => {
                let last_rank = self.shape.n_blocks.saturating_sub(1).max(1) as f64;
                (n_hot_ranks as f64 / last_rank).min(1.0).powf(1.0 / power)
            }
            DistributionKind::Normal { .. } if self.shape.n_blocks < LEAST_NORMAL_BLOCKS => return None,
            DistributionKind::Normal { spread, middle } => {
                let n = self.shape.n_blocks as f64;
                // Ranks are rounded up: those of the middle stand for one value less than twice as many.
                normal_share((middle as f64 - 0.5) / n, spread as f64 / n)
            }
        };
        Some((self.n_hot, share))
    }

    /// The next block, `0..n_blocks`.
    #[inline]
    pub fn next_block(&mut self) -> u64 {
        let n_blocks = self.shape.n_blocks;
        let rank = match &self.shape.kind {
            DistributionKind::Zipf(zipf) => zipf.rank(unit_fraction(&mut self.stream), n_blocks, &mut self.n_hot),
            DistributionKind::Pareto { power, n_hot_ranks } => {
                let rank = ((n_blocks - 1) as f64 * unit_fraction(&mut self.stream).powf(*power)) as u64;
                self.n_hot += u64::from(rank < *n_hot_ranks);
                rank
            }
            DistributionKind::Normal { spread, middle } => {
                let rank = normal_rank(&mut self.stream, n_blocks, *spread);
                self.n_hot += u64::from(rank.abs_diff(n_blocks / 2) < *middle);
                rank
            }
        };
        let scattered = rank.wrapping_mul(self.scatter).wrapping_add(self.shift);
        // Most sizes are powers of two, and a division of 64 bits costs as much as all the rest but the power.
        if n_blocks.is_power_of_two() {
            return scattered & (n_blocks - 1);
        }
        // Not zero: a shape has at least one block.
        scattered % n_blocks
    }
}

/// A fraction that reaches 1.0, unlike that of [`Taus88::fraction`].
#[inline]
fn unit_fraction(stream: &mut Taus88) -> f64 {
    f64::from(stream.next_u32()) / f64::from(Taus88::MAX)
}

impl Zipf {
    /// A rank. The first one is counted where it is known already: other draws do not pay for it.
    #[inline]
    fn rank(&self, fraction: f64, n_blocks: u64, n_first: &mut u64) -> u64 {
        let z = fraction * self.weight_sum;
        if z < 1.0 {
            *n_first += 1;
            0
        } else if z < self.first_two {
            1
        } else {
            (n_blocks as f64 * (self.eta * fraction - self.eta + 1.0).powf(self.alpha)) as u64
        }
    }
}

/// Among fewer blocks the rounding of ranks changes the share of the middle ones.
const LEAST_NORMAL_BLOCKS: u64 = 500;

/// The share of the ranks of [`normal_rank`] that are less than `middle` from a half, where `spread` is the width of the deviation; all as shares
/// of the blocks. The mean of twelve uniform draws has a standard deviation of a twelfth and a kurtosis of -0.1, and is nearly normal else.
fn normal_share(middle: f64, spread: f64) -> f64 {
    const DEVIATION: f64 = 1.0 / N_NORMAL_DRAWS as f64;
    const N_STEPS: u32 = 2_000;
    // The density over all ranks, in steps; of each, the share of deviations that leave it in the middle.
    let (mut within, mut all) = (0.0, 0.0);
    for step in 0..N_STEPS {
        let off = (f64::from(step) + 0.5) / f64::from(N_STEPS) - 0.5;
        let square = (off / DEVIATION).powi(2);
        let density = (-0.5 * square).exp() * (1.0 - 0.1 / 24.0 * (square * square - 6.0 * square + 3.0));
        let (low, high) = (off - spread / 2.0, off + spread / 2.0);
        let share = if spread > 0.0 {
            (high.min(middle) - low.max(-middle)).max(0.0) / spread
        } else {
            f64::from(u8::from(off.abs() < middle))
        };
        within += density * share;
        all += density;
    }
    within / all
}

/// The mean of some draws, rounded up, and a deviation that is halved until it stays inside.
fn normal_rank(stream: &mut Taus88, n_blocks: u64, spread: u64) -> u64 {
    let modulus = n_blocks.saturating_add(1);
    // Cannot overflow: each draw is below 2^32.
    let sum: u64 = (0..N_NORMAL_DRAWS).map(|_| u64::from(stream.next_u32()) % modulus).sum();
    let rank = sum.div_ceil(N_NORMAL_DRAWS);
    if spread == 0 {
        return rank;
    }
    let mut deviation = (spread as f64 * stream.fraction()) as i64 - (spread / 2) as i64;
    // Ends: halving towards zero reaches zero. A sum below zero wraps to far above n_blocks.
    while deviation != 0 && rank.wrapping_add_signed(deviation) >= n_blocks {
        deviation /= 2;
    }
    rank.wrapping_add_signed(deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::DEFAULT_RAND_SEED;
    use proptest::prelude::*;

    /// Job 1, default seed, the file of fio's vectors, 256 blocks.
    fn reference_blocks(shape: DistributionShape) -> Vec<u64> {
        let seeds = SeedTable::new(DEFAULT_RAND_SEED, 1);
        let seed = file_distribution_seed(b"a-rather-long-file-name.dat", 1, &seeds);
        let mut stream = SkewedBlocks::new(shape, seed, None);
        (0..16).map(|_| stream.next_block()).collect()
    }

    /// Recorded from fio.
    #[test]
    fn reference_blocks_of_each_shape() {
        let table = [
            (
                DistributionShape::zipf(256, 1.2),
                [188, 17, 0, 91, 38, 59, 235, 59, 101, 80, 26, 122, 252, 231, 251, 101],
            ),
            (
                DistributionShape::pareto(256, 0.3),
                [157, 197, 66, 186, 4, 0, 217, 214, 17, 168, 76, 122, 71, 159, 220, 17],
            ),
            (
                DistributionShape::normal(256, 0.0),
                [44, 23, 241, 40, 153, 250, 166, 216, 2, 23, 61, 170, 166, 57, 103, 241],
            ),
            (
                DistributionShape::normal(256, 10.0),
                [40, 237, 111, 208, 31, 32, 233, 212, 136, 61, 250, 212, 145, 250, 170, 199],
            ),
        ];
        for (shape, blocks) in table {
            let shape = shape.unwrap();
            assert_eq!(reference_blocks(shape), blocks, "{shape:?}");
        }
    }

    /// The weights of zipf are added up; of pareto a share h has 1 - h of the draws; sums of normal are counted.
    #[test]
    fn hot_draws_are_as_many_as_the_law_wants() {
        let weights: f64 = (1..=1_000).map(|rank| f64::from(rank).powf(-1.2)).sum();
        for (shape, wanted) in [
            (DistributionShape::zipf(1_000, 1.2), 1.0 / weights),
            (DistributionShape::pareto(1_000, 0.2), 0.8),
            (DistributionShape::pareto(1_000, 0.4), 0.6),
            // By the exact frequencies of all sums of twelve draws, and of all deviations.
            (DistributionShape::normal(1_000, 0.0), 0.6731),
            (DistributionShape::normal(1_000, 20.0), 0.5748),
            (DistributionShape::normal(1_000, 50.0), 0.3275),
        ] {
            let mut stream = SkewedBlocks::new(shape.unwrap(), 7, None);
            (0..100_000).for_each(|_| _ = stream.next_block());
            let (n_hot, share) = stream.hot_draws().expect("they are counted");
            assert!((share - wanted).abs() < 0.002, "{share} {wanted}");
            // Five deviations of a half are 0.008.
            assert!((n_hot as f64 / 100_000.0 - wanted).abs() < 0.008, "{n_hot} {wanted}");
        }
        assert_eq!(SkewedBlocks::new(DistributionShape::normal(100, 10.0).unwrap(), 7, None).hot_draws(), None);
    }

    /// Recorded from fio 3.41: `nrfiles=16`, job 1, default seed, and each kind of `file_service_type`.
    #[test]
    fn files_are_picked_without_scatter() {
        let n = 16 << 10;
        let table = [
            (DistributionShape::zipf(n, 1.2), [7, 7, 7, 7, 7, 7, 10, 7, 10, 7, 7, 7, 7, 9, 7, 7, 7, 7, 5, 7]),
            (DistributionShape::pareto(n, 0.3), [15, 7, 7, 12, 7, 11, 4, 9, 4, 15, 8, 7, 11, 4, 7, 9, 11, 8, 7, 11]),
            (DistributionShape::normal(n, 10.0), [5, 9, 8, 8, 7, 9, 8, 9, 6, 8, 8, 10, 8, 9, 8, 6, 9, 10, 8, 5]),
        ];
        let seed = SeedTable::new(DEFAULT_RAND_SEED, 1).get(SeedIndex::FilePick) as u32;
        for (shape, files) in table {
            let mut stream = SkewedBlocks::new(shape.unwrap(), seed, None).without_scatter();
            assert_eq!(files.map(|_| stream.next_block() >> 10), files);
        }
    }

    #[test]
    fn parameters_are_checked() {
        for shape in [
            DistributionShape::zipf(10, 1.0),
            DistributionShape::zipf(10, f64::NAN),
            DistributionShape::zipf(10, -0.1),
            DistributionShape::pareto(10, 1.0),
            DistributionShape::pareto(10, 0.0),
            DistributionShape::normal(10, 100.0),
            DistributionShape::normal(10, -1.0),
        ] {
            assert!(matches!(shape, Err(BuildError::DistributionParameter { .. })));
        }
        assert_eq!(DistributionShape::zipf(0, 1.2), Err(BuildError::DistributionOfNothing));
    }

    /// Without scatter the ranks are visible: rank 0 has the share 1 / sum of weights of the draws, here 0.28 of
    /// 100,000.
    #[test]
    fn zipf_has_its_frequencies() {
        let n_draws = 100_000;
        let mut stream = SkewedBlocks::new(DistributionShape::zipf(1000, 1.2).unwrap(), 1, Some(0.0)).without_scatter();
        let mut counts = vec![0_u32; 1000];
        (0..n_draws).for_each(|_| counts[stream.next_block() as usize] += 1);
        let zetan: f64 = (1..=1000).map(|i| f64::from(i).powf(-1.2)).sum();
        for rank in [0, 1] {
            let expected = f64::from(n_draws) / f64::from(rank + 1).powf(1.2) / zetan;
            let deviation = (f64::from(counts[rank as usize]) - expected).abs();
            // Five standard deviations of a binomial count are below 5 * sqrt(expected).
            assert!(deviation < 5.0 * expected.sqrt(), "rank {rank}: {deviation} off {expected}");
        }
    }

    proptest! {
        #[test]
        fn blocks_stay_in_range(
            n_blocks in 1_u64..100_000,
            seed: u32,
            theta in 0.1_f64..3.0,
            share in 0.01_f64..0.99,
            center in proptest::option::of(0.0_f64..=1.0),
        ) {
            let shapes = [DistributionShape::zipf(n_blocks, theta), DistributionShape::pareto(n_blocks, share), DistributionShape::normal(n_blocks, share * 100.0)];
            for shape in shapes.into_iter().flatten() {
                let mut stream = SkewedBlocks::new(shape, seed, center);
                for _ in 0..50 {
                    prop_assert!(stream.next_block() < n_blocks);
                }
            }
        }
    }
}
