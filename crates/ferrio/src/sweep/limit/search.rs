//! The largest value of a parameter at which limits hold, between two others, by bisection on a logarithmic scale.
//!
//! A value may remain undecided: then the search goes on at both sides of it, so that the answer is an interval whose lower end certainly holds and whose upper
//! end certainly does not. Must not know: runs, what a limit is. Start reading at [`search`].

use ferrio_insight::limits::LimitVerdict;
use serde::Serialize;

/// Two values between which the limit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Bracket {
    /// The largest value that certainly holds; `None`: not even the first one.
    pub within: Option<u64>,
    /// The smallest value that certainly does not hold; `None`: not even the last one.
    pub beyond: Option<u64>,
}

/// Searches between `first` and `last`, until the ends differ by at most `precision` (a share: 0.05), or by 1. `judge` tells of a value; it is asked
/// for each value once. The limits are to hold below some value and not above it.
///
/// # Errors
/// That of `judge`.
pub fn search<E>(
    first: u64,
    last: u64,
    precision: f64,
    mut judge: impl FnMut(u64) -> Result<LimitVerdict, E>,
) -> Result<Bracket, E> {
    let is_near = |low: u64, high: u64| high <= low + 1 || (high as f64) <= low as f64 * (1.0 + precision);
    let mut bracket = Bracket::default();
    let mut undecided: Option<(u64, u64)> = None;
    let mut take = |value: u64, bracket: &mut Bracket, undecided: &mut Option<(u64, u64)>| {
        let verdict = judge(value)?;
        match verdict {
            LimitVerdict::Within => bracket.within = bracket.within.max(Some(value)),
            LimitVerdict::Beyond => bracket.beyond = Some(bracket.beyond.map_or(value, |beyond| beyond.min(value))),
            LimitVerdict::Undecided => {
                *undecided = Some(undecided.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
            }
        }
        Ok(verdict)
    };
    if take(first, &mut bracket, &mut undecided)? == LimitVerdict::Beyond || first >= last {
        return Ok(bracket);
    }
    if take(last, &mut bracket, &mut undecided)? == LimitVerdict::Within {
        return Ok(bracket);
    }
    loop {
        let (low, high) = (bracket.within.unwrap_or(first), bracket.beyond.unwrap_or(last));
        // Undecided values that a decided one has passed do not count.
        let next = match undecided.filter(|(lower_end, upper_end)| *upper_end > low && *lower_end < high) {
            None => (!is_near(low, high)).then(|| between(low, high)),
            Some((lower_end, _)) if low < lower_end && !is_near(low, lower_end) => Some(between(low, lower_end)),
            Some((_, upper_end)) if upper_end < high && !is_near(upper_end, high) => Some(between(upper_end, high)),
            Some(_) => None,
        };
        let Some(next) = next.filter(|next| *next > low && *next < high) else { return Ok(bracket) };
        take(next, &mut bracket, &mut undecided)?;
    }
}

/// The geometric middle, above `low` and below `high` where there is a number between them.
pub(super) fn between(low: u64, high: u64) -> u64 {
    let middle = ((low.max(1) as f64) * high as f64).sqrt().round() as u64;
    middle.clamp(low + 1, high.saturating_sub(1).max(low + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::random::Taus258;
    use std::cell::RefCell;
    use std::convert::Infallible;

    /// The bracket where the limit holds up to `truth`, and the values that were asked for.
    fn exact(first: u64, last: u64, truth: u64) -> (Bracket, Vec<u64>) {
        let asked = RefCell::new(Vec::new());
        let judge = |value| {
            asked.borrow_mut().push(value);
            Ok::<_, Infallible>(if value <= truth { LimitVerdict::Within } else { LimitVerdict::Beyond })
        };
        let Ok(bracket) = search(first, last, 0.05, judge);
        (bracket, asked.into_inner())
    }

    #[test]
    fn both_ends_are_near_each_other() {
        for truth in [1_000, 1_001, 12_345, 99_999] {
            let (bracket, asked) = exact(1_000, 100_000, truth);
            let (low, high) = (bracket.within.expect("a lower end"), bracket.beyond.expect("an upper end"));
            assert!(low <= truth && truth < high && high as f64 <= low as f64 * 1.05, "{truth}: {bracket:?}");
            // 100 is halved seven times on a logarithmic scale.
            assert!(asked.len() <= 9, "{asked:?}");
            let mut once = asked.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), asked.len());
        }
        assert_eq!(exact(1, 64, 8).0, Bracket { within: Some(8), beyond: Some(9) });
    }

    #[test]
    fn limits_beyond_the_ends() {
        assert_eq!(exact(10, 20, 5), (Bracket { within: None, beyond: Some(10) }, vec![10]));
        assert_eq!(exact(10, 20, 50), (Bracket { within: Some(20), beyond: None }, vec![10, 20]));
        assert_eq!(exact(10, 10, 50).0, Bracket { within: Some(10), beyond: None });
        assert_eq!(exact(0, 1, 0).0, Bracket { within: Some(0), beyond: Some(1) });
    }

    /// Around the truth, the runs do not decide.
    #[test]
    fn undecided_values_are_within_the_answer() {
        let judge = |value: u64| {
            Ok::<_, Infallible>(match value {
                ..900 => LimitVerdict::Within,
                900..1_100 => LimitVerdict::Undecided,
                _ => LimitVerdict::Beyond,
            })
        };
        let Ok(bracket) = search(10, 100_000, 0.05, judge);
        let (low, high) = (bracket.within.expect("a lower end"), bracket.beyond.expect("an upper end"));
        assert!((800..900).contains(&low) && (1_100..1_200).contains(&high), "{bracket:?}");
        let Ok(nothing) = search(10, 1_000, 0.05, |_| Ok::<_, Infallible>(LimitVerdict::Undecided));
        assert_eq!(nothing, Bracket::default());
    }

    /// The smallest value is undecided, too: each value is asked for once, and the answer has an upper end alone.
    #[test]
    fn a_search_whose_first_value_is_undecided_ends() {
        let mut asked = Vec::new();
        let judge = |value: u64| {
            assert!(!asked.contains(&value), "{value} again");
            asked.push(value);
            Ok::<_, Infallible>(if value < 900 { LimitVerdict::Undecided } else { LimitVerdict::Beyond })
        };
        let Ok(bracket) = search(200, 4_000, 0.05, judge);
        assert!(
            bracket.within.is_none() && bracket.beyond.is_some_and(|beyond| (900..950).contains(&beyond)),
            "{bracket:?}"
        );
        let judge =
            |value: u64| Ok::<_, Infallible>(if value < 900 { LimitVerdict::Within } else { LimitVerdict::Undecided });
        let Ok(bracket) = search(200, 4_000, 0.05, judge);
        assert!(
            bracket.beyond.is_none() && bracket.within.is_some_and(|within| (850..900).contains(&within)),
            "{bracket:?}"
        );
    }

    #[test]
    fn a_search_ends_without_sense_in_the_answers() {
        for seed in 0..2_000 {
            let mut random = Taus258::new(seed);
            let mut n_asked = 0;
            let judge = |_| {
                n_asked += 1;
                let verdicts = [LimitVerdict::Within, LimitVerdict::Beyond, LimitVerdict::Undecided];
                Ok::<_, Infallible>(verdicts[random.below(3) as usize])
            };
            let Ok(_) = search(1, 1_000_000, 0.01, judge);
            assert!(n_asked < 100, "{n_asked}");
        }
    }
}
