//! Whether a figure is within a limit, from its values in several runs.
//!
//! Must not know: jobs, parameters. Start reading at [`judge`]; the interval that it looks at is [`certain_interval`].

use super::{FEWEST_RUNS, LimitVerdict};
use ferrio_inference::one_sided_quantile;

/// Factor of the limit beyond which one run decides: noise between two runs is not known to change a figure so much.
pub const CLEAR: f64 = 2.0;

/// How often a verdict of each kind may be wrong by Student's distribution, however often the values are looked at. It is half of what is promised: high percentiles of
/// latencies are skewed to the right, and a few such values are below their mean, and alike, more often than Student's distribution says.
const ERROR: f64 = 0.005;

/// The mean of three values and more is taken to be at most this factor away from the nearest of them, however much they differ. All of three runs are so far to one
/// side of their mean in 1 % of the cases where the standard deviation of the logarithms is 3, a factor of 20 between runs.
const FAR: f64 = 10.0;

/// Judges values against a limit that they must not exceed. With several values, the mean of their logarithms decides, by Student's distribution.
///
/// The values are looked at again after each run, up to `most_runs` of them, until they decide. So many looks would be wrong more often than one: each has a share of
/// the error, later ones a larger one, as few values are alike by chance. All looks together are wrong in 1 % of the cases.
pub fn judge(values: &[f64], limit: f64, most_runs: usize) -> LimitVerdict {
    match interval(values, limit, most_runs) {
        Some([low, high]) if high < 0.0 || (low >= high && high <= 0.0) => LimitVerdict::Within,
        Some([low, _]) if low > 0.0 => LimitVerdict::Beyond,
        _ => LimitVerdict::Undecided,
    }
}

/// The interval of the geometric mean that [`judge`] looks at: values are within a limit that is above its upper end, and beyond one that is below its lower end.
/// `None`: a value is not positive, or there are none.
pub fn certain_interval(values: &[f64], most_runs: usize) -> Option<[f64; 2]> {
    Some(interval(values, 1.0, most_runs)?.map(f64::exp))
}

/// The interval of the mean of the logarithms of values, in units of `unit`.
fn interval(values: &[f64], unit: f64, most_runs: usize) -> Option<[f64; 2]> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
        return None;
    }
    let distances: Vec<f64> = values.iter().map(|value| (value / unit).ln()).collect();
    let n = distances.len() as f64;
    let mean = distances.iter().sum::<f64>() / n;
    let margin = match distances.len() {
        1 => CLEAR.ln(),
        n_values => {
            let variance = distances.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (n - 1.0);
            one_sided_quantile(error_of_look(n_values, most_runs), n - 1.0) * (variance / n).sqrt()
        }
    };
    let [low, high] = [mean - margin, mean + margin];
    if distances.len() < FEWEST_RUNS {
        return Some([low, high]);
    }
    let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let most = distances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some([low.max(least - FAR.ln()), high.min(most + FAR.ln())])
}

