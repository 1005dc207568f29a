//! Intervals of the ratio of two figures: from repeated runs, and from an interval of each.
//!
//! Must not know: figures of jobs. Start reading at [`of_repeats`], then [`of_intervals`].

use ferrio_inference::{LogRatio, MARGIN, mean, quantile_95};
use ferrio_stats::Confidence;

/// Fewest results of a side, if the other has only one, whose spread is then taken to be the same.
const FEWEST_BESIDE_ONE: usize = 3;

/// The ratio of the means of repeated runs, by a t test: of rates in units of their arithmetic mean, of latencies by their logarithms, as their mean is the geometric one.
/// `resolution` is the share of a figure by which it is rounded. `None`: there are too few, or a figure is not above 0.
///
/// Source: Welch, The generalization of Student's problem when several different population variances are involved, 1947.
pub(super) fn of_repeats(base: &[f64], new: &[f64], is_by_logarithm: bool, resolution: f64) -> Option<LogRatio> {
    let of = if is_by_logarithm { Repeats::of_logarithms } else { Repeats::of };
    let (base, new) = (of(base)?, of(new)?);
    let (fewest, most) = (base.n.min(new.n), base.n.max(new.n));
    let (error, n_degrees) = match () {
        () if most < 2.0 || (fewest < 2.0 && most < FEWEST_BESIDE_ONE as f64) => return None,
        () if fewest < 2.0 => {
            let variance = base.variance.max(new.variance);
            ((variance * (1.0 + 1.0 / most)).sqrt(), most - 1.0)
        }
        // With as many on both sides, the test holds without a correction.
        () if most <= fewest => (base.error().hypot(new.error()), base.n + new.n - 2.0),
        () => (base.error().hypot(new.error()), welch(&base, &new)),
    };
    let value = (new.mean / base.mean).ln();
    let distance = MARGIN * quantile_95(n_degrees) * error + 2.0 * resolution;
    value.is_finite().then_some(LogRatio { value, low: value - distance, high: value + distance, n_degrees })
}

/// Figures of repeated runs.
struct Repeats {
    n: f64,
    mean: f64,
    /// In units of the mean.
    variance: f64,
}

impl Repeats {
    fn of(values: &[f64]) -> Option<Self> {
        let (n, mean) = (values.len() as f64, mean(values));
        if !mean.is_finite() || mean <= 0.0 {
            return None;
        }
        let squares: f64 = values.iter().map(|value| (value / mean - 1.0).powi(2)).sum();
        let variance = if n > 1.0 { squares / (n - 1.0) } else { 0.0 };
        Some(Self { n, mean, variance })
    }

    /// Around the geometric mean.
    fn of_logarithms(values: &[f64]) -> Option<Self> {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let (n, center) = (logs.len() as f64, mean(&logs));
        let squares: f64 = logs.iter().map(|log| (log - center).powi(2)).sum();
        let variance = if n > 1.0 { squares / (n - 1.0) } else { 0.0 };
        center.is_finite().then(|| Self { n, mean: center.exp(), variance })
    }

    fn error(&self) -> f64 {
        (self.variance / self.n).sqrt()
    }
}

fn welch(base: &Repeats, new: &Repeats) -> f64 {
    let (first, second) = (base.variance / base.n, new.variance / new.n);
    let total = first.powi(2) / (base.n - 1.0) + second.powi(2) / (new.n - 1.0);
    if total > 0.0 { (first + second).powi(2) / total } else { base.n.min(new.n) - 1.0 }
}

