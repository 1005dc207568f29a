//! Confidence interval of the ratio of the means of two series.
//!
//! Must not know: what the series measure. Start reading at [`log_ratio`].

use super::bootstrap::{N_RESAMPLED, RANGE, SEED};
use super::dependence::{Whitened, block_sum, spread_of_phi};
use super::mean;
use super::student::{NORMAL_95, quantile, quantile_95, two_sided_p};
use ferrio_stats::ImprecisionReason;
use ferrio_units::random::Taus258;

/// Fewest values of a series.
const FEWEST: usize = 25;
/// Fewest blocks of a series: with fewer, the bootstrap has too little to draw from.
const FEWEST_BLOCKS: usize = 6;
/// Fewest independent values: with fewer, the correlation is not known well enough.
const FEWEST_EFFECTIVE: f64 = 2.5;
/// With a higher correlation, a series is hardly to be told from one that wanders away.
const HIGHEST_PHI: f64 = 0.965;
/// Correlations within this many standard errors of each other count as the same.
const CHANCE: f64 = 2.0;
/// The interval is wider by this, so that in no kind of simulated series it misses more than 5 % of the truths.
pub const MARGIN: f64 = 1.08;

/// The logarithm of a ratio, and the interval that covers the true one with a probability of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// The natural logarithm of the ratio; infinite, or no number, where a mean is 0.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Degrees of freedom of the interval; infinite: as many as the normal distribution.
    pub n_degrees: f64,
}

impl LogRatio {
    /// No change at all.
    pub const NONE: Self = Self { value: 0.0, low: 0.0, high: 0.0, n_degrees: f64::INFINITY };

    /// The probability with which chance alone makes a difference as large as this one, 0 to 1.
    pub fn p(&self) -> f64 {
        let distance = if self.value < 0.0 { self.high - self.value } else { self.value - self.low };
        match () {
            () if self.value == 0.0 => 1.0,
            () if distance <= 0.0 => 0.0,
            () => two_sided_p(self.value / distance * quantile_95(self.n_degrees), self.n_degrees),
        }
    }
}

/// The logarithm of (mean of `new` / mean of `base`), from a block bootstrap of what an autoregression leaves of both series.
///
/// # Errors
/// A series is too short, its values depend on each other so much that they say too little, or its mean is not above 0.
pub fn log_ratio(base: &[f64], new: &[f64]) -> Result<LogRatio, ImprecisionReason> {
    let (base, new) = (Relative::of(base)?, Relative::of(new)?);
    let value = (new.mean / base.mean).ln();
    let sides = match (Whitened::of(&base.values, 1), Whitened::of(&new.values, 1)) {
        _ if !value.is_finite() => return Err(ImprecisionReason::NotMeasured),
        // Without any noise the figures are exact.
        (None, None) => return Ok(LogRatio { value, low: value, high: value, n_degrees: f64::INFINITY }),
        (Some(first), Some(second)) => {
            let (first, second) = with_common_phi(&base, first, &new, second);
            [BlockMeans::of(&first)?, BlockMeans::of(&second)?]
        }
        (Some(side), None) | (None, Some(side)) => [BlockMeans::of(&side)?, BlockMeans::constant()],
    };
    let error = sides[0].error.hypot(sides[1].error);
    let of_blocks = 2.0 / shared(&sides, |side| 2.0 / (side.n_blocks as f64 - 1.0));
    // The bootstrap knows how uncertain the variance of the blocks is, and not how uncertain the correlation is.
    let in_all = 2.0 / (shared(&sides, |side| side.spread_of_blocks) + spread_of_correlation(&sides));
    let wider = MARGIN * error * (quantile(NORMAL_95, in_all) / quantile(NORMAL_95, of_blocks)).max(1.0);
    let arm = quantile_of_size(&sides, of_blocks) * wider;
    Ok(LogRatio { value, low: value - arm, high: value + arm, n_degrees: in_all })
}

/// Deviations from the mean, in units of the mean.
struct Relative {
    mean: f64,
    values: Vec<f64>,
}

