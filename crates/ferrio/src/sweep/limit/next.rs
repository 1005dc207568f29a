//! A search for a limit that uses all its runs together: what they tell so far, and where the next run tells most.
//!
//! Nothing is decided for good: each run may change what the others mean, so that a value that was slow for a moment costs a few runs and does not become an end of the
//! answer. Must not know: how runs are made, what a limit is. Start reading at [`SearchState::of`].

use super::search::{Bracket, between};
use super::{FEWEST_RUNS, LimitVerdict};
use ferrio_inference::{Level, LineZero, Threshold, threshold};

/// A search ends after so many runs, but for those that confirm its ends.
pub(super) const MOST_RUNS: usize = 22;
/// The next run is not nearer to an end of the answer than this share of the logarithm between them: what is beside an end is known almost as well as the end.
const APART: f64 = 0.15;
/// Where the ends differ by less than this factor, the upper one has two runs.
const CLOSE: f64 = 1.5;
/// A value that is nearer than this share to the one that is wanted takes its run: several runs at one value tell how much runs differ.
const SNAP: f64 = 0.1;

/// A value that was tried, with what its runs tell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct SearchedValue {
    pub(super) value: u64,
    /// Number of its runs, at least 1.
    pub(super) n_runs: usize,
    /// For each limit, by how much each run exceeds it: the logarithm of their ratio. Empty: no run has the figure.
    pub(super) excesses: Vec<Vec<f64>>,
    /// A job failed, so that the value is beyond the limits whatever the figures are.
    pub(super) has_failed: bool,
}

/// What the runs of a search tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SearchState {
    /// Between these values the limits end to hold.
    pub(crate) bracket: Bracket,
    /// The value at which the next run tells most; `None`: further runs do not change the answer, or there are as many as a search may have.
    pub(crate) next: Option<u64>,
}

/// The range of a search, and how far it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SearchRange {
    /// Its smallest and largest value.
    pub(super) ends: (u64, u64),
    /// By how much the ends of the answer may differ, a share.
    pub(super) precision: f64,
    /// Most runs at a value, at least 1.
    pub(super) most_runs: usize,
}

impl SearchState {
    /// What `values` tell, which ascend.
    pub(super) fn of(range: &SearchRange, values: &[SearchedValue]) -> Self {
        let search = Search { range, values };
        let failed = values.iter().find(|one| one.has_failed).map(|one| one.value);
        let usable = values.iter().filter(|one| failed.is_none_or(|failed| one.value < failed));
        let usable: Vec<&SearchedValue> = usable.collect();
        let n_limits = values.first().map_or(0, |one| one.excesses.len());
        let of_limits: Vec<OfLimit> = (0..n_limits).map(|limit| OfLimit::of(limit, &usable)).collect();
        // A figure that the jobs do not have is within no limit.
        let within = of_limits.iter().map(|one| one.within).min().flatten();
        let beyond = of_limits.iter().filter_map(|one| one.beyond).chain(failed).min();
        let bracket = Bracket { within: within.filter(|within| beyond.is_none_or(|beyond| *within < beyond)), beyond };
        let is_absent = of_limits.iter().any(|one| one.is_absent);
        let first_passed = of_limits.into_iter().min_by(|one, other| one.guess.total_cmp(&other.guess));
        let next = search.next(bracket, first_passed.filter(|_| !is_absent).as_ref());
        Self { bracket, next }
    }

    /// What the runs tell of a value.
    pub(crate) fn verdict_of(&self, value: u64) -> LimitVerdict {
        match (self.bracket.within, self.bracket.beyond) {
            (Some(within), _) if value <= within => LimitVerdict::Within,
            (_, Some(beyond)) if value >= beyond => LimitVerdict::Beyond,
            _ => LimitVerdict::Undecided,
        }
    }
}

/// What the runs tell of one limit.
struct OfLimit {
    within: Option<u64>,
    beyond: Option<u64>,
    /// No run has the figure.
    is_absent: bool,
    /// The most probable logarithm of the value at which the limit ends to hold.
    guess: f64,
    line: Option<LineZero>,
}

