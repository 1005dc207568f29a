//! What a search for a limit has found: two values with their rates, and what has ended it.
//!
//! Must not know: how runs are made. Start reading at [`LimitAnswer::of`].

use super::{Bracket, DEPTH, LimitSearch, LimitVerdict};
use crate::sweep::{SweepError, SweepFolder};
use ferrio_formats::{IoKind, JobResult, RunResult, of_record};
use ferrio_insight::repeats::not_again;
use ferrio_insight::{TAIL_WAITS_FOR_CPU, cpu_wait_share, may_overstate, means_fewer_in_flight};
use ferrio_stats::{Finding, Metric, RunRecord, Severity};
use serde::Serialize;

/// A job that uses this share of a CPU has no more of it.
const FULL_PERCENT: f64 = 90.0;
/// Waits for a CPU explain longer latencies where they are at least this part of what has been added.
const PART: f64 = 0.5;
/// A device whose completion latency is at most this many times that of the lowest load does not work harder.
const UNLOADED: f64 = 1.3;
/// A job that spends this share of its time in syncs does no more than they allow.
const MOSTLY: f64 = 0.5;
/// I/Os that wait in the job for longer than they take on the device, so many times.
const WAITS: f64 = 2.0;

/// What keeps the parameter from being larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedBy {
    /// The device takes longer with more load.
    Device,
    /// A job uses all of its CPU, or waits for one.
    Cpu,
    /// A job waits for one sync after the other, each as fast as with less load.
    Syncs,
    /// I/Os wait in the job, and not on the device: a larger depth or more jobs may do more.
    Generator,
    /// A job failed.
    Failure,
}

impl LimitedBy {
    /// A sentence about it.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Device => "The device ends it: its latency grows with the load.",
            Self::Cpu => {
                "The CPU ends it: a job uses all of its CPU or waits for one, so the device may do more (more jobs, a cheaper engine, an idle machine)."
            }
            Self::Syncs => {
                "The syncs end it: a job waits for one after the other, and does no more than they allow (faster syncs, fewer of them, more jobs)."
            }
            Self::Generator => {
                "The load generator ends it: I/Os wait in the job and not on the device, which may do more (a larger iodepth, more jobs)."
            }
            Self::Failure => "A job that failed ends it.",
        }
    }
}

/// A value of the parameter that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriedValue {
    /// The value.
    pub value: u64,
    /// What its runs tell.
    pub verdict: LimitVerdict,
    /// Number of its runs.
    pub n_runs: usize,
    /// I/Os per second of all jobs and directions, mean of the runs; `None`: the jobs did not run at the same time.
    pub iops: Option<f64>,
    /// For each limit, the latency that it is about, geometric mean of the runs, nanoseconds.
    pub latencies_ns: Vec<Option<f64>>,
    /// The share of its rate that the slowest job reached, geometric mean of the runs; `None`: all jobs reached theirs.
    pub share_of_rate: Option<f64>,
}

/// The answer of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitAnswer {
    /// The parameter.
    pub option: String,
    /// The limits.
    pub limits: Vec<String>,
    /// Between these values the limits end to hold, with a certainty of 95 %.
    pub bracket: Bracket,
    /// For each end, the names of the findings that speak against it: at the lower end, those by which the storage may do worse in the long run than in the runs, or
    /// had fewer I/Os in flight than the depth that is the parameter.
    pub contradicted_by: [Vec<String>; 2],
    /// The lower end did not hold any more when it was measured again at the end of the search.
    #[serde(skip)]
    pub change: Option<Finding>,
    /// I/Os per second at both ends, of all jobs and directions.
    pub iops: [Option<f64>; 2],
    /// What keeps the parameter from being larger; `None`: its last value is within the limits.
    pub limited_by: Option<LimitedBy>,
    /// All values that were tried, ascending.
    pub tried: Vec<TriedValue>,
}

