//! `--max p99=2ms`: the largest value of a parameter (a rate, a depth, a number of jobs) at which latencies stay within limits.
//!
//! Must not know: how runs are made, terminals. Start reading at [`LimitSearch`], then `next.rs`, which uses all runs
//! together; [`search()`] is the bisection of `ferrio fit`, which judges each value for itself.

mod answer;
mod next;
mod rates;
mod search;

pub use answer::{LimitAnswer, LimitedBy, TriedValue, limited_by};
pub use ferrio_insight::limits::{LimitVerdict, certain_interval, error_of_look, judge};
pub use rates::{judge_rates, share_of_rate};
pub use search::{Bracket, search};

use next::{SearchRange, SearchState, SearchedValue};

use crate::sweep::space::{SpaceError, SweepAxis, SweptOption};
use ferrio_formats::RunResult;
use ferrio_insight::limits::FEWEST_RUNS;
use ferrio_stats::{FigureName, Metric, MetricUnit};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Most runs that measure the lower end again when the search is over.
pub(crate) const RUNS_AGAIN: u32 = FEWEST_RUNS as u32;

/// A latency of 0 is this share of its limit.
const LEAST: f64 = 1e-3;

/// The parameter that says how many I/Os are in flight, and not how many come.
const DEPTH: &str = "iodepth";

/// A text is no limit of `--max`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {fault}; expected is something like p99=2ms or log:sync.p99=10ms")]
pub struct LatencyLimitError {
    text: String,
    /// What is wrong with it.
    #[source]
    fault: LatencyLimitFault,
}

/// What is wrong with a limit of `--max`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum LatencyLimitFault {
    #[error("it has no =")]
    NoValue,
    #[error("the time has no unit (ns, us, ms, s), or is none")]
    Time,
    #[error("the figure is no latency: there are {}", Metric::names(Metric::is_latency))]
    Figure,
}

/// A latency that is not to be exceeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LatencyLimit {
    text: String,
    figure: FigureName,
    most_ns: f64,
}

impl LatencyLimit {
    /// Parses `[JOB:][KIND.]FIGURE=TIME`, such as `p99=2ms`.
    ///
    /// # Errors
    /// It has no such form.
    pub fn parse(text: &str) -> Result<Self, LatencyLimitError> {
        let bad = |fault| LatencyLimitError { text: text.to_owned(), fault };
        let (figure, time) = text.split_once('=').ok_or_else(|| bad(LatencyLimitFault::NoValue))?;
        let most_ns = time_ns(time.trim()).ok_or_else(|| bad(LatencyLimitFault::Time))?;
        let figure = FigureName::parse(figure).ok().filter(|figure| figure.metric.is_latency());
        let figure = figure.ok_or_else(|| bad(LatencyLimitFault::Figure))?;
        Ok(Self { text: text.trim().to_owned(), figure, most_ns })
    }

    /// The largest latency that it is about, in nanoseconds; `None`: the run has none. Where a job has a rate, its latency is from the time at which the rate wanted
    /// the I/O, as far as that was measured.
    fn value_ns(&self, result: &RunResult) -> Option<f64> {
        let figures = result.jobs.iter().flat_map(|job| job.kinds().map(move |(kind, figures)| (job, kind, figures)));
        let figures = figures.filter(|(job, kind, _)| self.figure.subject.is_about(&job.name, *kind));
        let values = figures.filter_map(|(_, _, figures)| {
            self.figure.metric.of(figures, figures.user_latency().map(|(_, user_latency)| user_latency))
        });
        values.reduce(f64::max)
    }

    fn judge(&self, results: &[RunResult], most_runs: usize) -> LimitVerdict {
        let values: Option<Vec<f64>> = results.iter().map(|result| self.value_ns(result)).collect();
        values.map_or(LimitVerdict::Undecided, |values| judge(&values, self.most_ns, most_runs))
    }
}

/// A time above 0 with its unit.
fn time_ns(text: &str) -> Option<f64> {
    let (unit, value) = MetricUnit::parse(text).ok()?;
    (unit == MetricUnit::Nanoseconds && value > 0.0).then_some(value)
}

impl fmt::Display for LatencyLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl TryFrom<String> for LatencyLimit {
    type Error = LatencyLimitError;

    fn try_from(text: String) -> Result<Self, LatencyLimitError> {
        Self::parse(&text)
    }
}

impl From<LatencyLimit> for String {
    fn from(limit: LatencyLimit) -> Self {
        limit.text
    }
}

/// A search for the largest value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSearch {
    /// The limits, at least one.
    pub limits: Vec<LatencyLimit>,
    /// The parameter.
    pub option: SweptOption,
    /// Its smallest and its largest value.
    pub ends: (u64, u64),
    /// By how much the ends of the answer may differ, a share.
    pub precision: f64,
    /// Most runs at a value, at least 1.
    pub most_runs: u32,
}

impl LimitSearch {
    /// Most runs of a search: those that narrow the answer, those that confirm both ends, and those that measure the lower end again.
    pub const MOST_RUNS: usize = next::MOST_RUNS + 2 * (FEWEST_RUNS - 1) + RUNS_AGAIN as usize;