impl OfLimit {
    fn of(limit: usize, values: &[&SearchedValue]) -> Self {
        let with_figures: Vec<&&SearchedValue> = values.iter().filter(|one| !one.excesses[limit].is_empty()).collect();
        let levels: Vec<Level> = with_figures
            .iter()
            .map(|one| Level { position: position(one.value), figures: one.excesses[limit].clone() })
            .collect();
        let Threshold { below, above, n_below, line } = threshold(&levels);
        let value = |index: usize| with_figures[index].value;
        let ends = [n_below.saturating_sub(1), n_below.min(levels.len().saturating_sub(1))];
        let middle = ends.iter().filter_map(|end| levels.get(*end)).map(|level| level.position).sum::<f64>() / 2.0;
        Self {
            within: below.map(value),
            beyond: above.map(value),
            is_absent: levels.is_empty() && !values.is_empty(),
            guess: line.map_or(middle, |line| line.best),
            line,
        }
    }
}

/// The scale on which latencies of most storage grow evenly.
fn position(value: u64) -> f64 {
    (value.max(1) as f64).ln()
}

struct Search<'a> {
    range: &'a SearchRange,
    values: &'a [SearchedValue],
}

impl Search<'_> {
    fn n_runs(&self, value: u64) -> usize {
        self.values.iter().find(|one| one.value == value).map_or(0, |one| one.n_runs)
    }

    /// One of these values that has fewer runs than an end of the answer has.
    fn with_few(&self, ends: impl IntoIterator<Item = u64>) -> Option<u64> {
        let fewest = FEWEST_RUNS.min(self.range.most_runs);
        let has_failed = |end: u64| self.values.iter().any(|one| one.value == end && one.has_failed);
        ends.into_iter().find(|end| self.n_runs(*end) < fewest && !has_failed(*end))
    }

    /// The next value. `limit`: the one that ends to hold first; `None`: a figure is absent.
    fn next(&self, bracket: Bracket, limit: Option<&OfLimit>) -> Option<u64> {
        let SearchRange { ends: (first, last), precision, .. } = *self.range;
        let Bracket { within, beyond } = bracket;
        if beyond.is_some_and(|beyond| beyond <= first) {
            return self.with_few([first]);
        }
        if within.is_some_and(|within| within >= last) {
            return self.with_few([last]);
        }
        let unknown = [within.is_none().then_some(first), beyond.is_none().then_some(last)];
        if let Some(end) = self.with_few(unknown.into_iter().flatten()) {
            return Some(end);
        }
        let (low, high) = (within.unwrap_or(first), beyond.unwrap_or(last));
        let limit = limit?;
        if high <= low + 1 || high as f64 <= low as f64 * (1.0 + precision) {
            // The line has the runs of all values behind it; a single run does not make an end.
            return if limit.line.is_some() { None } else { self.with_few(beyond.into_iter().chain(within)) };
        }
        if self.values.iter().map(|one| one.n_runs).sum::<usize>() >= MOST_RUNS {
            return None;
        }
        let is_inside = |one: &&SearchedValue| low < one.value && one.value < high;
        if !self.values.iter().any(|one| is_inside(&one)) {
            // One run at which the storage was slow for a moment would cost many others.
            let is_once = |end: &u64| self.n_runs(*end) < 2 && high as f64 <= low as f64 * CLOSE;
            return beyond.filter(is_once).or_else(|| Some(between(low, high)));
        }
        self.inside(low, high, limit)
    }

    /// The next value where some between the ends were tried already: near the end that is further from where the limit may end to hold.
    fn inside(&self, low: u64, high: u64, limit: &OfLimit) -> Option<u64> {
        let (from, to) = (position(low), position(high));
        let width = to - from;
        let guess = limit.guess.clamp(from + APART * width, to - APART * width);
        let (lower, upper) = match limit.line {
            None => (f64::midpoint(from, guess), f64::midpoint(guess, to)),
            // The line is certain enough: one run on either side makes it an answer.
            Some(line) if line.high - line.low < self.range.precision / 2.0 => {
                let half = self.range.precision / 2.0;
                (line.best - half, line.best + half)
            }
            Some(line) => (line.low, line.high),
        };
        let (lower, upper) = (lower.max(from + APART * width), upper.min(to - APART * width));
        let is_lower = lower - from >= to - upper;
        let wanted = (if is_lower { lower } else { upper }).exp().round() as u64;
        let wanted = wanted.clamp(low + 1, high - 1);
        let distance = |value: u64| (position(value) - position(wanted)).abs();
        let inner = self.values.iter().filter(|one| low < one.value && one.value < high);
        let near: Vec<&SearchedValue> = inner.filter(|one| distance(one.value) <= SNAP * width).collect();
        let free = near.iter().filter(|one| one.n_runs < self.range.most_runs);
        let nearest = free.min_by(|one, other| distance(one.value).total_cmp(&distance(other.value)));
        match (nearest, near.is_empty()) {
            (Some(nearest), _) => Some(nearest.value),
            (None, true) => Some(wanted),
            // All the runs there are made: a value between them and the end.
            (None, false) => {
                let outer = near.iter().map(|one| one.value).reduce(if is_lower { u64::min } else { u64::max })?;
                let (one, other) = if is_lower { (low, outer) } else { (outer, high) };
                (other - one > 1).then(|| between(one, other))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::random::Taus258;

    /// Searches with runs of `excess`, and says where and after how many runs it ended.
    fn searched(ends: (u64, u64), mut excess: impl FnMut(u64) -> f64) -> (Bracket, usize) {
        let range = SearchRange { ends, precision: 0.05, most_runs: 12 };
        let mut values: Vec<SearchedValue> = Vec::new();
        loop {
            let state = SearchState::of(&range, &values);
            let n_runs = values.iter().map(|one| one.n_runs).sum();
            let Some(next) = state.next else { return (state.bracket, n_runs) };
            let figure = excess(next);
            match values.binary_search_by_key(&next, |one| one.value) {
                Ok(index) => {
                    values[index].n_runs += 1;
                    values[index].excesses[0].push(figure);
                }
                Err(index) => values.insert(
                    index,
                    SearchedValue { value: next, n_runs: 1, excesses: vec![vec![figure]], ..SearchedValue::default() },
                ),
            }
            assert!(n_runs < 40, "{values:?}");
        }
    }

    fn normal(random: &mut Taus258) -> f64 {
        (0..12).map(|_| random.fraction()).sum::<f64>() - 6.0
    }

    /// The logarithm of the 99th percentile over 2 ms of users who come at random to a device that serves 10,000 I/Os a second: ln(100) / (10,000 - rate).
    fn queue(rate: u64) -> f64 {
        if rate < 10_000 { (100_f64.ln() / (10_000 - rate) as f64 / 2e-3).ln() } else { 6.0 }
    }

    struct Searches {
        n_right: usize,
        n_in_zone: usize,
        median_runs: usize,
        median_width: f64,
    }

    /// Many searches with noise of such a deviation, whose truth is known.
    fn searches(ends: (u64, u64), truth: f64, deviation: f64, curve: impl Fn(u64) -> f64) -> Searches {
        let n_searches = 300;
        let (mut n_runs, mut widths, mut n_right, mut n_in_zone) = (Vec::new(), Vec::new(), 0, 0);
        for seed in 0..n_searches {
            let mut random = Taus258::new(seed);
            let (bracket, runs) = searched(ends, |value| curve(value) + deviation * normal(&mut random));
            let (low, high) = (bracket.within.unwrap_or(0) as f64, bracket.beyond.unwrap_or(u64::MAX) as f64);
            n_right += usize::from(low <= truth && truth <= high);
            n_in_zone += usize::from(low <= truth * 1.05 && truth <= high * 1.05);
            n_runs.push(runs);
            widths.push(high / low);
        }
        n_runs.sort_unstable();
        widths.sort_by(f64::total_cmp);
        let middle = n_runs.len() / 2;
        Searches {
            n_right: n_right * 100,
            n_in_zone: n_in_zone * 100,
            median_runs: n_runs[middle],
            median_width: widths[middle],
        }
        .per(n_searches as usize)
    }

    impl Searches {
        fn per(self, n: usize) -> Self {
            Self { n_right: self.n_right / n, n_in_zone: self.n_in_zone / n, ..self }
        }
    }

    #[test]
    fn answers_are_right_at_any_noise() {
        let truth = 10_000.0 - 100_f64.ln() / 2e-3;
        for (deviation, widest) in [(0.0, 1.05), (0.05, 1.06), (0.15, 1.15), (0.3, 1.35)] {
            let found = searches((100, 10_000), truth, deviation, queue);
            let Searches { n_right, n_in_zone, median_runs, median_width } = found;
            let told = format!("{deviation}: {n_right} {n_in_zone} {median_runs} {median_width}");
            assert!(n_right >= 93 && n_in_zone >= 97 && median_runs <= 25 && median_width <= widest, "{told}");
        }
    }

    /// A throttled device: nothing happens up to 1,000 a second, and queues without end beyond.
    #[test]
    fn a_cliff_is_found_in_few_runs() {
        let cliff = |value: u64| if value <= 1_000 { -2.0 } else { 4.0 };
        let Searches { n_right, median_runs, median_width, .. } = searches((100, 6_400), 1_000.0, 0.3, cliff);
        assert!(n_right >= 99 && median_runs <= 14 && median_width <= 1.05, "{n_right} {median_runs} {median_width}");
    }

    /// Depths: a latency that is proportional to the value, and ends that are numbers without others between them.
    #[test]
    fn depths_are_found() {
        let of = |deviation: f64| searches((1, 64), 7.5, deviation, |value| (value as f64 / 7.5).ln());
        let exact = of(0.0);
        assert!(exact.n_right == 100 && (exact.median_width - 8.0 / 7.0).abs() < 1e-9, "{}", exact.median_width);
        let noisy = of(0.15);
        assert!(noisy.n_right >= 93 && noisy.median_width < 1.6, "{} {}", noisy.n_right, noisy.median_width);
    }

    #[test]
    fn limits_beyond_the_ends_are_confirmed() {
        let at = |truth: f64| searched((10, 20), |value| 5.0 * (value as f64 / truth).ln());
        assert_eq!(at(5.0), (Bracket { within: None, beyond: Some(10) }, 3));
        assert_eq!(at(50.0), (Bracket { within: Some(20), beyond: None }, 4));
        assert_eq!(searched((10, 10), |_| -2.0), (Bracket { within: Some(10), beyond: None }, 3));
        let (bracket, _) = searched((0, 1), |value| if value == 0 { -2.0 } else { 2.0 });
        assert_eq!(bracket, Bracket { within: Some(0), beyond: Some(1) });
    }

    /// Figures that tell nothing, at any value: a search ends, and says so.
    #[test]
    fn a_search_without_an_answer_ends() {
        let mut random = Taus258::new(1);
        let (bracket, n_runs) = searched((1, 1_000_000), |_| 0.01 * normal(&mut random));
        assert!(n_runs <= MOST_RUNS + 6, "{bracket:?} {n_runs}");
        for seed in 0..500 {
            let mut random = Taus258::new(seed);
            let (_, n_runs) = searched((1, 1_000_000), |_| 8.0 * (random.fraction() - 0.5));
            assert!(n_runs <= MOST_RUNS + 6, "{n_runs}");
        }
    }

    #[test]
    fn a_failure_is_beyond_whatever_the_figures_are() {
        let range = SearchRange { ends: (1, 64), precision: 0.05, most_runs: 12 };
        let value = |value: u64, excess: f64, has_failed: bool| SearchedValue {
            value,
            n_runs: 3,
            excesses: vec![vec![excess; 3]],
            has_failed,
        };
        let values = [value(1, -2.0, false), value(8, -2.0, true), value(64, -2.0, false)];
        let state = SearchState::of(&range, &values);
        assert_eq!(state.bracket, Bracket { within: Some(1), beyond: Some(8) });
        assert_eq!(state.verdict_of(64), LimitVerdict::Beyond);
        assert!(state.next.is_some_and(|next| 1 < next && next < 8), "{state:?}");
    }

    /// A second limit that ends to hold earlier is the one that counts; one that the jobs do not have leaves all open.
    #[test]
    fn the_first_limit_that_is_passed_counts() {
        let range = SearchRange { ends: (1, 64), precision: 0.05, most_runs: 12 };
        let value = |value: u64, excesses: [f64; 2]| SearchedValue {
            value,
            n_runs: 3,
            excesses: excesses.map(|excess| vec![excess; 3]).to_vec(),
            has_failed: false,
        };
        let values = [value(1, [-3.0, -2.0]), value(8, [-1.0, 1.0]), value(64, [1.0, 3.0])];
        assert_eq!(SearchState::of(&range, &values).bracket, Bracket { within: Some(1), beyond: Some(8) });
        let absent = values.map(|one| SearchedValue { excesses: vec![one.excesses[0].clone(), Vec::new()], ..one });
        let state = SearchState::of(&range, &absent);
        assert_eq!((state.bracket.within, state.next), (None, None));
    }
}
