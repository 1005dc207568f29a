//! What the runs of a load tell of a limit.
//!
//! A percentile is that of the I/Os of all runs together, any other figure is the geometric mean of the runs. Must not know: how loads are run, how a verdict is shown. Start
//! reading at [`CheckOutcome::of`].

use crate::fit::disturbed::{Disturbance, DisturbedRuns, LimitedIo};
use crate::fit::runs::LoadRuns;
use crate::fit::tail::{ShareBeyond, judge_tail};
use crate::fit::together::Bins;
use crate::fit::{FitBound, FitLimit, FitVerdict};
use crate::sweep::limit::certain_interval;
use ferrio_formats::{IoKind, LatencyFigures, RunResult};
use ferrio_insight::may_overstate;
use ferrio_stats::Finding;
use ferrio_units::DataDirection;
use serde::Serialize;

/// So many times as many runs are thought of, to tell how many would decide.
const TIMES_AS_MANY: [usize; 7] = [2, 3, 4, 6, 8, 12, 16];

/// What the runs tell of a limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckOutcome {
    /// Index of the limit in the recipe.
    pub limit_index: usize,
    /// The verdict.
    pub verdict: FitVerdict,
    /// The limit.
    pub bound: Option<FitBound>,
    /// Number of runs of its load.
    pub n_runs: usize,
    /// The figure in each run.
    pub values: Vec<f64>,
    /// A percentile: that of the I/Os of all runs together. Else the geometric mean of the runs.
    pub value: f64,
    /// The interval of this figure that decides, each end certain to 99 %; `None`: a figure is 0, or there are none.
    pub interval: Option<[f64; 2]>,
    /// For a percentile, the share of the I/Os that took longer than the limit.
    pub beyond: Option<ShareBeyond>,
    /// How many times better than the limit it is; below 1: worse.
    pub margin: f64,
    /// A finding by its name that contradicts the figure, or says that it is that of a state that passes: the storage may be worse than the figure says.
    pub contradicted_by: Option<String>,
    /// Runs that something else than the storage made slow; `None`: none of them broke the limit.
    pub disturbed: Option<DisturbedRuns>,
    /// About so many further runs like these would decide; `None`: they do, or so many are not worth it.
    pub more_runs: Option<usize>,
    /// The figures decide, whatever findings say of them.
    #[serde(skip)]
    pub(crate) is_decided: bool,
}

/// The figure of a limit in a run, with the latencies that it is from.
struct FigureOfRun {
    value: f64,
    bins: Bins,
}

/// A figure, its interval, the share beyond the limit, and the verdict.
type Judged = (f64, Option<[f64; 2]>, Option<ShareBeyond>, FitVerdict);

impl CheckOutcome {
    /// The outcome of a limit about which nothing was measured.
    pub const fn unmeasured(limit_index: usize, bound: Option<FitBound>) -> Self {
        Self {
            limit_index,
            verdict: FitVerdict::CantTell,
            bound,
            n_runs: 0,
            values: Vec::new(),
            value: 0.0,
            interval: None,
            beyond: None,
            margin: 0.0,
            contradicted_by: None,
            disturbed: None,
            more_runs: None,
            is_decided: false,
        }
    }

    /// The outcome of a limit. `changes`: of the figures from run to run.
    pub(crate) fn of(
        (limit_index, limit): (usize, &FitLimit),
        bound: Option<FitBound>,
        runs: &LoadRuns,
        changes: &[Finding],
        most_runs: usize,
    ) -> Self {
        let mut outcome = Self { n_runs: runs.results.len(), ..Self::unmeasured(limit_index, bound) };
        // Recipes are checked when they are read.
        let (Ok((kind, _)), Some(bound)) = (limit.subject(), outcome.bound) else { return outcome };
        let figures: Option<Vec<FigureOfRun>> =
            (0..runs.results.len()).map(|index| FigureOfRun::of(runs, index, (limit_index, limit))).collect();
        let Some(figures) = figures.filter(|figures| !figures.is_empty()) else { return outcome };
        let all: Vec<&FigureOfRun> = figures.iter().collect();
        let Some(judged) = judged(&all, limit, bound, most_runs) else { return outcome };
        (outcome.value, outcome.interval, outcome.beyond, outcome.verdict) = judged;
        outcome.margin = bound.margin(outcome.value).unwrap_or_default();
        outcome.values = figures.iter().map(|figure| figure.value).collect();
        outcome.look_for_disturbances(&runs.results, &figures, limit, most_runs);
        outcome.is_decided = outcome.verdict != FitVerdict::CantTell;
        if !outcome.is_decided {
            outcome.more_runs = more_runs(&all, limit, bound);
        }
        outcome.contradicted_by = contradiction(&runs.results, changes, &limit.job, kind);
        if outcome.verdict == FitVerdict::Fits && outcome.contradicted_by.is_some() {
            outcome.verdict = FitVerdict::CantTell;
        }
        outcome
    }