    /// A search along a parameter, whose first and last value are its ends.
    ///
    /// # Errors
    /// The parameter is not one option, or its values are no ascending numbers.
    pub fn new(
        limits: Vec<LatencyLimit>,
        axis: &SweepAxis,
        precision: f64,
        most_runs: u32,
    ) -> Result<Self, SpaceError> {
        let number =
            |value: Option<&Vec<String>>| value.and_then(|parts| parts.first()).and_then(|part| part.parse().ok());
        let ends = number(axis.values.first()).zip(number(axis.values.last()));
        match (&axis.options[..], ends) {
            ([option], Some((first, last))) if first <= last => {
                Ok(Self { limits, option: option.clone(), ends: (first, last), precision, most_runs: most_runs.max(1) })
            }
            _ => Err(SpaceError::NoSearch(axis.name())),
        }
    }

    /// For each limit, the geometric mean of the latency in several runs; `None`: a run does not have it.
    fn latencies_ns(&self, results: &[RunResult]) -> Vec<Option<f64>> {
        let of_limit = |limit: &LatencyLimit| {
            let values: Option<Vec<f64>> = results.iter().map(|result| limit.value_ns(result)).collect();
            let values = values.filter(|values| !values.is_empty())?;
            Some((values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
        };
        self.limits.iter().map(of_limit).collect()
    }

    /// For each run, the smallest share of its rate that a job reached; none: the parameter does not say how much load there is. A small depth may be what holds a
    /// rate back, so that it says nothing of the storage.
    fn shares_of_rates(&self, results: &[RunResult]) -> Vec<f64> {
        if self.option.name == DEPTH {
            return Vec::new();
        }
        results.iter().map(|result| share_of_rate(result.findings())).collect()
    }

    /// What all runs of the search tell. `values` ascend, each with its runs.
    pub(crate) fn state(&self, values: &[(u64, Vec<RunResult>)]) -> SearchState {
        let has_missed = values.iter().any(|(_, results)| self.judge_rates(results) != LimitVerdict::Within);
        let values: Vec<SearchedValue> =
            values.iter().map(|(value, results)| self.searched(*value, results, has_missed)).collect();
        let range =
            SearchRange { ends: self.ends, precision: self.precision, most_runs: self.most_runs.max(1) as usize };
        SearchState::of(&range, &values)
    }

    /// A value with what its runs tell of each limit, and, where a rate was missed somewhere, of the rates.
    fn searched(&self, value: u64, results: &[RunResult], has_missed: bool) -> SearchedValue {
        let of_limit = |limit: &LatencyLimit| {
            let ratios = results.iter().filter_map(|result| Some(limit.value_ns(result)? / limit.most_ns));
            ratios.map(|ratio| ratio.max(LEAST).ln()).collect()
        };
        let mut excesses: Vec<Vec<f64>> = self.limits.iter().map(of_limit).collect();
        if has_missed {
            excesses.push(self.shares_of_rates(results).into_iter().map(rates::excess).collect());
        }
        let has_failed = results.iter().flat_map(|result| &result.jobs).any(|job| job.error != 0);
        SearchedValue { value, n_runs: results.len(), excesses, has_failed }
    }

    /// What the runs at a value tell of the rates of the jobs.
    fn judge_rates(&self, results: &[RunResult]) -> LimitVerdict {
        judge_rates(&self.shares_of_rates(results))
    }

    /// What the runs tell that measure a value again at the end of the search.
    pub(crate) fn judge_again(&self, results: &[RunResult]) -> LimitVerdict {
        let has_failed = results.iter().flat_map(|result| &result.jobs).any(|job| job.error != 0);
        if has_failed {
            return LimitVerdict::Beyond;
        }
        let verdicts = self.limits.iter().map(|limit| limit.judge(results, RUNS_AGAIN as usize));
        let of_latencies = verdicts.reduce(worse).unwrap_or(LimitVerdict::Undecided);
        let verdict = worse(of_latencies, self.judge_rates(results));
        // A few runs are alike by chance.
        let is_near = results.len() > 1 && results.len() < FEWEST_RUNS;
        if is_near { LimitVerdict::Undecided } else { verdict }
    }
}

/// The verdict of two limits together.
fn worse(one: LimitVerdict, other: LimitVerdict) -> LimitVerdict {
    match (one, other) {
        (LimitVerdict::Beyond, _) | (_, LimitVerdict::Beyond) => LimitVerdict::Beyond,
        (LimitVerdict::Undecided, _) | (_, LimitVerdict::Undecided) => LimitVerdict::Undecided,
        _ => LimitVerdict::Within,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::{Figures, JobResult, LatencyFigures};
    use ferrio_units::{DataDirection, PerDirection};

    /// A run with a job that reads, whose 99th percentile is so long, and whose users wait so long.
    fn run(p99_ns: u64, response_ns: Option<u64>) -> RunResult {
        let latency = |p99_ns| LatencyFigures {
            max_ns: u64::MAX,
            percentiles: vec![(99.0, p99_ns)],
            ..LatencyFigures::default()
        };
        let figures = Figures { clat: Some(latency(p99_ns)), response: response_ns.map(latency), ..Figures::default() };
        let mut directions = PerDirection::default();
        directions[DataDirection::Read] = Some(figures);
        RunResult {
            jobs: vec![JobResult { name: "a".to_owned(), directions, ..JobResult::default() }],
            ..RunResult::default()
        }
    }

    fn search_for(limits: &[&str]) -> LimitSearch {
        let limits = limits.iter().map(|text| LatencyLimit::parse(text).expect(text)).collect();
        LimitSearch::new(limits, &SweepAxis::parse("rate_iops=100..10000").expect("an axis"), 0.05, 10)
            .expect("a search")
    }

    /// The verdicts of several values, each with the same run so many times.
    fn verdicts(search: &LimitSearch, values: &[(u64, RunResult, usize)]) -> Vec<LimitVerdict> {
        let runs: Vec<(u64, Vec<RunResult>)> =
            values.iter().map(|(value, run, n)| (*value, vec![run.clone(); *n])).collect();
        let state = search.state(&runs);
        values.iter().map(|(value, ..)| state.verdict_of(*value)).collect()
    }

    #[test]
    fn users_wait_from_the_time_that_the_rate_wanted() {
        use LimitVerdict::{Beyond, Undecided, Within};
        let search = search_for(&["p99=2ms"]);
        let of = |values: &[(u64, RunResult, usize)]| verdicts(&search, values);
        assert_eq!(of(&[(100, run(500_000, None), 1)]), [Within]);
        assert_eq!(of(&[(100, run(500_000, Some(9_000_000)), 1)]), [Beyond]);
        assert_eq!(of(&[(100, run(1_900_000, None), 1)]), [Undecided]);
        assert_eq!(of(&[(100, run(0, None), 1)]), [Within]);
        let mut failed = run(500_000, None);
        failed.jobs[0].error = 5;
        assert_eq!(of(&[(100, run(500_000, None), 1), (1_000, failed, 1)]), [Within, Beyond]);
    }

    /// A rate of 665 a second whose latencies hold the limit, and that was done on credit for bursts: 500 a second last.
    #[test]
    fn a_rate_that_falls_in_the_course_of_its_run_does_not_hold() {
        use ferrio_stats::{Audit, Finding, Measured, Severity};
        let mut fell = run(500_000, None);
        let finding = Finding {
            hosts: Vec::new(),
            id: "rate-fell".to_owned(),
            title: String::new(),
            severity: Severity::Misleading,
            jobs: vec!["a".to_owned()],
            direction: None,
            evidence: vec![Measured::count("rate, I/Os a second", 665.0), Measured::count("after", 500.0)],
            explanation: String::new(),
            cure: String::new(),
            page: String::new(),
        };
        fell.audit = Some(Audit { findings: vec![finding], ..Audit::default() });
        let share = share_of_rate(fell.findings());
        assert!((share - 500.0 / 665.0).abs() < 1e-9, "{share}");
        let search = search_for(&["p99=2ms"]);
        let runs = [(500, run(500_000, None), 3), (665, fell.clone(), 3)];
        assert_eq!(verdicts(&search, &runs), [LimitVerdict::Within, LimitVerdict::Beyond]);
        assert_eq!(search.judge_again(&vec![fell; 3]), LimitVerdict::Beyond);
    }

    #[test]
    fn all_limits_must_hold_and_be_known() {
        let of = |limits: &[&str]| verdicts(&search_for(limits), &[(100, run(500_000, None), 3)])[0];
        assert_eq!(of(&["a:read.p99=2ms", "p99=100us"]), LimitVerdict::Beyond);
        assert_eq!(of(&["p99=2ms", "write.p99=1s"]), LimitVerdict::Undecided);
        assert_eq!(of(&["p99=2ms", "p99=1s"]), LimitVerdict::Within);
    }

    #[test]
    fn an_end_that_is_measured_again_is_judged_by_those_runs() {
        let search = search_for(&["p99=2ms"]);
        assert_eq!(search.judge_again(&[run(500_000, None)]), LimitVerdict::Within);
        assert_eq!(search.judge_again(&[run(9_000_000, None)]), LimitVerdict::Beyond);
        assert_eq!(search.judge_again(&[run(1_900_000, None)]), LimitVerdict::Undecided);
        // Two runs that are alike may be so by chance.
        assert_eq!(search.judge_again(&[run(500_000, None), run(500_000, None)]), LimitVerdict::Undecided);
        assert_eq!(search.judge_again(&vec![run(1_900_000, None); 3]), LimitVerdict::Within);
    }

    #[test]
    fn what_is_no_limit_or_no_search_is_refused() {
        for text in ["", "p99", "p99=2", "p99=-1ms", "p99=nan s", "iops=2ms", "speed=2ms", "p99=inf s"] {
            assert!(LatencyLimit::parse(text).is_err(), "{text}");
        }
        for text in ["bs=4k,8k", "rw=read,write", "iodepth:bs=1:4k", "iodepth=8,4"] {
            let axis = SweepAxis::parse(text).expect(text);
            assert!(LimitSearch::new(Vec::new(), &axis, 0.05, 8).is_err(), "{text}");
        }
    }
}
