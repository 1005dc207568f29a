//! The share of samples beyond a limit in several runs together, and how sure it is.
//!
//! Must not know: what was measured. Start reading at [`pooled_share`]. Samples of a run depend on each other, so that the runs are the blocks of which the interval is made.

use crate::student::one_sided_quantile;
use ferrio_units::random::Taus258;

/// Number of resampled sets of runs.
const N_RESAMPLED: usize = 1_999;
/// The same runs give the same interval each time.
const SEED: u64 = 0x0000_F17B_0075;
/// Degrees of freedom of a quantile that is that of the normal distribution.
const MANY_DEGREES: f64 = 400.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunShare {
    pub n_beyond: f64,
    pub n_all: f64,
}

/// The share of the samples beyond the limit in all runs together; `None`: there are no samples.
pub fn share_of_all(runs: &[RunShare]) -> Option<f64> {
    let all: f64 = runs.iter().map(|run| run.n_all).sum();
    (all > 0.0).then(|| runs.iter().map(|run| run.n_beyond).sum::<f64>() / all)
}

/// The interval of this share, 0 to 1: the truth is below its lower end, and above its upper one, with a probability of `error` each. It is the widest of three: by the
/// number of samples beyond (Poisson), by what the runs differ (Student), and by what sets of runs drawn from these show (bootstrap over runs), which knows that a few runs
/// may have most of the samples beyond. `None`: there are fewer than two runs, or no samples.
pub fn pooled_share(runs: &[RunShare], error: f64) -> Option<[f64; 2]> {
    let share = share_of_all(runs).filter(|_| runs.len() > 1)?;
    let ends = [by_counts(runs, share, error), by_spread(runs, share, error), by_resampling(runs, error)];
    let low = ends.iter().map(|ends| ends[0]).fold(share, f64::min);
    let high = ends.iter().map(|ends| ends[1]).fold(share, f64::max);
    Some([low.max(0.0), high.min(1.0)])
}

/// Source: Wilson and Hilferty, The distribution of chi-square, 1931; the ends of a Poisson count are quantiles of chi-square.
fn by_counts(runs: &[RunShare], share: f64, error: f64) -> [f64; 2] {
    let all: f64 = runs.iter().map(|run| run.n_all).sum();
    let z = one_sided_quantile(error, MANY_DEGREES);
    let quantile = |degrees: f64, z: f64| {
        let part = 2.0 / (9.0 * degrees);
        (degrees * (1.0 - part + z * part.sqrt()).max(0.0).powi(3)) / 2.0
    };
    // The rarer kind of sample is the one that is counted.
    let few = |n: f64| {
        let low = if n > 0.0 { quantile(2.0 * n, -z) } else { 0.0 };
        [low / all, quantile(2.0 * n + 2.0, z) / all]
    };
    if share <= 0.5 {
        return few(share * all);
    }
    let [low, high] = few((1.0 - share) * all);
    [1.0 - high, 1.0 - low]
}

/// The error of a ratio of two sums over runs. Shares are skewed to the right, so that the upper end is that of the logarithm.
fn by_spread(runs: &[RunShare], share: f64, error: f64) -> [f64; 2] {
    let n = runs.len() as f64;
    let all: f64 = runs.iter().map(|run| run.n_all).sum();
    let squares: f64 = runs.iter().map(|run| (run.n_beyond - share * run.n_all).powi(2)).sum();
    let margin = one_sided_quantile(error, n - 1.0) * (squares * n / (n - 1.0)).sqrt() / all;
    let high = if share > 0.0 { share * (margin / share).exp() } else { margin };
    [share - margin, high]
}

fn by_resampling(runs: &[RunShare], error: f64) -> [f64; 2] {
    let mut random = Taus258::new(SEED);
    let mut of_one = || {
        let (mut beyond, mut all) = (0.0, 0.0);
        for _ in 0..runs.len() {
            let run = runs[random.below(runs.len() as u64) as usize];
            beyond += run.n_beyond;
            all += run.n_all;
        }
        if all > 0.0 { beyond / all } else { 0.0 }
    };
    let mut shares: Vec<f64> = (0..N_RESAMPLED).map(|_| of_one()).collect();
    shares.sort_by(f64::total_cmp);
    let at = |part: f64| shares[(((N_RESAMPLED + 1) as f64 * part).round() as usize).clamp(1, N_RESAMPLED) - 1];
    [at(error), at(1.0 - error)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(n_runs: usize, n_beyond: f64, n_all: f64) -> Vec<RunShare> {
        vec![RunShare { n_beyond, n_all }; n_runs]
    }

    /// Of a Poisson count of 0, the upper end with an error of 1 % is -ln(0.01) = 4.605; of 10, the ends are 4.130 and 20.145 (tables of chi-square: 8.260 with 20
    /// degrees of freedom, and 40.289 with 22, halved).
    #[test]
    fn counts_have_the_ends_of_the_tables() {
        let [low, high] = pooled_share(&alike(4, 0.0, 1_000.0), 0.01).expect("samples");
        assert!(low == 0.0 && (high * 4_000.0 - 4.605).abs() < 0.25, "{high}");
        let [low, high] = pooled_share(&alike(10, 1.0, 100.0), 0.01).expect("samples");
        assert!((low * 1_000.0 - 4.130).abs() < 0.05 && (high * 1_000.0 - 20.145).abs() < 0.1, "{low} {high}");
        // Of what is nearly all, the rest is counted.
        let [low, high] = pooled_share(&alike(4, 1_000.0, 1_000.0), 0.01).expect("samples");
        assert!(high >= 1.0 && low > 0.998, "{low}");
        assert_eq!(pooled_share(&alike(1, 1.0, 10.0), 0.01), None);
        assert_eq!(pooled_share(&alike(4, 0.0, 0.0), 0.01), None);
    }

    /// Runs whose shares differ: those of 1 % on average, gamma distributed with a deviation of a third. The interval for 5 % on each side has the truth in 90 % of the cases.
    #[test]
    fn the_share_of_runs_that_differ_is_covered() {
        for n_runs in [6, 12] {
            let (mut n_below, mut n_above, n_cases) = (0, 0, 2_000_u64);
            for case in 0..n_cases {
                let mut random = Taus258::new(case.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
                let mut run = || {
                    let sum: f64 = (0..9).map(|_| -random.fraction().max(f64::MIN_POSITIVE).ln()).sum();
                    RunShare { n_beyond: 100.0 * sum / 9.0, n_all: 10_000.0 }
                };
                let runs: Vec<RunShare> = (0..n_runs).map(|_| run()).collect();
                let [low, high] = pooled_share(&runs, 0.05).expect("samples");
                n_below += u64::from(high < 0.01);
                n_above += u64::from(low > 0.01);
            }
            let share = |n: u64| n as f64 / n_cases as f64;
            assert!(share(n_below) < 0.07 && share(n_above) < 0.05, "{n_runs}: {n_below} {n_above} of {n_cases}");
        }
    }
}
