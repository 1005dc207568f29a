//! The slope of a series.
//!
//! Must not know: what the series measures. Start reading at [`trend`].

use super::dependence::Whitened;
use super::mean;
use super::student::{NORMAL_95, NORMAL_999, quantile};

/// A line through a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Difference of the line between the start and the end of the series.
    pub change: f64,
    /// Lower end of the interval that covers the true difference with a probability of 95 %.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Zero is outside of the interval for 99.9 %.
    pub is_certain: bool,
}

/// The line of least squares. Its error respects that values depend on their neighbours. `None`: the series is too short, or it is
/// exactly a line.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let n = values.len() as f64;
    let (center, middle) = (mean(values), (n - 1.0) / 2.0);
    let places = || (0..values.len()).map(|index| index as f64 - middle);
    let squares: f64 = places().map(|place| place * place).sum();
    let products: f64 = places().zip(values).map(|(place, value)| place * (value - center)).sum();
    let slope = products / squares;
    let rest: Vec<f64> = places().zip(values).map(|(place, value)| value - center - slope * place).collect();
    let whitened = Whitened::of(&rest, 2)?;
    let error = (whitened.long_run_variance() / squares).sqrt() * n;
    let n_degrees = whitened.degrees_of_freedom() - 1.0;
    let (change, distance) = (slope * n, error * quantile(NORMAL_95, n_degrees));
    let is_certain = change.abs() > error * quantile(NORMAL_999, n_degrees);
    Some(Trend { change, low: change - distance, high: change + distance, is_certain })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, autoregressive, coverage};

    /// The interval covers a true change of 3 over the series.
    fn covers(n: usize, phi: f64, n_runs: u64) -> f64 {
        let share = coverage(n_runs, |seed| {
            let noise = autoregressive(n, phi, Noise::Normal, seed);
            let values: Vec<f64> =
                (0..).zip(noise).map(|(index, value)| value + 3.0 * f64::from(index) / n as f64).collect();
            let trend = trend(&values)?;
            Some(trend.low <= 3.0 && 3.0 <= trend.high)
        });
        share.0
    }

    #[test]
    fn a_slope_is_covered() {
        for (n, phi) in [(30, 0.0), (50, 0.3), (50, 0.6)] {
            let share = covers(n, phi, 2_000);
            assert!((0.93..=0.97).contains(&share), "{n} {phi}: {share}");
        }
    }

    #[test]
    fn no_slope_is_seldom_certain() {
        for phi in [0.0, 0.6] {
            let is_certain = |seed| Some(trend(&autoregressive(60, phi, Noise::Normal, seed))?.is_certain);
            let (share, _) = coverage(2_000, is_certain);
            assert!(share < 0.005, "{phi}: {share}");
        }
    }

    #[test]
    fn a_steep_line_is_certain() {
        let values: Vec<f64> = (0..)
            .zip(autoregressive(60, 0.3, Noise::Normal, 7))
            .map(|(index, value)| value + 0.2 * f64::from(index))
            .collect();
        let trend = trend(&values).expect("it varies");
        assert!(trend.is_certain && trend.low <= 12.0 && 12.0 <= trend.high, "{trend:?}");
        assert!(super::trend(&[1.0; 50]).is_none());
    }
}