    /// Looks whether something else than the storage is the reason why the limit does not hold. It is where the quiet runs alone do not say so.
    fn look_for_disturbances(
        &mut self,
        results: &[RunResult],
        figures: &[FigureOfRun],
        limit: &FitLimit,
        most_runs: usize,
    ) {
        let Some(bound) = self.bound.filter(|_| self.verdict != FitVerdict::Fits) else { return };
        let of_run = |(result, figure): (&RunResult, &FigureOfRun)| {
            let holds = bound.holds(figure.value);
            let io = LimitedIo { job: &limit.job, bound, value: figure.value, bins: &figure.bins };
            (holds, if holds { None } else { Disturbance::of(result, &io) })
        };
        let by_run: Vec<(bool, Option<Disturbance>)> = results.iter().zip(figures).map(of_run).collect();
        self.disturbed = DisturbedRuns::of(&by_run);
        if self.disturbed.is_none() || self.verdict != FitVerdict::DoesNotFit {
            return;
        }
        let quiet: Vec<&FigureOfRun> =
            figures.iter().zip(&by_run).filter(|(_, (_, by))| by.is_none()).map(|(figure, _)| figure).collect();
        let of_quiet = judged(&quiet, limit, bound, most_runs).map(|(.., verdict)| verdict);
        if of_quiet != Some(FitVerdict::DoesNotFit) {
            self.verdict = FitVerdict::CantTell;
        }
    }

    /// The same, unless the limit certainly does not hold: a finding speaks against the figure.
    pub(crate) fn doubted(mut self, finding: &str) -> Self {
        if self.verdict != FitVerdict::DoesNotFit {
            self.verdict = FitVerdict::CantTell;
            self.contradicted_by = Some(finding.to_owned());
        }
        self
    }

    /// More runs do not change what the figures tell.
    pub(crate) const fn is_decided(&self) -> bool {
        self.is_decided
    }
}

impl FigureOfRun {
    /// The figure of a run; `None`: the run does not have it.
    fn of(runs: &LoadRuns, run_index: usize, (limit_index, limit): (usize, &FitLimit)) -> Option<Self> {
        let (kind, metric) = limit.subject().ok()?;
        if limit.together.is_some() {
            let bins = runs.sums.get(run_index)?.get(&limit_index)?.clone();
            let max_ns = bins.last()?.0;
            let all = LatencyFigures { max_ns, bins, ..LatencyFigures::default() };
            let value = all.percentile(metric.percent()?)?.latency_ns as f64;
            return Some(Self { value, bins: all.bins });
        }
        let job = runs.results.get(run_index)?.jobs.iter().find(|one| one.name == limit.job)?;
        let figures = job.get(kind)?;
        let latency = figures.user_latency().map(|(_, latency)| latency);
        let bins = latency.filter(|_| limit.most.is_some()).map(|latency| latency.bins.clone()).unwrap_or_default();
        Some(Self { value: metric.of(figures, latency)?, bins })
    }
}

/// What figures of runs tell; `None`: there are none, or a percentile has no distribution.
fn judged(figures: &[&FigureOfRun], limit: &FitLimit, bound: FitBound, most_runs: usize) -> Option<Judged> {
    if let (Some(percent), FitBound::Most(most_ns)) = (limit.percent(), bound) {
        let runs: Vec<&[(u64, u64)]> = figures.iter().map(|figure| &figure.bins[..]).collect();
        let found = judge_tail(&runs, percent, most_ns, most_runs)?;
        return Some((found.value, found.interval, found.share, found.verdict));
    }
    let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
    if values.is_empty() {
        return None;
    }
    let value = (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp();
    Some((value, certain_interval(&values, most_runs), None, bound.judge(&values, most_runs)))
}

/// So many further runs would decide, if they were like these.
fn more_runs(figures: &[&FigureOfRun], limit: &FitLimit, bound: FitBound) -> Option<usize> {
    let n_runs = figures.len();
    let decides = |times: &usize| {
        let many: Vec<&FigureOfRun> = figures.iter().copied().cycle().take(n_runs * times).collect();
        let verdict = judged(&many, limit, bound, many.len()).map(|(.., verdict)| verdict);
        verdict.is_some_and(|verdict| verdict != FitVerdict::CantTell)
    };
    TIMES_AS_MANY.into_iter().find(decides).map(|times| n_runs * (times - 1))
}

/// Whether a finding about a direction is about the I/O of a kind. Syncs move nothing: none is about them alone.
pub(crate) fn is_about(direction: Option<DataDirection>, kind: IoKind) -> bool {
    direction.is_none_or(|direction| kind.direction() == Some(direction))
}

/// The first finding by which the storage may be worse than the figures of a job's I/O of a kind. Those about data that wait in memory do not speak of syncs, which
/// wait for them.
fn contradiction(results: &[RunResult], changes: &[Finding], job: &str, kind: IoKind) -> Option<String> {
    let speaks_against = |finding: &&Finding| {
        let is_of_job = finding.jobs.is_empty() || finding.jobs.iter().any(|name| name == job);
        may_overstate(finding) && is_about(finding.direction, kind) && is_of_job
    };
    let mut findings = results.iter().flat_map(RunResult::findings).chain(changes);
    findings.find(speaks_against).map(|finding| finding.id.clone())
}
