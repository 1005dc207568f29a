//! Percentiles of latencies in several runs: all their I/Os together, and the share of them that takes longer than the limit.
//!
//! The mean of percentiles is no percentile: where one run in ten is slow, its I/Os may be more than 1 % of all, and the mean of the runs' p99 does not show it. Must
//! not know: recipes, jobs. Start reading at [`judge_tail`].

use crate::fit::FitVerdict;
use crate::sweep::limit::error_of_look;
use ferrio_inference::{RunShare, pooled_share, share_of_all};
use ferrio_stats::histogram::{N_FULL_BUCKETS, bucket_latency_ns};
use serde::Serialize;

/// Fewest runs after which storage may fit by a percentile: what a quarter of all runs shows is in one of them with 97 % (1 - 0.75^12).
pub(crate) const FEWEST_TO_FIT: u32 = 12;

/// The share of I/Os that took longer than a limit, percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ShareBeyond {
    /// In all runs together.
    pub percent: f64,
    /// Where the truth is, each end certain to 99 %.
    pub interval: [f64; 2],
    /// The limit allows so many.
    pub allowed: f64,
}

/// What the runs tell of a percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct JudgedTail {
    /// The percentile of all I/Os together, nanoseconds.
    pub(crate) value: f64,
    /// Where the true one is; `None`: there is one run.
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) share: Option<ShareBeyond>,
    pub(crate) verdict: FitVerdict,
}

/// Judges the percentile of the I/Os of several runs, each a list of latencies with their numbers, ascending. `None`: a run has none.
pub(crate) fn judge_tail(runs: &[&[(u64, u64)]], percent: f64, most_ns: f64, most_runs: usize) -> Option<JudgedTail> {
    if runs.is_empty() || runs.iter().any(|bins| bins.iter().all(|(_, count)| *count == 0)) {
        return None;
    }
    let allowed = 1.0 - percent / 100.0;
    let error = error_of_look(runs.len(), most_runs);
    let ends_at = |limit_ns: f64| pooled_share(&shares(runs, limit_ns), error);
    let verdict = match ends_at(most_ns) {
        Some([low, _]) if low > allowed => FitVerdict::DoesNotFit,
        Some([_, high]) if high <= allowed && runs.len() >= FEWEST_TO_FIT as usize => FitVerdict::Fits,
        _ => FitVerdict::CantTell,
    };
    let share = share_of_all(&shares(runs, most_ns)).zip(ends_at(most_ns)).map(|(share, ends)| ShareBeyond {
        percent: 100.0 * share,
        interval: ends.map(|end| 100.0 * end),
        allowed: 100.0 * allowed,
    });
    let value = pooled_percentile(runs, percent);
    let interval = ends_at(most_ns).map(|_| {
        let low = smallest(|limit_ns| ends_at(limit_ns).is_some_and(|[low, _]| low <= allowed));
        let high = smallest(|limit_ns| ends_at(limit_ns).is_some_and(|[_, high]| high <= allowed));
        [low.min(value), high.max(value)]
    });
    Some(JudgedTail { value, interval, share, verdict })
}

/// The percentile of the I/Os of all runs together, nanoseconds.
pub(crate) fn pooled_percentile(runs: &[&[(u64, u64)]], percent: f64) -> f64 {
    let allowed = 1.0 - percent / 100.0 + 1e-12;
    smallest(|limit_ns| share_of_all(&shares(runs, limit_ns)).is_some_and(|share| share <= allowed))
}

/// For each run, the I/Os that took longer than a limit.
fn shares(runs: &[&[(u64, u64)]], limit_ns: f64) -> Vec<RunShare> {
    let sum = |bins: &mut dyn Iterator<Item = &(u64, u64)>| bins.map(|(_, count)| *count as f64).sum();
    let of_run = |bins: &&[(u64, u64)]| RunShare {
        n_beyond: sum(&mut bins.iter().filter(|(latency_ns, _)| *latency_ns as f64 > limit_ns)),
        n_all: sum(&mut bins.iter()),
    };
    runs.iter().map(of_run).collect()
}

