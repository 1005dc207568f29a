//! What the runs of a recipe have told: a verdict for each limit, and one for all.
//!
//! Must not know: how loads are run, how a verdict is shown. Start reading at [`FitOutcome::new`].

use crate::fitting::MOST_RUNS;
use crate::{FitBound, FitLimit, FitLoad, FitVerdict, Headroom, MissedLoad, Recipe};
use ferrio_insight::compare::ComparedMetric;
use ferrio_insight::repeats::{CHANGED, RepeatedRuns, changes, repeats};
use ferrio_insight::{RATE_NOT_REACHED, may_flatter};
use ferrio_results::{FiguresOf, RunResult};
use ferrio_stats::{Finding, FindingDirection, Provenance};
use ferrio_sweep::limit::certain_interval;
use serde::Serialize;

/// The outcome of a recipe.
#[derive(Debug, Clone, Serialize)]
pub struct FitOutcome {
    /// Name of the recipe.
    pub recipe: String,
    /// The worst of all verdicts; `None`: the recipe has no limits, and only describes.
    pub verdict: Option<FitVerdict>,
    /// The loads.
    pub loads: Vec<LoadOutcome>,
    /// The machine.
    #[serde(skip)]
    pub provenance: Option<Box<Provenance>>,
}

/// The outcome of a load.
#[derive(Debug, Clone, Serialize)]
pub struct LoadOutcome {
    /// Its name.
    pub name: String,
    /// Number of its runs.
    pub n_runs: usize,
    /// Its limits.
    pub checks: Vec<CheckOutcome>,
    /// A job did not reach its rate; `None`: all did, or have none.
    pub missed: Option<MissedLoad>,
    /// Its figures.
    pub figures: RepeatedRuns,
    /// Findings of its runs, each once.
    pub findings: Vec<Finding>,
    /// How much more load there may be.
    pub headroom: Option<Headroom>,
    /// Bytes that its runs have written.
    pub written_bytes: u64,
}

/// What the runs of a load, some times as large or as it is, tell of its limits.
pub(crate) struct DecidedLoad {
    pub(crate) checks: Vec<CheckOutcome>,
    pub(crate) missed: Option<MissedLoad>,
}

impl DecidedLoad {
    /// `factor`: of a limit, how many times as much its job is to do.
    pub(crate) fn of(
        recipe: &Recipe,
        load: &FitLoad,
        results: &[RunResult],
        factor: impl Fn(&FitLimit) -> f64,
    ) -> Self {
        let changes = changes(results);
        let missed = MissedLoad::of(recipe, load, results);
        let check = |(index, limit): (usize, &FitLimit)| {
            let bound = limit.bound().ok().map(|bound| bound.times(factor(limit)));
            let check = CheckOutcome::of((index, limit), bound, results, &changes);
            // Latencies of a load that is not carried are those of less load.
            let is_of_less = missed.is_some() && matches!(check.bound, Some(FitBound::Most(_)));
            if is_of_less { check.doubted(RATE_NOT_REACHED) } else { check }
        };
        Self { checks: recipe.limits_of(load).map(check).collect(), missed }
    }

    /// The worst verdict; `None`: there is no limit.
    pub(crate) fn verdict(&self) -> Option<FitVerdict> {
        let of_limits = self.checks.iter().map(|check| check.verdict).max();
        of_limits.map(|verdict| self.missed.as_ref().map_or(verdict, |missed| missed.verdict.max(verdict)))
    }

    /// More runs would not change it: all is decided, or a finding speaks against the figures.
    pub(crate) fn is_final(&self) -> bool {
        let is_carried_or_not = self.missed.as_ref().is_none_or(|missed| missed.limited_by.is_some());
        let is_known = |check: &CheckOutcome| check.verdict != FitVerdict::CantTell || check.contradicted_by.is_some();
        is_carried_or_not && self.checks.iter().all(is_known)
    }
}

/// What the runs tell of a limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckOutcome {
    /// Index of the limit in the recipe.
    pub limit_index: usize,
    /// The verdict.
    pub verdict: FitVerdict,
    /// The limit.
    pub bound: Option<FitBound>,
    /// The figure in each run.
    pub values: Vec<f64>,
    /// Their geometric mean.
    pub value: f64,
    /// The interval of the mean that decides, each end certain to 99 %; `None`: a figure is 0, or there are none.
    pub interval: Option<[f64; 2]>,
    /// How many times better than the limit it is; below 1: worse.
    pub margin: f64,
    /// A finding by its name that contradicts the figure, or says that it is that of a state that passes: the storage may be worse than the figure says.
    pub contradicted_by: Option<String>,
}

