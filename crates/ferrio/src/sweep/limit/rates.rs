//! Whether the load of runs was carried: a job that does not reach its rate puts less load on the storage than its options say, so that its latencies are not
//! those of that load.
//!
//! Must not know: latencies, parameters. Start reading at [`judge_rates`].

use ferrio_insight::limits::{CLEAR, FEWEST_RUNS, LimitVerdict};
use ferrio_insight::{missed_rate, share_that_lasts};
use ferrio_stats::Finding;

/// The share of a job that reached its rate.
const ALL: f64 = 1.0;
/// One in so many runs may miss a rate by chance.
const MOST_MISSED: usize = 4;

/// The smallest share of its rate that a job of a run reached, or still did at its end where it fell in the course of the run; 1: all have reached theirs, or have none.
pub fn share_of_rate<'a>(findings: impl Iterator<Item = &'a Finding>) -> f64 {
    let share =
        |finding: &Finding| missed_rate(finding).map(|missed| missed.share()).or_else(|| share_that_lasts(finding));
    findings.filter_map(share).fold(ALL, f64::min)
}

/// The share of its rate that a job reached, as the excess over a limit: the logarithm of a ratio. A run in which all jobs reached their rates is as far within the limit as
/// one in which a job reached half of its rate is beyond it, so that one in four runs may miss a rate by chance.
pub(super) fn excess(share: f64) -> f64 {
    if share < ALL { (CLEAR / share.max(f64::MIN_POSITIVE)).ln() } else { -CLEAR.ln() }
}

/// Judges such shares of several runs: the storage carries the load where jobs reach at least 95 % of their rates.
///
/// It certainly does not where each of some runs has missed a rate, and it does where at most one in four has, as one that ended in a moment in which the storage
/// stood still.
pub fn judge_rates(shares: &[f64]) -> LimitVerdict {
    let n_missed = shares.iter().filter(|share| **share < ALL).count();
    let is_clear = shares.iter().all(|share| *share * CLEAR <= ALL);
    match n_missed {
        n_missed if n_missed * MOST_MISSED <= shares.len() => LimitVerdict::Within,
        n_missed if n_missed == shares.len() && (is_clear || n_missed >= FEWEST_RUNS) => LimitVerdict::Beyond,
        _ => LimitVerdict::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_decides_only_what_is_clear() {
        assert_eq!(judge_rates(&[1.0]), LimitVerdict::Within);
        assert_eq!(judge_rates(&[0.8]), LimitVerdict::Undecided);
        assert_eq!(judge_rates(&[0.4]), LimitVerdict::Beyond);
        assert_eq!(judge_rates(&[]), LimitVerdict::Within);
    }

    #[test]
    fn several_runs_decide_together() {
        assert_eq!(judge_rates(&[0.80, 0.81, 0.80]), LimitVerdict::Beyond);
        assert_eq!(judge_rates(&[0.94, 1.0, 0.94, 1.0]), LimitVerdict::Undecided);
        // A moment in which the storage stood still, in one of some runs.
        assert_eq!(judge_rates(&[1.0, 1.0, 0.9]), LimitVerdict::Undecided);
        assert_eq!(judge_rates(&[1.0, 1.0, 0.9, 1.0]), LimitVerdict::Within);
    }
}
