//! Whether a figure is within a limit, from its values in several runs.
//!
//! Must not know: jobs, parameters. Start reading at [`judge`]; the interval that it looks at is [`certain_interval`].

use super::LimitVerdict;

/// Factor of the limit beyond which one run decides: noise between two runs is not known to change a figure so much.
const CLEAR: f64 = 2.0;

/// Quantiles of Student's distribution for 99 % at one side, with 1 to 10 degrees of freedom; with more, that of 10.
const QUANTILES: [f64; 10] = [31.821, 6.965, 4.541, 3.747, 3.365, 3.143, 2.998, 2.896, 2.821, 2.764];

/// Judges values against a limit that they must not exceed. With several values, the mean of their logarithms decides, with an error of 1 %.
pub fn judge(values: &[f64], limit: f64) -> LimitVerdict {
    let Some((mean, margin)) = mean_and_margin(values, limit) else { return LimitVerdict::Undecided };
    match mean {
        mean if mean + margin < 0.0 || (margin <= 0.0 && mean <= 0.0) => LimitVerdict::Within,
        mean if mean - margin > 0.0 => LimitVerdict::Beyond,
        _ => LimitVerdict::Undecided,
    }
}

/// The interval of the geometric mean that [`judge`] looks at: values are within a limit that is above its upper end, and beyond one that is below its lower end.
/// `None`: a value is not positive, or there are none.
pub fn certain_interval(values: &[f64]) -> Option<[f64; 2]> {
    let (mean, margin) = mean_and_margin(values, 1.0)?;
    Some([(mean - margin).exp(), (mean + margin).exp()])
}

/// The mean of the logarithms of values in units of `unit`, and how far the true mean may be from it to each side.
fn mean_and_margin(values: &[f64], unit: f64) -> Option<(f64, f64)> {
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
            QUANTILES[(n_values - 2).min(QUANTILES.len() - 1)] * (variance / n).sqrt()
        }
    };
    Some((mean, margin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_decides_only_what_is_clear() {
        assert_eq!(judge(&[0.4], 1.0), LimitVerdict::Within);
        assert_eq!(judge(&[2.5], 1.0), LimitVerdict::Beyond);
        assert_eq!(judge(&[0.6], 1.0), LimitVerdict::Undecided);
        assert_eq!(judge(&[], 1.0), LimitVerdict::Undecided);
        assert_eq!(judge(&[f64::NAN, 1.0], 1.0), LimitVerdict::Undecided);
    }

    #[test]
    fn the_interval_is_the_one_that_decides() {
        let runs = [-0.04_f64, -0.05, -0.06].map(f64::exp);
        let [low, high] = certain_interval(&runs).expect("an interval");
        for (limit, verdict) in [
            (high * 1.001, LimitVerdict::Within),
            (high * 0.999, LimitVerdict::Undecided),
            (low * 1.001, LimitVerdict::Undecided),
            (low * 0.999, LimitVerdict::Beyond),
        ] {
            assert_eq!(judge(&runs, limit), verdict, "{limit} of {low} to {high}");
        }
        assert_eq!(certain_interval(&[]), None);
        assert_eq!(certain_interval(&[1.0, 0.0]), None);
        assert_eq!(certain_interval(&[1.0, 1.0]), Some([1.0, 1.0]));
    }

    #[test]
    fn several_runs_decide_by_their_spread() {
        // The logarithms are 0.05 below the limit on average, with a deviation of 0.01: the margin is 6.965 * 0.01 / sqrt(3) = 0.040.
        let runs = [-0.04_f64, -0.05, -0.06].map(f64::exp);
        assert_eq!(judge(&runs, 1.0), LimitVerdict::Within);
        assert_eq!(judge(&runs.map(|value| 1.0 / value), 1.0), LimitVerdict::Beyond);
        assert_eq!(judge(&[-0.03_f64, -0.05, -0.01].map(f64::exp), 1.0), LimitVerdict::Undecided);
        // Figures that are exact.
        assert_eq!(judge(&[1.0, 1.0], 1.0), LimitVerdict::Within);
        assert_eq!(judge(&[1.001, 1.001], 1.0), LimitVerdict::Beyond);
    }
}