/// The smallest latency from which on a condition holds, as exact as buckets are: I/Os are counted at the middle of theirs.
fn smallest(holds: impl Fn(f64) -> bool) -> f64 {
    let middle = |bucket: usize| bucket_latency_ns(bucket) as f64;
    let (mut low, mut high) = (0, N_FULL_BUCKETS - 1);
    while low < high {
        let at = usize::midpoint(low, high);
        if holds(middle(at)) { high = at } else { low = at + 1 }
    }
    middle(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::runs::MOST_TAIL_RUNS;
    use ferrio_units::random::Taus258;

    /// A run of 2,000 I/Os of 1 ms, some of which take 20 ms.
    fn run(n_slow: u64) -> Vec<(u64, u64)> {
        vec![(1_000_000, 2_000 - n_slow), (20_000_000, n_slow)]
    }

    fn judged(runs: &[Vec<(u64, u64)>]) -> JudgedTail {
        let runs: Vec<&[(u64, u64)]> = runs.iter().map(Vec::as_slice).collect();
        judge_tail(&runs, 99.0, 10e6, MOST_TAIL_RUNS as usize).expect("I/Os")
    }

    /// Of ten runs, nine have no slow I/O, and one has 15 % of them: the mean of the runs' p99 is below the limit of 10 ms (9 times 1 ms and once 20 ms), and 1.5 % of all
    /// I/Os are beyond it.
    #[test]
    fn the_percentile_is_that_of_all_ios() {
        let mut runs = vec![run(0); 9];
        runs.push(run(300));
        let found = judged(&runs);
        let share = found.share.expect("a share");
        assert!((share.percent - 1.5).abs() < 1e-9 && (share.allowed - 1.0).abs() < 1e-9, "{share:?}");
        assert!(found.value > 19e6 && found.verdict == FitVerdict::CantTell, "{found:?}");
        assert_eq!(judge_tail(&[&[]], 99.0, 10e6, 24), None);
    }

    #[test]
    fn runs_that_are_alike_decide() {
        assert_eq!(judged(&vec![run(0); 4]).verdict, FitVerdict::CantTell);
        assert_eq!(judged(&vec![run(0); 12]).verdict, FitVerdict::Fits);
        assert_eq!(judged(&vec![run(400); 4]).verdict, FitVerdict::DoesNotFit);
        // The interval is on the same side of the limit as the verdict.
        let [low, high] = judged(&vec![run(0); 12]).interval.expect("an interval");
        assert!(low <= 1.1e6 && high < 10e6, "{low} {high}");
        assert!(judged(&vec![run(400); 4]).interval.is_some_and(|[low, _]| low > 10e6));
    }

    /// The verdicts on 400 devices, whose runs have so many slow I/Os, looked at after each run.
    fn verdicts(mut slow: impl FnMut(&mut Taus258) -> u64) -> [usize; 3] {
        let mut n_of = [0; 3];
        for seed in 0..400_u64 {
            let mut random = Taus258::new(seed.wrapping_mul(0xD134_2543_DE82_EF95) + 7);
            let mut runs = Vec::new();
            let verdict = loop {
                runs.push(run(slow(&mut random)));
                let n_runs = runs.len();
                let verdict = if n_runs < 4 { FitVerdict::CantTell } else { judged_quickly(&runs) };
                if verdict != FitVerdict::CantTell || n_runs == MOST_TAIL_RUNS as usize {
                    break verdict;
                }
            };
            n_of[verdict as usize] += 1;
        }
        n_of
    }

    /// The verdict alone.
    fn judged_quickly(runs: &[Vec<(u64, u64)>]) -> FitVerdict {
        let runs: Vec<&[(u64, u64)]> = runs.iter().map(Vec::as_slice).collect();
        let error = error_of_look(runs.len(), MOST_TAIL_RUNS as usize);
        match pooled_share(&shares(&runs, 10e6), error) {
            Some([low, _]) if low > 0.01 => FitVerdict::DoesNotFit,
            Some([_, high]) if high <= 0.01 && runs.len() >= FEWEST_TO_FIT as usize => FitVerdict::Fits,
            _ => FitVerdict::CantTell,
        }
    }

    /// A quarter of the runs is slow, and has 6 % of slow I/Os: 1.5 % of all are beyond the limit. In four runs, none is slow in 0.75^4 = 32 % of the cases; in twelve, in
    /// 3.2 %.
    #[test]
    fn four_lucky_runs_are_no_fit() {
        let [n_fits, ..] = verdicts(|random| if random.fraction() < 0.25 { 120 } else { 0 });
        assert!(n_fits * 100 <= 5 * 400, "{n_fits} of 400");
    }

    /// Each of 2,000 I/Os is slow with 1.05 %, or with 0.95 %, for itself: the number of I/Os from one slow one to the next is geometrically distributed.
    #[test]
    fn a_share_beside_the_limit_is_seldom_judged_wrong() {
        let binomial = |share: f64| {
            move |random: &mut Taus258| {
                let mut next = || 1.0 + (random.fraction().max(f64::MIN_POSITIVE).ln() / (1.0 - share).ln()).floor();
                let (mut at, mut n_slow) = (next(), 0);
                while at <= 2_000.0 {
                    at += next();
                    n_slow += 1;
                }
                n_slow
            }
        };
        let [n_fits, ..] = verdicts(binomial(0.0105));
        let [.., n_not] = verdicts(binomial(0.0095));
        assert!(n_fits <= 4 && n_not <= 4, "{n_fits} {n_not} of 400");
    }
}