impl CheckOutcome {
    /// The outcome of a limit. `changes`: of the figures from run to run.
    fn of(
        (limit_index, limit): (usize, &FitLimit),
        bound: Option<FitBound>,
        results: &[RunResult],
        changes: &[Finding],
    ) -> Self {
        let mut outcome = Self {
            limit_index,
            verdict: FitVerdict::CantTell,
            bound,
            values: Vec::new(),
            value: 0.0,
            interval: None,
            margin: 0.0,
            contradicted_by: None,
        };
        // Recipes are checked when they are read.
        let (Ok((kind, metric)), Some(bound)) = (limit.subject(), outcome.bound) else { return outcome };
        let values: Option<Vec<f64>> = results.iter().map(|result| value(result, &limit.job, kind, metric)).collect();
        let Some(values) = values.filter(|values| !values.is_empty()) else { return outcome };
        outcome.value = (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp();
        outcome.margin = bound.margin(outcome.value).unwrap_or_default();
        outcome.interval = certain_interval(&values, MOST_RUNS as usize);
        outcome.verdict = bound.judge(&values);
        outcome.values = values;
        outcome.contradicted_by = contradiction(results, changes, &limit.job, kind);
        if outcome.verdict == FitVerdict::Fits && outcome.contradicted_by.is_some() {
            outcome.verdict = FitVerdict::CantTell;
        }
        outcome
    }

    /// The same, unless the limit certainly does not hold: a finding speaks against the figure.
    fn doubted(mut self, finding: &str) -> Self {
        if self.verdict != FitVerdict::DoesNotFit {
            self.verdict = FitVerdict::CantTell;
            self.contradicted_by = Some(finding.to_owned());
        }
        self
    }
}

/// A figure of a run.
fn value(result: &RunResult, job: &str, kind: FiguresOf, metric: ComparedMetric) -> Option<f64> {
    let figures = result.jobs.iter().find(|one| one.name == job)?.get(kind)?;
    metric.of(figures, figures.felt().map(|(_, latency)| latency))
}

/// Whether a finding about a direction is about the I/O of a kind. Syncs move nothing: none is about them alone.
pub(crate) fn is_about(direction: FindingDirection, kind: FiguresOf) -> bool {
    match direction {
        FindingDirection::None => true,
        FindingDirection::Read => kind == FiguresOf::Read,
        FindingDirection::Write => kind == FiguresOf::Write,
        FindingDirection::Trim => kind == FiguresOf::Trim,
    }
}

/// The first finding by which the storage may be worse than the figures of a job's I/O of a kind. Those about data that wait in memory do not speak of syncs, which
/// wait for them.
fn contradiction(results: &[RunResult], changes: &[Finding], job: &str, kind: FiguresOf) -> Option<String> {
    let speaks_against = |finding: &&Finding| {
        let is_of_job = finding.jobs.is_empty() || finding.jobs.iter().any(|name| name == job);
        may_flatter(finding) && is_about(finding.direction, kind) && is_of_job
    };
    let mut findings = results.iter().flat_map(|result| result.findings.iter().flatten()).chain(changes);
    findings.find(speaks_against).map(|finding| finding.id.clone())
}

impl LoadOutcome {
    pub(crate) fn new(load: &FitLoad, decided: DecidedLoad, results: &[RunResult], headroom: Option<Headroom>) -> Self {
        let DecidedLoad { mut checks, missed } = decided;
        let broken_later = headroom.iter().flat_map(|headroom| &headroom.broken_at_one);
        for index in broken_later {
            let fits = |check: &&mut CheckOutcome| check.limit_index == *index && check.verdict == FitVerdict::Fits;
            if let Some(check) = checks.iter_mut().find(fits) {
                check.verdict = FitVerdict::CantTell;
                check.contradicted_by = Some(CHANGED.id.to_owned());
            }
        }
        let mut findings = changes(results);
        let of_headroom = headroom.iter().flat_map(|headroom| &headroom.findings);
        let of_runs = results.iter().flat_map(|result| result.findings.iter().flatten());
        for finding in of_runs.chain(of_headroom) {
            if !findings.iter().any(|known| known.is_as(finding)) {
                findings.push(finding.clone());
            }
        }
        let written = results.iter().flat_map(|result| &result.jobs).filter_map(|job| job.get(FiguresOf::Write));
        Self {
            name: load.name.clone(),
            n_runs: results.len(),
            checks,
            missed,
            figures: repeats(results),
            findings,
            headroom,
            written_bytes: written.map(|figures| figures.bytes).sum(),
        }
    }
}

impl FitOutcome {
    pub(crate) fn new(recipe: &Recipe, loads: Vec<LoadOutcome>, provenance: Option<Box<Provenance>>) -> Self {
        let of_limits = loads.iter().flat_map(|load| &load.checks).map(|check| check.verdict).max();
        // A load without limits is described, and not judged.
        let judged = loads.iter().filter(|load| !load.checks.is_empty());
        let of_rates = judged.filter_map(|load| load.missed.as_ref()).map(|missed| missed.verdict).max();
        let verdict = of_limits.map(|verdict| of_rates.map_or(verdict, |of_rates| of_rates.max(verdict)));
        Self { recipe: recipe.name.clone(), verdict, loads, provenance }
    }
}