/// The part of the error for the look at so many values, on each side: 1, 2, 3, ... shares from the fewest values that decide to the most.
pub fn error_of_look(n_values: usize, most_runs: usize) -> f64 {
    let share = |n_values: usize| (n_values + 1).saturating_sub(FEWEST_RUNS).max(1) as f64;
    let last = share(most_runs.max(n_values));
    ERROR * share(n_values) / (last * (last + 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::random::Taus258;

    #[test]
    fn one_run_decides_only_what_is_clear() {
        assert_eq!(judge(&[0.4], 1.0, 8), LimitVerdict::Within);
        assert_eq!(judge(&[2.5], 1.0, 8), LimitVerdict::Beyond);
        assert_eq!(judge(&[0.6], 1.0, 8), LimitVerdict::Undecided);
        assert_eq!(judge(&[], 1.0, 8), LimitVerdict::Undecided);
        assert_eq!(judge(&[f64::NAN, 1.0], 1.0, 8), LimitVerdict::Undecided);
    }

    #[test]
    fn the_interval_is_the_one_that_decides() {
        let runs = [-0.04_f64, -0.05, -0.06].map(f64::exp);
        let [low, high] = certain_interval(&runs, 5).expect("an interval");
        for (limit, verdict) in [
            (high * 1.001, LimitVerdict::Within),
            (high * 0.999, LimitVerdict::Undecided),
            (low * 1.001, LimitVerdict::Undecided),
            (low * 0.999, LimitVerdict::Beyond),
        ] {
            assert_eq!(judge(&runs, limit, 5), verdict, "{limit} of {low} to {high}");
        }
        assert_eq!(certain_interval(&[], 3), None);
        assert_eq!(certain_interval(&[1.0, 0.0], 3), None);
        assert_eq!(certain_interval(&[1.0, 1.0], 3), Some([1.0, 1.0]));
    }

    #[test]
    fn several_runs_decide_by_their_spread() {
        // The logarithms are 0.07 below the limit on average, with a deviation of 0.01: the margin is 9.925 * 0.01 / sqrt(3) = 0.057.
        let runs = [-0.06_f64, -0.07, -0.08].map(f64::exp);
        assert_eq!(judge(&runs, 1.0, 3), LimitVerdict::Within);
        assert_eq!(judge(&runs.map(|value| 1.0 / value), 1.0, 3), LimitVerdict::Beyond);
        assert_eq!(judge(&[-0.03_f64, -0.05, -0.01].map(f64::exp), 1.0, 3), LimitVerdict::Undecided);
        // Figures that are exact.
        assert_eq!(judge(&[1.0, 1.0], 1.0, 8), LimitVerdict::Within);
        assert_eq!(judge(&[1.001, 1.001], 1.0, 8), LimitVerdict::Beyond);
    }

    /// Runs that differ much decide where all of them are far from the limit. The logarithms are 3, 5 and 7: the margin is 9.925 * 2 / sqrt(3) = 11.5.
    #[test]
    fn runs_that_are_all_far_from_the_limit_decide() {
        let runs = [3.0_f64, 5.0, 7.0].map(f64::exp);
        assert_eq!(judge(&runs, 1.0, 3), LimitVerdict::Beyond);
        assert_eq!(judge(&runs.map(|value| 1.0 / value), 1.0, 10), LimitVerdict::Within);
        // One of them is not so far, or there are two.
        assert_eq!(judge(&[2.0_f64, 5.0, 7.0].map(f64::exp), 1.0, 3), LimitVerdict::Undecided);
        assert_eq!(judge(&runs[1..], 1.0, 3), LimitVerdict::Undecided);
        let [low, high] = certain_interval(&runs, 3).expect("an interval");
        assert!((low - runs[0] / 10.0).abs() < 1e-9 && (high / (runs[2] * 10.0) - 1.0).abs() < 1e-9, "{low} {high}");
    }

    /// The same runs decide where they are all that will be made, and not where they are looked at six times: with a share of 1 / 21 of the error, the margin is
    /// 45.8 * 0.01 / sqrt(3) = 0.264.
    #[test]
    fn the_first_of_many_looks_decides_less() {
        let runs = [-0.06_f64, -0.07, -0.08].map(f64::exp);
        assert_eq!(judge(&runs, 1.0, 8), LimitVerdict::Undecided);
        assert_eq!(judge(&runs.map(|value| value * 0.9_f64), 1.0, 8), LimitVerdict::Undecided);
        assert_eq!(judge(&runs.map(|value| value * 0.8_f64), 1.0, 8), LimitVerdict::Within);
        let shares: f64 = (3..=8).map(|n_values| error_of_look(n_values, 8)).sum();
        assert!((shares - ERROR).abs() < 1e-12, "{shares}");
    }

    /// A device whose figure is the limit exactly: with so many looks and values that are skewed to the right, as high percentiles of latencies are, a verdict is wrong in
    /// about 1 % of the cases.
    #[test]
    fn looks_are_seldom_wrong_together() {
        let mut random = Taus258::new(1);
        let mut value = || {
            // A gamma distribution of 5 degrees: its logarithm is centred.
            let sum: f64 = (0..5).map(|_| -random.fraction().max(f64::MIN_POSITIVE).ln()).sum();
            (0.05 * (sum - 5.0)).exp()
        };
        let (mut n_within, mut n_beyond) = (0, 0);
        let n_cases = 20_000;
        for _ in 0..n_cases {
            let mut values = vec![value(), value()];
            while values.len() < 8 {
                values.push(value());
                match judge(&values, 1.0, 8) {
                    LimitVerdict::Undecided => continue,
                    LimitVerdict::Within => n_within += 1,
                    LimitVerdict::Beyond => n_beyond += 1,
                }
                break;
            }
        }
        assert!(n_within * 1_000 < 15 * n_cases && n_beyond * 100 < n_cases, "{n_within} {n_beyond}");
    }
}
