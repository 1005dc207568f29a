//! A change of the level of a series at one place.
//!
//! Must not know: what the series measures. Start reading at [`change_point`].

use super::dependence::Whitened;
use super::mean;
use super::student::{NORMAL_999, quantile};

/// Fewest values before and after a change.
const FEWEST: usize = 5;
/// The largest sum of deviations from the mean exceeds this many standard deviations, times the root of the number of values, with a
/// probability of one in a thousand: that of the largest distance of a Brownian bridge, 2 exp(-2 x^2).
const CRITICAL: f64 = 1.95;

/// A change of the level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Number of values before it.
    pub index: usize,
    /// Mean of these.
    pub before: f64,
    /// Mean of the others.
    pub after: f64,
    /// Share of the variance that the two levels explain, 0 to 1.
    pub explained: f64,
}

/// The place where two levels fit best, if chance and dependence of neighbours do not explain them (one false alarm in a thousand
/// series without a change).
pub fn change_point(values: &[f64]) -> Option<Change> {
    let n = values.len();
    if n < 4 * FEWEST {
        return None;
    }
    let center = mean(values);
    let mut sum = 0.0;
    let sums: Vec<f64> = values
        .iter()
        .map(|value| {
            sum += value - center;
            sum
        })
        .collect();
    // Weighted by the lengths of both sides, so that a change near an end is found as well.
    let weighted = |index: usize| sums[index - 1].abs() / ((index * (n - index)) as f64).sqrt();
    let index = (FEWEST..=n - FEWEST).max_by(|first, second| weighted(*first).total_cmp(&weighted(*second)))?;
    let (before, after) = (mean(&values[..index]), mean(&values[index..]));
    let level = |place: usize| if place < index { before } else { after };
    let rest: Vec<f64> = values.iter().enumerate().map(|(place, value)| value - level(place)).collect();
    let square_sum = |deviations: &mut dyn Iterator<Item = f64>| deviations.map(|value| value * value).sum::<f64>();
    let whole = square_sum(&mut values.iter().map(|value| value - center));
    let explained = if whole > 0.0 { 1.0 - square_sum(&mut rest.iter().copied()) / whole } else { 0.0 };
    let is_certain = match Whitened::of(&rest, 2) {
        // The test is that of the unweighted sum, which is the larger one elsewhere.
        Some(whitened) => {
            let largest = sums.iter().fold(0.0_f64, |largest, sum| largest.max(sum.abs()));
            let wider = quantile(NORMAL_999, whitened.degrees_of_freedom() - 1.0) / NORMAL_999;
            largest > CRITICAL * wider * (n as f64 * whitened.long_run_variance()).sqrt()
        }
        None => explained > 0.5,
    };
    is_certain.then_some(Change { index, before, after, explained })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, autoregressive, coverage};

    #[test]
    fn no_change_is_seldom_found() {
        for phi in [0.0, 0.3, 0.6] {
            let found = |seed| Some(change_point(&autoregressive(100, phi, Noise::Normal, seed)).is_some());
            let (share, _) = coverage(2_000, found);
            assert!(share < 0.005, "{phi}: {share}");
        }
    }

    #[test]
    fn a_change_is_found_at_its_place() {
        let found = |seed| {
            let mut values = autoregressive(100, 0.3, Noise::Normal, seed);
            for value in &mut values[33..] {
                *value -= 5.0;
            }
            let change = change_point(&values)?;
            Some(change.index.abs_diff(33) <= 2 && change.after < change.before)
        };
        let (share, made) = coverage(500, found);
        assert!(share > 0.99 && made > 0.99, "{share} of {made}");
    }

    #[test]
    fn levels_without_noise_are_exact() {
        let mut values = vec![16_000.0; 50];
        values[20..].fill(3_000.0);
        let change = change_point(&values).expect("a change");
        assert_eq!((change.index, change.before, change.after), (20, 16_000.0, 3_000.0));
        assert!((change.explained - 1.0).abs() < 1e-9);
        assert_eq!(change_point(&[5.0; 50]), None);
        assert_eq!(change_point(&values[..19]), None);
    }
}