/// The ratio of two figures, each with its interval. `None`: an end is not above 0.
///
/// Source: Zou and Donner, Construction of confidence limits about effect measures, 2008.
pub(super) fn of_intervals(base: &Confidence, new: &Confidence) -> Option<LogRatio> {
    let value = (new.value / base.value).ln();
    let distance = |up: f64, down: f64| MARGIN * up.ln().max(0.0).hypot(down.ln().max(0.0));
    let low = value - distance(new.value / new.low, base.high / base.value);
    let high = value + distance(new.high / new.value, base.value / base.low);
    let is_known = base.low > 0.0 && new.low > 0.0 && low.is_finite() && high.is_finite() && value.is_finite();
    is_known.then_some(LogRatio { value, low, high, n_degrees: f64::INFINITY })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: by hand. Means 100 and 105, relative deviations 1 % and 1/105: errors 0.577 % and 0.550 %, 4 degrees of freedom.
    #[test]
    fn repeats_by_hand() {
        let ratio = of_repeats(&[99.0, 100.0, 101.0], &[104.0, 105.0, 106.0], false, 0.0).expect("enough");
        assert!((ratio.value - 1.05_f64.ln()).abs() < 1e-12, "{ratio:?}");
        let distance = MARGIN * 2.776 * 0.007_973;
        assert!((ratio.high - ratio.value - distance).abs() < 1e-4, "{ratio:?} {distance}");
        assert!(ratio.low > 0.0);
        // t = 0.048790 / (1.08 * 0.007973) = 5.666 with 4 degrees of freedom.
        assert!((ratio.p() - 0.004_79).abs() < 2e-4, "{}", ratio.p());
    }

    /// Expected: by hand. Logarithms 0, ln 2 and ln 4 have the mean ln 2 and the deviation ln 2; the same times 4.
    #[test]
    fn latencies_are_compared_by_their_logarithms() {
        let ratio = of_repeats(&[1.0, 2.0, 4.0], &[4.0, 8.0, 16.0], true, 0.0).expect("enough");
        assert!((ratio.value - 4.0_f64.ln()).abs() < 1e-12, "{ratio:?}");
        let distance = MARGIN * 2.776 * 2.0_f64.ln() * (2.0_f64 / 3.0).sqrt();
        assert!((ratio.high - ratio.value - distance).abs() < 1e-3, "{ratio:?} {distance}");
        // One run of three is 100 times as slow: the arithmetic mean would be 34 times as large, the geometric one is 4.6 times as large.
        let ratio = of_repeats(&[1.0, 1.0, 1.0], &[1.0, 1.0, 100.0], true, 0.0).expect("enough");
        assert!((ratio.value - 100.0_f64.ln() / 3.0).abs() < 1e-12, "{ratio:?}");
        assert_eq!(of_repeats(&[0.0, 1.0], &[1.0, 2.0], true, 0.0), None);
    }

    #[test]
    fn one_result_beside_several_has_their_spread() {
        let several = [99.0, 100.0, 101.0];
        let ratio = of_repeats(&several, &[120.0], false, 0.0).expect("enough");
        // Two degrees of freedom, error 1 % times the root of 4/3.
        let distance = MARGIN * 4.303 * 0.01 * (4.0_f64 / 3.0).sqrt();
        assert!((ratio.value - ratio.low - distance).abs() < 1e-9, "{ratio:?}");
        assert_eq!(of_repeats(&several[..2], &[120.0], false, 0.0), None);
        assert_eq!(of_repeats(&[1.0], &[1.0], false, 0.0), None);
        assert_eq!(of_repeats(&[0.0, 0.0], &[1.0, 2.0], false, 0.0), None);
        assert_eq!(of_repeats(&[f64::MAX, f64::MAX], &[1.0, 2.0], false, 0.0), None);
    }

    /// Two intervals of +-3 % and +-4 % make one of +-5 %.
    #[test]
    fn distances_add_like_the_sides_of_a_right_angle() {
        let around =
            |value: f64, share: f64| Confidence { value, low: value * (-share).exp(), high: value * share.exp() };
        let ratio = of_intervals(&around(100.0, 0.03), &around(200.0, 0.04)).expect("positive");
        assert!((ratio.value - 2.0_f64.ln()).abs() < 1e-12);
        assert!((ratio.high - ratio.value - MARGIN * 0.05).abs() < 1e-9, "{ratio:?}");
        assert!((ratio.value - ratio.low - MARGIN * 0.05).abs() < 1e-9, "{ratio:?}");
        let zero = Confidence { value: 5.0, low: 0.0, high: 7.0 };
        assert_eq!(of_intervals(&zero, &around(1.0, 0.1)), None);
    }
}