impl Relative {
    fn of(values: &[f64]) -> Result<Self, ImprecisionReason> {
        if values.len() < FEWEST {
            return Err(ImprecisionReason::TooFewIntervals);
        }
        let mean = mean(values);
        if !mean.is_finite() || mean <= 0.0 {
            return Err(ImprecisionReason::NotMeasured);
        }
        Ok(Self { mean, values: values.iter().map(|value| value / mean - 1.0).collect() })
    }
}

/// Where chance explains the difference of the correlations of both sides, they have one, which is known better.
fn with_common_phi(base: &Relative, first: Whitened, new: &Relative, second: Whitened) -> (Whitened, Whitened) {
    let (n_first, n_second) = (base.values.len() as f64, new.values.len() as f64);
    let common = (first.phi * n_first + second.phi * n_second) / (n_first + n_second);
    let error = ((1.0 - common * common).max(0.0) * (1.0 / n_first + 1.0 / n_second)).sqrt();
    if (first.phi - second.phi).abs() > CHANCE * error {
        return (first, second);
    }
    (Whitened::with_phi(&base.values, common), Whitened::with_phi(&new.values, common))
}

/// The blocks of a series, as the bootstrap draws them.
struct BlockMeans {
    phi: f64,
    n: f64,
    /// Standard error of the mean, in units of the mean.
    error: f64,
    spread_of_blocks: f64,
    n_blocks: usize,
    /// For each start of a block its mean, in units of the mean of the series.
    blocks: Vec<f64>,
}

impl BlockMeans {
    fn of(whitened: &Whitened) -> Result<Self, ImprecisionReason> {
        let n_blocks = whitened.rest.len() / whitened.block;
        let n = whitened.rest.len() as f64;
        let n_effective = n * (1.0 - whitened.phi) / (1.0 + whitened.phi);
        if whitened.phi > HIGHEST_PHI || n_blocks < FEWEST_BLOCKS || n_effective < FEWEST_EFFECTIVE {
            return Err(ImprecisionReason::TooDependent);
        }
        // A mean of the rest is one of the values, times this.
        let scale = (1.0 - whitened.phi) * whitened.block as f64;
        let starts = 0..whitened.rest.len();
        Ok(Self {
            phi: whitened.phi,
            n,
            error: (whitened.long_run_variance() / n).sqrt(),
            spread_of_blocks: whitened.spread_of_blocks(),
            n_blocks,
            blocks: starts.map(|start| block_sum(&whitened.rest, start, whitened.block) / scale).collect(),
        })
    }

    /// A series whose values are all the same.
    fn constant() -> Self {
        Self { phi: 0.0, n: 1.0, error: 0.0, spread_of_blocks: 0.0, n_blocks: FEWEST_BLOCKS, blocks: vec![0.0] }
    }

    /// Mean of a resampled series, relative to that of the series, and its standard error.
    fn resampled(&self, random: &mut Taus258) -> (f64, f64) {
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..self.n_blocks {
            // Fits: below the length. The high bits of a product scale the word to it.
            let index = ((u128::from(random.next_u64()) * self.blocks.len() as u128) >> 64) as usize;
            sum += self.blocks[index];
            squares += self.blocks[index] * self.blocks[index];
        }
        let n = self.n_blocks as f64;
        let variance = (squares - sum * sum / n) / (n - 1.0);
        (1.0 + sum / n, (variance.max(0.0) / n).sqrt())
    }
}

/// Relative variance of the variance of a difference, from those of its sides: each counts by its share of the variance.
///
/// Source: Welch, The generalization of Student's problem when several different population variances are involved, 1947.
fn shared(sides: &[BlockMeans; 2], spread: impl Fn(&BlockMeans) -> f64) -> f64 {
    let total: f64 = sides.iter().map(|side| side.error.powi(2)).sum();
    sides.iter().map(|side| (side.error.powi(2) / total).powi(2) * spread(side)).sum()
}