impl LimitAnswer {
    /// The answer so far; `None`: the sweep searches for no limit.
    ///
    /// # Errors
    /// A record cannot be read.
    pub fn of(folder: &SweepFolder) -> Result<Option<Self>, SweepError> {
        let Some(search) = &folder.plan.limit else { return Ok(None) };
        let (mut values, mut again) = (Vec::new(), Vec::new());
        for (index, point) in folder.plan.points.iter().enumerate() {
            let Some(value) = point.settings.first().and_then(|(_, value)| value.parse().ok()) else { continue };
            let results = read(folder.records(index))?;
            if !results.is_empty() {
                again.push((value, read(folder.records_again(index))?));
                values.push((value, results));
            }
        }
        values.sort_by_key(|(value, _)| *value);
        again.sort_by_key(|(value, _)| *value);
        let state = search.state(&values);
        let values = values.into_iter().zip(again).map(|((value, results), (_, again))| {
            ValueRuns::of(search, (value, state.verdict_of(value)), results, &again)
        });
        Ok(Some(Self::from_values(search, values.collect())))
    }

    fn from_values(search: &LimitSearch, mut values: Vec<ValueRuns>) -> Self {
        let index_of = |value: &ValueRuns| values.iter().position(|one| one.tried.value == value.tried.value);
        let of = |verdict: LimitVerdict| values.iter().filter(move |one| one.tried.verdict == verdict);
        let beyond = of(LimitVerdict::Beyond).next();
        let is_below = |one: &&ValueRuns| beyond.is_none_or(|beyond| one.tried.value < beyond.tried.value);
        let within = of(LimitVerdict::Within).rev().find(is_below);
        let limited_by = beyond.zip(values.first()).map(|(beyond, lowest)| limited_by(&beyond.last, &lowest.last));
        let value = |one: Option<&ValueRuns>| one.map(|one| one.tried.value);
        let bracket = Bracket { within: value(within), beyond: value(beyond) };
        let iops = [within, beyond].map(|one| one.and_then(|one| one.tried.iops));
        let [at_within, at_beyond] = [within, beyond].map(|one| one.and_then(index_of));
        let change = at_within.and_then(|index| values[index].change.take());
        let mut contradicted_by = [
            at_within.map(|index| std::mem::take(&mut values[index].flattered_by)).unwrap_or_default(),
            at_beyond.map(|index| std::mem::take(&mut values[index].wrong)).unwrap_or_default(),
        ];
        contradicted_by[0].extend(change.iter().map(|change| change.id.clone()));
        Self {
            option: search.option.to_string(),
            limits: search.limits.iter().map(ToString::to_string).collect(),
            bracket,
            contradicted_by,
            change,
            iops,
            limited_by,
            tried: values.into_iter().map(|one| one.tried).collect(),
        }
    }
}

/// A value with what its runs tell.
struct ValueRuns {
    tried: TriedValue,
    last: RunResult,
    /// Names of findings by which the storage may do worse than in these runs, or had less to do than the parameter says.
    flattered_by: Vec<String>,
    /// Names of findings that contradict the figures.
    wrong: Vec<String>,
    /// The value held, and did not when it was measured again.
    change: Option<Finding>,
}

