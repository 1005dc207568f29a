//! A circular block bootstrap of the mean, in units of its own standard error.
//!
//! Must not know: what the values measure. Start reading at [`student_quantiles`].

use super::dependence::block_sum;
use super::student::{NORMAL_95, quantile};
use ferrio_units::random::Taus258;

/// Number of resampled series: the quantiles are the 25th and the 975th of 999.
pub(crate) const N_RESAMPLED: usize = 999;
/// Bounds of the quantiles, in units of Student's. Where a few values differ from all others, many resampled series have none of
/// these and no variance, and their quantiles have no bound.
pub(crate) const RANGE: (f64, f64) = (0.5, 2.5);
/// The same series gives the same interval each time.
pub(crate) const SEED: u64 = 0x00F1_0B00;

/// The quantiles (2.5 % and 97.5 %) of mean / standard error over series made of blocks of a centred series. They hold the skewness
/// of the values, which Student's distribution does not know. With a `base`, to which the values are deviations, the mean is that of
/// the logarithm of base and mean. `None`: there are fewer than six blocks.
pub(crate) fn student_quantiles(centred: &[f64], block: usize, base: Option<f64>) -> Option<(f64, f64)> {
    let n = centred.len();
    let n_blocks = n / block.max(1);
    if n_blocks < 6 {
        return None;
    }
    let sums: Vec<f64> = (0..n).map(|start| block_sum(centred, start, block)).collect();
    let mut random = Taus258::new(SEED);
    let base = base.map(|base| base * block as f64);
    let mut ratios: Vec<f64> = (0..N_RESAMPLED).map(|_| ratio(&sums, n_blocks, base, &mut random)).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[((N_RESAMPLED + 1) as f64 * share).round() as usize - 1];
    let student = quantile(NORMAL_95, n_blocks as f64 - 1.0);
    let (least, most) = (RANGE.0 * student, RANGE.1 * student);
    Some((at(0.025).clamp(-most, -least), at(0.975).clamp(least, most)))
}

/// Mean over standard error of a resampled series.
fn ratio(sums: &[f64], n_blocks: usize, base: Option<f64>, random: &mut Taus258) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..n_blocks {
        // Fits: below the length. The high bits of a product scale the word to it.
        let index = ((u128::from(random.next_u64()) * sums.len() as u128) >> 64) as usize;
        sum += sums[index];
        squares += sums[index] * sums[index];
    }
    let n = n_blocks as f64;
    let variance = (squares - sum * sum / n) / (n - 1.0);
    let (mean, error) = (sum / n, (variance.max(0.0) / n).sqrt());
    match base {
        _ if error <= 0.0 => 0.0,
        None => mean / error,
        Some(base) if base + mean <= 0.0 => f64::NEG_INFINITY,
        // The logarithm has the error of the value, divided by the value.
        Some(base) => (mean / base).ln_1p() * (base + mean) / error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, independent};

    #[test]
    fn quantiles_of_normal_values_are_those_of_student() {
        // The mean over seeds; for 100 values the quantile is 1.98.
        let quantiles = (1..=40).map(|seed| {
            let values = independent(100, Noise::Normal, seed);
            let center = crate::mean(&values);
            let centred: Vec<f64> = values.iter().map(|value| value - center).collect();
            student_quantiles(&centred, 1, None).expect("enough blocks")
        });
        let (low, high) = quantiles.fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / 40.0, sum.1 + pair.1 / 40.0));
        assert!((low + 1.984).abs() < 0.05 && (high - 1.984).abs() < 0.05, "{low} {high}");
    }

    #[test]
    fn few_blocks_say_nothing() {
        assert!(student_quantiles(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0], 2, None).is_none());
    }
}
