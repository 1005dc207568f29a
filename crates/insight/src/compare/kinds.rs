//! Repeated runs of two kinds: most are alike, and some are several times as slow or as fast.
//!
//! How often runs of the rare kind fall on one side is chance, and a few of them make its mean and its spread, so that a test by means and deviations sees differences
//! which are none. What chance alone makes is counted here: all ways to deal the runs out to both sides. Must not know: figures of jobs. Start reading at [`two_kinds`].

use ferrio_inference::LogRatio;
use ferrio_units::random::Taus258;
use serde::Serialize;

/// Runs are of two kinds where the smallest value of one kind is so many times the largest one of the other.
const APART: f64 = 2.0;
/// And where each kind, for itself, spans less than this part of the distance between them, as logarithms.
const COMPACT: f64 = 0.5;
/// Of so many runs all ways to deal them out are looked at; of more, some are drawn.
const FEW_RUNS: usize = 12;
const DRAWN_WAYS: usize = 4_000;
/// With more runs than this, means and deviations are known well enough.
const MOST_RUNS: usize = 60;
/// Means that differ by this part of the difference that was found differ as much.
const ALIKE: f64 = 0.95;

/// Values of two kinds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KindsOfRuns {
    pub n_smaller: usize,
    pub n_larger: usize,
    /// The smallest of the larger kind, in units of the largest of the smaller one.
    pub times: f64,
    #[serde(skip)]
    least_of_larger: f64,
}

impl KindsOfRuns {
    /// `None`: the values are of one kind.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut all = values.to_vec();
        all.sort_by(f64::total_cmp);
        if all.is_empty() || all[0] <= 0.0 {
            return None;
        }
        let gap = |at: &usize| all[*at] / all[*at - 1];
        let at = (1..all.len()).max_by(|one, other| gap(one).total_cmp(&gap(other)))?;
        let distance = gap(&at).ln();
        let span = (all[at - 1] / all[0]).max(all[all.len() - 1] / all[at]).ln();
        let are_apart = gap(&at) >= APART && span <= COMPACT * distance;
        are_apart.then(|| Self { n_smaller: at, n_larger: all.len() - at, times: gap(&at), least_of_larger: all[at] })
    }
}

/// The ratio whose probability is the one by which chance deals such runs out so unevenly, with a few words about the kinds. `None`: the runs are of one kind, or each
/// side is of a kind of its own, which is the difference that is looked for.
pub(super) fn two_kinds(
    base: &[f64],
    new: &[f64],
    is_by_logarithm: bool,
    ratio: LogRatio,
) -> Option<(LogRatio, String)> {
    let all: Vec<f64> = base.iter().chain(new).copied().collect();
    if all.len() > MOST_RUNS || base.len() < 2 || new.len() < 2 {
        return None;
    }
    let KindsOfRuns { least_of_larger, times, .. } = KindsOfRuns::of(&all)?;
    let n_larger = |side: &[f64]| side.iter().filter(|value| **value >= least_of_larger).count();
    let [of_base, of_new] = [n_larger(base), n_larger(new)];
    if (of_base == 0 && of_new == new.len()) || (of_base == base.len() && of_new == 0) {
        return None;
    }
    let words = format!(
        "which are of two kinds, {:.1} times apart: {of_base} of {} and {of_new} of {} are of the larger kind",
        times,
        base.len(),
        new.len()
    );
    let scaled =
        |side: &[f64]| side.iter().map(|value| if is_by_logarithm { value.ln() } else { *value }).collect::<Vec<_>>();
    Some((with_probability(ratio, by_chance(&scaled(base), &scaled(new))), words))
}

/// The share of all ways to deal the values out whose means differ as much as these, but for what runs of a kind differ.
fn by_chance(base: &[f64], new: &[f64]) -> f64 {
    let all: Vec<f64> = base.iter().chain(new).copied().collect();
    let (n, n_base, total) = (all.len(), base.len(), all.iter().sum::<f64>());
    let difference = |chosen: u64| {
        let of_chosen: f64 = (0..n).filter(|index| chosen >> index & 1 == 1).map(|index| all[index]).sum();
        (of_chosen / n_base as f64 - (total - of_chosen) / (n - n_base) as f64).abs()
    };
    let found = ALIKE * difference((1 << n_base) - 1);
    let (mut n_ways, mut n_as_uneven) = (0_usize, 0_usize);
    let mut count = |chosen: u64| {
        n_ways += 1;
        n_as_uneven += usize::from(difference(chosen) >= found);
    };
    if n <= FEW_RUNS {
        (0..1_u64 << n).filter(|chosen| chosen.count_ones() as usize == n_base).for_each(&mut count);
    } else {
        let mut random = Taus258::new(1);
        for _ in 0..DRAWN_WAYS {
            let mut chosen = 0_u64;
            // Source: Floyd's algorithm, Bentley, Programming pearls: a sample of brilliance, 1987.
            for last in n - n_base..n {
                let drawn = random.below(last as u64 + 1);
                chosen |= if chosen >> drawn & 1 == 1 { 1 << last } else { 1 << drawn };
            }
            count(chosen);
        }
    }
    n_as_uneven as f64 / n_ways.max(1) as f64
}

