//! How much the values of a series depend on their neighbours.
//!
//! Must not know: what is estimated from the series. Start reading at [`Whitened::of`].

use super::mean;

/// Correlations are limited to this range: close to 1 the long-run variance has no bound.
const PHI_RANGE: (f64, f64) = (-0.5, 0.97);
/// The correlations of white noise are within this many standard errors; Politis and White use 2 with a logarithm.
const NOISE: f64 = 2.0;

/// A series without its dependence on the value before: what an autoregression of the first order leaves.
pub(crate) struct Whitened {
    /// Correlation of neighbours, corrected for its bias in short series.
    pub(crate) phi: f64,
    /// The rest, with a mean of 0.
    pub(crate) rest: Vec<f64>,
    /// Block length from which on the rest is independent.
    pub(crate) block: usize,
}

impl Whitened {
    /// Of a series of which `n_fitted` parameters (1: a mean; 2: a line, or two levels) were fitted and taken away. `None`: it has
    /// fewer than eight values, or they are all the same.
    pub(crate) fn of(centred: &[f64], n_fitted: usize) -> Option<Self> {
        let n = centred.len();
        let squares: f64 = centred.iter().map(|value| value * value).sum();
        if n < 8 || squares <= 0.0 || !squares.is_finite() {
            return None;
        }
        let products: f64 = centred.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let raw = products / squares;
        // The mean of the estimate is lower by (1 + 3 phi) / n with a mean fitted, by (2 + 4 phi) / n with a line.
        let bias = if n_fitted > 1 { (2.0 + 4.0 * raw) / n as f64 } else { (1.0 + 3.0 * raw) / n as f64 };
        Some(Self::with_phi(centred, raw + bias))
    }

    /// The same with a correlation of neighbours that is known from elsewhere.
    pub(crate) fn with_phi(centred: &[f64], phi: f64) -> Self {
        let phi = phi.clamp(PHI_RANGE.0, PHI_RANGE.1);
        let mut rest: Vec<f64> = centred.windows(2).map(|pair| pair[1] - phi * pair[0]).collect();
        let center = mean(&rest);
        for value in &mut rest {
            *value -= center;
        }
        let block = block_length(&rest);
        Self { phi, rest, block }
    }

    /// Variance of the mean of many values of the series, times their number.
    pub(crate) fn long_run_variance(&self) -> f64 {
        let n = self.rest.len();
        let block = self.block;
        let scale = (block as f64) * (n as f64 - block as f64).max(1.0);
        let sums: f64 = (0..n).map(|start| block_sum(&self.rest, start, block).powi(2)).sum();
        sums / scale / (1.0 - self.phi).powi(2)
    }

    /// Degrees of freedom of that variance: it is an estimate as well.
    pub(crate) fn degrees_of_freedom(&self) -> f64 {
        2.0 / (self.spread_of_blocks() + spread_of_phi(self.phi, self.rest.len() as f64))
    }

    /// Relative variance of the long-run variance that comes from the blocks.
    pub(crate) fn spread_of_blocks(&self) -> f64 {
        let n = self.rest.len() as f64;
        if self.block == 1 { 2.0 / n } else { 4.0 * self.block as f64 / (3.0 * n) }
    }

    /// Number of independent values that would say as much about the mean.
    pub(crate) fn n_effective(&self, variance: f64) -> f64 {
        let n = self.rest.len() as f64 + 1.0;
        let long_run = self.long_run_variance();
        if long_run > 0.0 { (n * variance / long_run).min(n) } else { n }
    }
}

/// Relative variance of a long-run variance that comes from a correlation which was estimated from `n` values.
pub(crate) fn spread_of_phi(phi: f64, n: f64) -> f64 {
    4.0 * (1.0 + phi) / (n * (1.0 - phi))
}

/// Sum of a block that continues at the start of the series.
pub(crate) fn block_sum(values: &[f64], start: usize, length: usize) -> f64 {
    (start..start + length).map(|index| values[index % values.len()]).sum()
}