impl ValueRuns {
    /// `results`: at least one; `again`: those at the end of the search.
    fn of(
        search: &LimitSearch,
        (value, verdict): (u64, LimitVerdict),
        mut results: Vec<RunResult>,
        again: &[RunResult],
    ) -> Self {
        let iops = mean_iops(&results);
        let latencies_ns = search.latencies_ns(&results);
        let is_changed = verdict == LimitVerdict::Within && search.judge_again(again) == LimitVerdict::Beyond;
        let change = is_changed.then(|| {
            let what = format!("{}={value}", search.option);
            if search.judge_rates(again) == LimitVerdict::Beyond {
                let of = |iops: Option<f64>| iops.unwrap_or_default();
                return not_again(&what, Metric::Iops, [of(iops), of(mean_iops(again))]);
            }
            let pairs = search.limits.iter().zip(&latencies_ns).zip(search.latencies_ns(again));
            let changes = pairs.filter_map(|((limit, first), again)| Some((limit.figure.metric, [(*first)?, again?])));
            let (metric, figures) = changes
                .max_by(|(_, one), (_, other)| (one[1] / one[0]).total_cmp(&(other[1] / other[0])))
                .unwrap_or((Metric::P99, [0.0; 2]));
            not_again(&what, metric, figures)
        });
        let named = |is_it: &dyn Fn(&Finding) -> bool| {
            let findings = results.iter().chain(again).flat_map(RunResult::findings);
            let mut names: Vec<String> = findings.filter(|one| is_it(one)).map(|one| one.id.clone()).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let is_of_less = |finding: &Finding| search.option.name == DEPTH && means_fewer_in_flight(finding);
        let flattered_by = named(&|finding| may_overstate(finding) || is_of_less(finding));
        let wrong = named(&|finding| finding.severity == Severity::Wrong);
        let shares = search.shares_of_rates(&results);
        let share = (shares.iter().map(|share| share.ln()).sum::<f64>() / shares.len().max(1) as f64).exp();
        let share_of_rate = (share < 1.0).then_some(share);
        let tried = TriedValue { value, verdict, n_runs: results.len(), iops, latencies_ns, share_of_rate };
        Self { tried, last: results.pop().unwrap_or_default(), flattered_by, wrong, change }
    }
}

fn read(records: impl Iterator<Item = Result<RunRecord, SweepError>>) -> Result<Vec<RunResult>, SweepError> {
    records.map(|record| record.map(|record| of_record(&record))).collect()
}

/// The mean of [`iops`] of several runs; `None`: a run has none.
fn mean_iops(results: &[RunResult]) -> Option<f64> {
    let rates: Option<Vec<f64>> = results.iter().map(iops).collect();
    rates.filter(|rates| !rates.is_empty()).map(|rates| rates.iter().sum::<f64>() / rates.len() as f64)
}

/// I/Os per second of all jobs and directions; `None`: the jobs did not run at the same time, so that their rates do not add up.
fn iops(result: &RunResult) -> Option<f64> {
    let jobs: Vec<&JobResult> = result.jobs.iter().collect();
    if result.ran_together(&jobs).len() > 1 {
        return None;
    }
    let kinds = IoKind::ALL.into_iter().filter(|kind| *kind != IoKind::Sync);
    let rates =
        kinds.map(|kind| result.figures_together(&jobs, kind).ok().map(|all| all.map_or(0.0, |all| all.ios_per_sec)));
    rates.sum()
}

/// What has ended the search: `beyond` is a run beyond the limit, `lowest` one at the smallest value.
pub fn limited_by(beyond: &RunResult, lowest: &RunResult) -> LimitedBy {
    if beyond.jobs.iter().any(|job| job.error != 0) {
        return LimitedBy::Failure;
    }
    let uses_all = |job: &JobResult| {
        let n_clones = job.clones.len().max(1) as f64;
        job.cpu.is_some_and(|cpu| (cpu.user_percent + cpu.system_percent) >= FULL_PERCENT * n_clones)
    };
    if beyond.jobs.iter().any(uses_all) || waits_explain(beyond, lowest) {
        return LimitedBy::Cpu;
    }
    if let Some(by) = by_syncs(beyond, lowest) {
        return by;
    }
    // Mean time on the device, and as a user feels it, of the job that waits the most.
    let waits = |result: &RunResult| {
        let figures = result.jobs.iter().flat_map(JobResult::active).filter_map(|(_, figures)| {
            let (_, on_device) = figures.latency()?;
            Some((on_device.mean_ns, figures.user_latency()?.1.mean_ns))
        });
        figures.max_by(|(_, one), (_, other)| one.total_cmp(other))
    };
    match (waits(beyond), waits(lowest)) {
        (Some((on_device, user_latency)), Some((unloaded, _)))
            if on_device <= UNLOADED * unloaded && user_latency > WAITS * on_device =>
        {
            LimitedBy::Generator
        }
        _ => LimitedBy::Device,
    }
}

/// True if a job waited for a CPU for so much of its time that this explains why latencies are longer than at the lowest load. While a thread waits, all I/Os in flight do: of the
/// time of an I/O it is the same share as of the time of the job.
fn waits_explain(beyond: &RunResult, lowest: &RunResult) -> bool {
    let mean_ns = |job: &JobResult| {
        let means = job
            .active()
            .filter_map(|(_, figures)| figures.user_latency().map(|(_, user_latency)| user_latency.mean_ns));
        means.reduce(f64::max)
    };
    let added = |name: &String| {
        let of = |result: &RunResult| result.jobs.iter().find(|job| job.name == *name).and_then(mean_ns);
        of(beyond).zip(of(lowest)).map_or(1.0, |(now, unloaded)| 1.0 - unloaded / now.max(1.0))
    };
    beyond.findings().any(|finding| {
        // Its rule has compared the waits for a CPU with the time of the slow I/Os.
        finding.id == TAIL_WAITS_FOR_CPU.id
            || cpu_wait_share(finding).is_some_and(|share| finding.jobs.iter().any(|job| share >= PART * added(job)))
    })
}

/// What ends a job that spends most of its time in syncs; `None`: there is none.
fn by_syncs(beyond: &RunResult, lowest: &RunResult) -> Option<LimitedBy> {
    let mean_ns = |job: &JobResult| Some(job.syncs.as_ref()?.latency()?.1.mean_ns);
    let share = |job: &JobResult| {
        let time_ns = job.runtime_ns() as f64 * job.clones.len().max(1) as f64;
        job.syncs.as_ref().map_or(0.0, |syncs| syncs.n_ios as f64) * mean_ns(job).unwrap_or_default() / time_ns.max(1.0)
    };
    let slowest = beyond.jobs.iter().max_by(|one, other| share(one).total_cmp(&share(other)));
    let job = slowest.filter(|job| share(job) >= MOSTLY)?;
    let unloaded = lowest.jobs.iter().find(|one| one.name == job.name).and_then(mean_ns)?;
    Some(if mean_ns(job)? <= UNLOADED * unloaded { LimitedBy::Syncs } else { LimitedBy::Device })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::{Figures, LatencyFigures};
    use ferrio_units::DataDirection;

    /// Two jobs that read 100 blocks a second each, the second one from such a time on.
    fn two_jobs(start_ns: u64) -> RunResult {
        let second = 1_000_000_000;
        let job = |name: &str, start_ns: u64| {
            let figures = Figures { n_ios: 100, runtime_ns: second, ..Figures::default() }.with_rates();
            let mut job = JobResult { name: name.to_owned(), ..JobResult::default() };
            job.reach_ns = Some((start_ns, start_ns + second));
            job.directions[DataDirection::Read] = Some(figures);
            job
        };
        RunResult { jobs: vec![job("a", 0), job("b", start_ns)], ..RunResult::default() }
    }

    #[test]
    fn rates_add_up_only_where_the_jobs_ran_at_the_same_time() {
        assert!(iops(&two_jobs(0)).is_some_and(|iops| (iops - 200.0).abs() < 1e-6));
        assert_eq!(iops(&two_jobs(5_000_000_000)), None);
    }

    /// A job that writes for a second, with so many syncs of such a mean.
    fn with_syncs(n_ios: u64, mean_ns: f64) -> RunResult {
        let mut result = two_jobs(0);
        let lat = Some(LatencyFigures { mean_ns, ..LatencyFigures::default() });
        result.jobs[0].syncs = Some(Figures { n_ios, lat, ..Figures::default() });
        result
    }

    #[test]
    fn syncs_that_fill_the_time_of_a_job_end_it() {
        let lowest = with_syncs(10, 4e6);
        assert_eq!(limited_by(&with_syncs(240, 4e6), &lowest), LimitedBy::Syncs);
        assert_eq!(limited_by(&with_syncs(120, 8e6), &lowest), LimitedBy::Device);
        assert_eq!(by_syncs(&with_syncs(100, 4e6), &lowest), None);
        assert_eq!(by_syncs(&two_jobs(0), &lowest), None);
    }
}