/// The ratio with an interval that is as wide as its probability asks for, and no narrower than it was.
fn with_probability(ratio: LogRatio, p: f64) -> LogRatio {
    let with_arm = |arm: f64| LogRatio { low: ratio.value - arm, high: ratio.value + arm, ..ratio };
    let least = (ratio.high - ratio.value).max(ratio.value - ratio.low);
    if ratio.p() >= p || ratio.value == 0.0 {
        return ratio;
    }
    let (mut narrow, mut wide) = (least, least.max(ratio.value.abs()) * 1e3);
    for _ in 0..60 {
        let arm = f64::midpoint(narrow, wide);
        if with_arm(arm).p() < p { narrow = arm } else { wide = arm }
    }
    with_arm(wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::ratio::of_repeats;

    fn compared(base: &[f64], new: &[f64]) -> Option<(LogRatio, String)> {
        two_kinds(base, new, false, of_repeats(base, new, false, 0.0).expect("a ratio"))
    }

    /// Two of ten runs are slow, both on one side: of 45 ways to deal two out, 20 have both on one side.
    #[test]
    fn an_uneven_deal_is_as_probable_as_it_is() {
        let base = [100.0, 101.0, 99.0, 100.5, 99.5];
        let new = [5.0, 100.2, 5.1, 99.8, 100.1];
        assert!((by_chance(&base, &new) - 20.0 / 45.0).abs() < 1e-9, "{}", by_chance(&base, &new));
        let (ratio, words) = compared(&base, &new).expect("two kinds");
        assert!((ratio.p() - by_chance(&base, &new)).abs() < 1e-3 && ratio.low < 0.0 && ratio.high > 0.0, "{ratio:?}");
        assert!(words.contains("5 of 5 and 3 of 5 are of the larger kind"), "{words}");
    }

    #[test]
    fn sides_of_one_kind_each_and_runs_of_one_kind_are_left_alone() {
        assert_eq!(compared(&[100.0, 101.0, 99.0], &[10.0, 10.1, 9.9]), None);
        assert_eq!(compared(&[100.0, 110.0, 90.0], &[100.0, 105.0, 80.0]), None);
        assert_eq!(two_kinds(&[100.0], &[5.0, 100.0, 5.0], false, LogRatio::NONE), None);
    }

    /// Runs of which 30 % are 20 times slower, and no difference between the sides: at most 5 % of the verdicts say that there is one.
    #[test]
    fn no_difference_between_runs_of_two_kinds_is_seldom_taken_for_one() {
        for n in [5, 8, 12] {
            let mut n_wrong = [0_u32; 2];
            for seed in 0..400 {
                let mut random = Taus258::new(seed);
                let mut side = || -> Vec<f64> {
                    let mut value = || {
                        let noise = 1.0 + 0.02 * (random.fraction() - 0.5);
                        if random.fraction() < 0.3 { 500.0 * noise } else { 10_000.0 * noise }
                    };
                    (0..n).map(|_| value()).collect()
                };
                let (base, new) = (side(), side());
                for (is_by_logarithm, n_wrong) in [false, true].into_iter().zip(&mut n_wrong) {
                    let ratio = of_repeats(&base, &new, is_by_logarithm, 0.0).expect("a ratio");
                    let of_kinds = two_kinds(&base, &new, is_by_logarithm, ratio);
                    let ratio = of_kinds.map_or(ratio, |(ratio, _)| ratio);
                    *n_wrong += u32::from(ratio.low > 0.0 || ratio.high < 0.0);
                }
            }
            assert!(n_wrong.iter().all(|n_wrong| *n_wrong <= 20), "{n} runs: {n_wrong:?} of 400");
        }
    }
}