/// The same of the correlations; where both sides have one, its error is that of both.
fn spread_of_correlation(sides: &[BlockMeans; 2]) -> f64 {
    let [first, second] = sides;
    if (first.phi - second.phi).abs() < 1e-12 {
        return with_curvature(spread_of_phi(first.phi, first.n + second.n));
    }
    shared(sides, |side| with_curvature(spread_of_phi(side.phi, side.n)))
}

/// A relative variance of 1 / (1 - phi)^2 with its next term: for an error of phi of x times (1 - phi), the first term is 4 x^2 and the
/// next 18 x^4. Strongly correlated short series have an x of 0.4.
fn with_curvature(spread: f64) -> f64 {
    spread * (1.0 + 18.0 / 16.0 * spread)
}

/// The quantile (95 %) of |difference| / standard error over pairs of resampled series.
///
/// The interval has equal arms. Where both series are skewed in the same way, their difference is not skewed, and the quantiles of each
/// end follow the outliers that only one of two samples happens to hold: the interval would miss the truth more often.
fn quantile_of_size(sides: &[BlockMeans; 2], n_degrees: f64) -> f64 {
    let mut random = Taus258::new(SEED);
    let mut ratio = || {
        let (first, second) = (sides[0].resampled(&mut random), sides[1].resampled(&mut random));
        let error = (first.1 / first.0).hypot(second.1 / second.0);
        let difference = (second.0 / first.0).ln();
        if error > 0.0 && difference.is_finite() { (difference / error).abs() } else { 0.0 }
    };
    let mut ratios: Vec<f64> = (0..N_RESAMPLED).map(|_| ratio()).collect();
    ratios.sort_by(f64::total_cmp);
    let student = quantile(NORMAL_95, n_degrees);
    ratios[((N_RESAMPLED + 1) as f64 * 0.95).round() as usize - 1].clamp(RANGE.0 * student, RANGE.1 * student)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, autoregressive, coverage};

    /// A series around `level`, whose values have a standard deviation of 2 % of it.
    fn noisy(n: usize, level: f64, phi: f64, seed: u64) -> Vec<f64> {
        let deviation = 0.02 * (1.0 - phi * phi).sqrt();
        autoregressive(n, phi, Noise::Normal, seed).iter().map(|value| level * (1.0 + deviation * value)).collect()
    }

    #[test]
    fn the_interval_covers_the_truth() {
        for (n, phi) in [(30, 0.0), (60, 0.5), (100, 0.8)] {
            let (share, made) = coverage(300, |seed| {
                let ratio = log_ratio(&noisy(n, 1000.0, phi, 2 * seed), &noisy(n, 1200.0, phi, 2 * seed + 1)).ok()?;
                Some(ratio.low <= 1.2_f64.ln() && 1.2_f64.ln() <= ratio.high)
            });
            assert!(made > 0.95 && share >= 0.95, "{n} {phi}: {share} of {made}");
        }
    }

    #[test]
    fn sides_may_differ_in_length_and_noise() {
        let constant = vec![1000.0; 40];
        let (share, _) = coverage(300, |seed| {
            let ratio = log_ratio(&constant, &noisy(80, 1000.0, 0.3, seed)).ok()?;
            Some(ratio.low <= 0.0 && 0.0 <= ratio.high)
        });
        assert!(share >= 0.95, "{share}");
        let exact = log_ratio(&constant, &[1100.0; 25]).expect("enough");
        assert_eq!((exact.low, exact.high), (1.1_f64.ln(), 1.1_f64.ln()));
    }

    #[test]
    fn too_little_gives_nothing() {
        let series = noisy(60, 1000.0, 0.0, 3);
        assert_eq!(log_ratio(&series[..24], &series), Err(ImprecisionReason::TooFewIntervals));
        assert_eq!(log_ratio(&[0.0; 30], &series), Err(ImprecisionReason::NotMeasured));
        assert_eq!(log_ratio(&[f64::MAX; 30], &series), Err(ImprecisionReason::NotMeasured));
        let wandering = noisy(30, 1000.0, 0.99, 5);
        assert_eq!(log_ratio(&wandering, &noisy(30, 1000.0, 0.99, 6)), Err(ImprecisionReason::TooDependent));
    }
}
