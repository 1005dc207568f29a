//! Confidence interval of the mean of a series.
//!
//! Must not know: what the series measures. Start reading at [`mean_interval`].

use super::bootstrap::student_quantiles;
use super::dependence::Whitened;
use super::mean;
use super::student::{NORMAL_95, quantile};
use ferrio_stats::ImprecisionReason;

const FEWEST: usize = 25;
/// Fewest independent values: with fewer, the correlation is not known well enough.
const FEWEST_EFFECTIVE: f64 = 3.0;

/// With a higher correlation, a series is hardly to be told from one that wanders away.
const HIGHEST_PHI: f64 = 0.95;

/// The mean of a series, and the interval that covers the true mean with a probability of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanInterval {
    /// The mean of the values, in their unit, as are the ends.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Correlation of neighbours.
    pub autocorrelation: f64,
    /// Number of independent values that would say as much.
    pub n_effective: f64,
}

/// The interval, from a block bootstrap of what an autoregression leaves.
///
/// # Errors
/// The series is too short, or its values depend on each other so much that they say too little.
pub fn mean_interval(values: &[f64]) -> Result<MeanInterval, ImprecisionReason> {
    let (distances, about) = distances(values, None)?;
    Ok(MeanInterval { low: about.mean + distances.0, high: about.mean + distances.1, ..about })
}

/// The same for the mean of `base` and the values, as factors of it: for means that are positive, and so small that an interval of
/// equal distances would reach below 0. The mean of the values is 0. The error is `wider` times what it would be.
pub(crate) fn factors(values: &[f64], base: f64, wider: f64) -> Result<(f64, f64), ImprecisionReason> {
    let (distances, _) = distances(values, Some(base))?;
    Ok(((distances.0 * wider).exp(), (distances.1 * wider).exp()))
}

/// Distances of the ends of the interval from the mean; with a base, of the logarithms.
fn distances(values: &[f64], base: Option<f64>) -> Result<((f64, f64), MeanInterval), ImprecisionReason> {
    let n = values.len();
    if n < FEWEST {
        return Err(ImprecisionReason::TooFewIntervals);
    }
    let center = mean(values);
    let centred: Vec<f64> = values.iter().map(|value| value - center).collect();
    let exact = MeanInterval { mean: center, low: center, high: center, autocorrelation: 0.0, n_effective: n as f64 };
    let Some(whitened) = Whitened::of(&centred, 1) else { return Ok(((0.0, 0.0), exact)) };
    let variance = centred.iter().map(|value| value * value).sum::<f64>() / (n as f64 - 1.0);
    let n_effective = whitened.n_effective(variance);
    if n_effective < FEWEST_EFFECTIVE || whitened.phi > HIGHEST_PHI {
        return Err(ImprecisionReason::TooDependent);
    }
    // A mean of the rest is one of the values, times this.
    let scale = 1.0 - whitened.phi;
    let quantiles = student_quantiles(&whitened.rest, whitened.block, base.map(|base| base * scale));
    let quantiles = quantiles.ok_or(ImprecisionReason::TooDependent)?;
    let error = (whitened.long_run_variance() / n as f64).sqrt() / base.unwrap_or(1.0);
    // The bootstrap knows how uncertain the variance of the blocks is, and not how uncertain the correlation is.
    let n_blocks = (whitened.rest.len() / whitened.block) as f64;
    let wider = quantile(NORMAL_95, whitened.degrees_of_freedom()) / quantile(NORMAL_95, n_blocks - 1.0);
    let error = error * wider.max(1.0);
    Ok((
        (-quantiles.1 * error, -quantiles.0 * error),
        MeanInterval { autocorrelation: whitened.phi, n_effective, ..exact },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, autoregressive, coverage};

    fn covers(n: usize, phi: f64, noise: Noise, n_runs: u64) -> (f64, f64) {
        coverage(n_runs, |seed| {
            let interval = mean_interval(&autoregressive(n, phi, noise, seed)).ok()?;
            Some(interval.low <= 0.0 && 0.0 <= interval.high)
        })
    }

    #[test]
    fn independent_skewed_and_dependent_series_are_covered() {
        for (n, phi, noise) in [(30, 0.0, Noise::Exponential), (40, 0.3, Noise::LogNormal), (40, 0.6, Noise::Normal)] {
            let (share, made) = covers(n, phi, noise, 1_000);
            assert!(made > 0.95 && (0.93..=0.97).contains(&share), "{n} {phi} {noise:?}: {share} of {made}");
        }
    }

    #[test]
    #[ignore = "takes minutes without optimisation"]
    fn means_are_covered_in_2000_runs() {
        for noise in [Noise::Normal, Noise::Exponential, Noise::LogNormal] {
            for (n, phi) in
                [(30, 0.0), (30, 0.3), (50, 0.0), (50, 0.3), (50, 0.6), (100, 0.3), (100, 0.6), (300, 0.6), (500, 0.8)]
            {
                let (share, made) = covers(n, phi, noise, 2_000);
                eprintln!("{noise:?} n {n} phi {phi}: covers {share:.4} of {made:.4}");
                assert!((0.93..=0.97).contains(&share), "{share}");
            }
        }
    }

    #[test]
    fn too_little_gives_nothing() {
        let series = autoregressive(400, 0.0, Noise::Normal, 5);
        assert_eq!(mean_interval(&series[..24]), Err(ImprecisionReason::TooFewIntervals));
        assert!(mean_interval(&series[..25]).is_ok());
        // A random walk never comes back.
        let mut sum = 0.0;
        let walk: Vec<f64> = series[..60]
            .iter()
            .map(|value| {
                sum += value + 0.5;
                sum
            })
            .collect();
        assert_eq!(mean_interval(&walk), Err(ImprecisionReason::TooDependent));
    }

    #[test]
    fn a_constant_is_exact() {
        let interval = mean_interval(&[7.0; 30]).expect("enough");
        assert_eq!((interval.low, interval.mean, interval.high), (7.0, 7.0, 7.0));
    }
}