/// Block length for a circular bootstrap.
///
/// Source: Politis and White, Automatic block-length selection for the dependent bootstrap, 2004, with the correction of 2009.
fn block_length(centred: &[f64]) -> usize {
    let n = centred.len();
    let correlations = correlations(centred);
    let limit = NOISE * ((n as f64).log10() / n as f64).sqrt();
    let n_quiet = 5.max((n as f64).log10().sqrt().ceil() as usize);
    let is_quiet = |from: usize| correlations.iter().skip(from).take(n_quiet).all(|value| value.abs() < limit);
    // correlations[0] is that of neighbours: the first lag behind which nothing is left.
    let last = (0..correlations.len()).find(|lag| is_quiet(*lag)).unwrap_or(correlations.len());
    if last == 0 {
        return 1;
    }
    let window = 2 * last;
    let (mut sum, mut weighted) = (1.0, 0.0);
    for (lag, correlation) in (1..=window).zip(&correlations) {
        let share = lag as f64 / window as f64;
        let weight = if share <= 0.5 { 1.0 } else { 2.0 * (1.0 - share) };
        sum += 2.0 * weight * correlation;
        weighted += 2.0 * weight * lag as f64 * correlation;
    }
    // D = 4/3 g(0)^2 for a circular bootstrap, in units of the variance.
    let denominator = 4.0 / 3.0 * sum * sum;
    if denominator <= 0.0 {
        return 1;
    }
    let length = (2.0 * weighted * weighted / denominator * n as f64).cbrt();
    (length.round() as usize).clamp(1, (n / 6).max(1))
}

/// Correlations with the values 1, 2, ... places before, up to a quarter of the series.
fn correlations(centred: &[f64]) -> Vec<f64> {
    let squares: f64 = centred.iter().map(|value| value * value).sum();
    let of_lag = |lag: usize| {
        let products: f64 = centred.iter().zip(&centred[lag..]).map(|(before, value)| before * value).sum();
        if squares > 0.0 { products / squares } else { 0.0 }
    };
    (1..=centred.len() / 4).map(of_lag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, autoregressive, independent};

    fn centred(mut values: Vec<f64>) -> Vec<f64> {
        let center = mean(&values);
        for value in &mut values {
            *value -= center;
        }
        values
    }

    /// The long-run variance of an autoregression is 1 / (1 - phi)^2 in units of its innovations.
    #[test]
    fn long_run_variance_of_known_series() {
        for (phi, seed) in [(0.0, 1), (0.3, 2), (0.6, 3)] {
            let whitened =
                Whitened::of(&centred(autoregressive(20_000, phi, Noise::Normal, seed)), 1).expect("it varies");
            assert!((whitened.phi - phi).abs() < 0.03, "{}", whitened.phi);
            let expected = 1.0 / (1.0 - phi).powi(2);
            assert!(
                (whitened.long_run_variance() / expected - 1.0).abs() < 0.15,
                "{phi}: {}",
                whitened.long_run_variance()
            );
        }
    }

    /// Sums of neighbours depend on each other, but are no autoregression: what that leaves needs blocks.
    #[test]
    fn blocks_hold_what_the_autoregression_leaves() {
        let noise = independent(4_000, Noise::Normal, 9);
        let sums: Vec<f64> = noise.windows(3).map(|values| values.iter().sum()).collect();
        let whitened = Whitened::of(&centred(sums), 1).expect("it varies");
        assert!(whitened.block > 1);
        assert!((whitened.long_run_variance() / 9.0 - 1.0).abs() < 0.35, "{}", whitened.long_run_variance());
        let white = Whitened::of(&centred(noise), 1).expect("it varies");
        assert_eq!(white.block, 1);
    }

    #[test]
    fn nothing_is_said_of_constants() {
        assert!(Whitened::of(&[0.0; 100], 1).is_none());
        assert!(Whitened::of(&[1.0, -1.0], 1).is_none());
    }
}
