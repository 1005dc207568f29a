//! When rounds are steady, by the rule of the SNIA Solid State Storage Performance Test Specification: in five rounds, no value is far from another, and their
//! line is flat.
//!
//! Must not know: what the values are. Start reading at [`SteadyWindow::of`].

use serde::{Deserialize, Serialize};

/// Rounds that are looked at together (the specification's measurement window).
pub const WINDOW: usize = 5;
/// Largest distance between the lowest and the highest value, percent of the mean.
const MOST_RANGE_PERCENT: f64 = 20.0;
/// Largest rise or fall of the line of least squares from the first round to the last one, percent of the mean.
const MOST_SLOPE_PERCENT: f64 = 10.0;

/// The last five rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyWindow {
    /// Mean of the values.
    pub mean: f64,
    /// Distance between the lowest and the highest value, percent of the mean.
    pub range_percent: f64,
    /// Rise (or fall, below 0) of the line of least squares from the first round to the last one, percent of the mean.
    pub slope_percent: f64,
    /// Both are small enough.
    pub is_steady: bool,
}

impl SteadyWindow {
    /// Looks at the last values of a list, one for each round. `None`: there are too few, or their mean is 0.
    pub fn of(values: &[f64]) -> Option<Self> {
        let window = values.len().checked_sub(WINDOW).map(|first| &values[first..])?;
        let n = WINDOW as f64;
        let mean = window.iter().sum::<f64>() / n;
        if !mean.is_finite() || mean <= 0.0 {
            return None;
        }
        let (lowest, highest) =
            window.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
        // Rounds are numbered so that their mean number is 0: the line goes through the mean of the values there.
        let numbers = (0..WINDOW).map(|index| index as f64 - (n - 1.0) / 2.0);
        let (products, squares) = numbers.zip(window).fold((0.0, 0.0), |(products, squares), (number, value)| {
            (products + number * value, squares + number * number)
        });
        let range_percent = 100.0 * (highest - lowest) / mean;
        let slope_percent = 100.0 * (products / squares) * (n - 1.0) / mean;
        let is_steady = range_percent <= MOST_RANGE_PERCENT && slope_percent.abs() <= MOST_SLOPE_PERCENT;
        Some(Self { mean, range_percent, slope_percent, is_steady })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn a_window_is_the_last_five_rounds() {
        assert_eq!(SteadyWindow::of(&[100.0; 4]), None);
        let window = SteadyWindow::of(&[1_000.0, 100.0, 100.0, 100.0, 100.0, 100.0]).expect("five rounds");
        assert_eq!(window, SteadyWindow { mean: 100.0, range_percent: 0.0, slope_percent: 0.0, is_steady: true });
        assert_eq!(SteadyWindow::of(&[0.0; 5]), None);
        assert_eq!(SteadyWindow::of(&[f64::NAN; 5]), None);
    }

    /// The line through 96, 98, 100, 102, 104 rises by 2 a round, 8 from the first to the last; so does the range.
    #[test]
    fn a_line_that_rises_is_told() {
        let window = SteadyWindow::of(&[96.0, 98.0, 100.0, 102.0, 104.0]).expect("five rounds");
        assert!(is_near(window.slope_percent, 8.0) && is_near(window.range_percent, 8.0) && window.is_steady);
        let falling = SteadyWindow::of(&[106.0, 103.0, 100.0, 97.0, 94.0]).expect("five rounds");
        assert!(is_near(falling.slope_percent, -12.0) && is_near(falling.range_percent, 12.0) && !falling.is_steady);
    }

    #[test]
    fn a_range_that_is_wide_is_not_steady_though_its_line_is_flat() {
        let window = SteadyWindow::of(&[100.0, 89.0, 100.0, 111.0, 100.0]).expect("five rounds");
        // The line: (-1 * 89 + 1 * 111) / 10 = 2.2 a round, 8.8 in all.
        assert!(is_near(window.range_percent, 22.0) && is_near(window.slope_percent, 8.8) && !window.is_steady);
        let just = SteadyWindow::of(&[100.0, 90.0, 100.0, 110.0, 100.0]).expect("five rounds");
        assert!(is_near(just.range_percent, 20.0) && just.is_steady);
    }
}
