//! What the runs of a recipe have told: a verdict for each limit, and one for all.
//!
//! Must not know: how loads are run, how a verdict is shown. Start reading at [`FitOutcome::new`].

use crate::fit::check::CheckOutcome;
use crate::fit::runs::LoadRuns;
use crate::fit::tail::pooled_percentile;
use crate::fit::together::Bins;
use crate::fit::{FitBound, FitLimit, FitLoad, FitVerdict, Headroom, RateShortfall, Recipe};
use ferrio_formats::{IoKind, RunResult};
use ferrio_insight::RATE_NOT_REACHED;
use ferrio_insight::repeats::{CHANGED, RepeatedRuns, changes, repeats};
use ferrio_stats::{Finding, Metric, Provenance};
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
    /// The time was over before all was decided: the verdict is that of the runs which were made.
    pub is_out_of_time: bool,
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
    pub missed: Option<RateShortfall>,
    /// Its figures. Percentiles are those of the I/Os of all runs together.
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
    pub(crate) missed: Option<RateShortfall>,
}

impl DecidedLoad {
    /// `factor`: of a limit, how many times as much its job is to do.
    pub(crate) fn of(
        recipe: &Recipe,
        load: &FitLoad,
        runs: &LoadRuns,
        most_runs: usize,
        factor: impl Fn(&FitLimit) -> f64,
    ) -> Self {
        let changes = changes(&runs.results);
        let missed = RateShortfall::of(recipe, load, &runs.results);
        let check = |(index, limit): (usize, &FitLimit)| {
            let bound = limit.bound().ok().map(|bound| bound.times(factor(limit)));
            let check = CheckOutcome::of((index, limit), bound, runs, &changes, most_runs);
            // Latencies of a load that is not carried are those of less load.
            let is_of_less = missed.is_some() && matches!(check.bound, Some(FitBound::Most(_)));
            if is_of_less { check.doubted(RATE_NOT_REACHED.id) } else { check }
        };
        Self { checks: recipe.limits_of(load).map(check).collect(), missed }
    }

    /// The worst verdict; `None`: there is no limit.
    pub(crate) fn verdict(&self) -> Option<FitVerdict> {
        let of_limits = self.checks.iter().map(|check| check.verdict).max();
        of_limits.map(|verdict| self.missed.as_ref().map_or(verdict, |missed| missed.verdict.max(verdict)))
    }

    /// More runs would not change it: all figures are decided, or the load is certainly not carried. A finding that speaks against a figure ends nothing: the next runs
    /// may be worse.
    pub(crate) fn is_final(&self) -> bool {
        let carried = self.missed.as_ref();
        if carried.is_some_and(|missed| missed.verdict == FitVerdict::DoesNotFit) {
            return true;
        }
        let is_carried_or_not = carried.is_none_or(|missed| missed.limited_by.is_some());
        is_carried_or_not && self.checks.iter().all(CheckOutcome::is_decided)
    }
}

impl LoadOutcome {
    pub(crate) fn new(load: &FitLoad, decided: DecidedLoad, runs: &LoadRuns, headroom: Option<Headroom>) -> Self {
        let results = &runs.results;
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
        let of_runs = results.iter().flat_map(RunResult::findings);
        for finding in of_runs.chain(of_headroom) {
            if !findings.iter().any(|known| known.is_as(finding)) {
                findings.push(finding.clone());
            }
        }
        let written = results.iter().flat_map(|result| &result.jobs).filter_map(|job| job.get(IoKind::Write));
        Self {
            name: load.name.clone(),
            n_runs: results.len(),
            checks,
            missed,
            figures: of_all_ios(repeats(results), results),
            findings,
            headroom,
            written_bytes: written.map(|figures| figures.bytes).sum(),
        }
    }
}

/// The figures of runs with percentiles, and the longest latency, of the I/Os of all runs together, as limits judge them. Their means over the runs would be other
/// values under the same name, and the mean of the longest ones may be below a percentile.
fn of_all_ios(mut figures: RepeatedRuns, results: &[RunResult]) -> RepeatedRuns {
    const OF_ALL: Option<&str> = Some("it is that of the I/Os of all runs together");
    for figure in &mut figures.figures {
        if figure.metric == Metric::Max {
            figure.mean = figure.values.iter().copied().fold(figure.mean, f64::max);
            (figure.interval, figure.unknown) = (None, OF_ALL);
        }
        let Some(percent) = figure.metric.percent() else { continue };
        let bins = |result: &'_ RunResult| -> Option<Bins> {
            let of_kind = result.jobs.get(figure.job_index)?.get(figure.kind)?;
            Some(of_kind.user_latency()?.1.bins.clone()).filter(|bins| !bins.is_empty())
        };
        let Some(runs) = results.iter().map(bins).collect::<Option<Vec<Bins>>>() else { continue };
        figure.mean = pooled_percentile(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>(), percent);
        (figure.interval, figure.unknown) = (None, OF_ALL);
    }
    figures
}

impl FitOutcome {
    pub(crate) fn new(
        recipe: &Recipe,
        loads: Vec<LoadOutcome>,
        is_out_of_time: bool,
        provenance: Option<Box<Provenance>>,
    ) -> Self {
        let of_limits = loads.iter().flat_map(|load| &load.checks).map(|check| check.verdict).max();
        // A load without limits is described, and not judged.
        let judged = loads.iter().filter(|load| !load.checks.is_empty());
        let of_rates = judged.filter_map(|load| load.missed.as_ref()).map(|missed| missed.verdict).max();
        let verdict = of_limits.map(|verdict| of_rates.map_or(verdict, |of_rates| of_rates.max(verdict)));
        Self { recipe: recipe.name.clone(), verdict, loads, is_out_of_time, provenance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::{Figures, JobResult, LatencyFigures};
    use ferrio_units::{DataDirection, PerDirection};

    /// Two runs, whose longest I/O takes 2 ms and 200 ms: the geometric mean of both, 20 ms, would be below the p99 of all I/Os.
    #[test]
    fn the_longest_io_of_all_runs_is_above_their_percentiles() {
        let run = |slow_ns: u64| {
            let clat = LatencyFigures {
                n_samples: 100,
                mean_ns: 1e6,
                max_ns: slow_ns,
                bins: vec![(1_000_000, 95), (slow_ns, 5)],
                ..LatencyFigures::default()
            };
            let figures = Figures { n_ios: 100, ios_per_sec: 1e3, clat: Some(clat), ..Figures::default() };
            let mut directions = PerDirection::default();
            directions[DataDirection::Read] = Some(figures);
            let job = JobResult { name: "a".to_owned(), directions, ..JobResult::default() };
            RunResult { jobs: vec![job], ..RunResult::default() }
        };
        let results = [run(2_000_000), run(200_000_000)];
        let found = of_all_ios(repeats(&results), &results);
        let of = |metric| found.figures.iter().find(|figure| figure.metric == metric).expect("a figure").mean;
        assert!((of(Metric::Max) - 200e6).abs() < 1.0);
        assert!(of(Metric::P99) > 190e6 && of(Metric::Max) >= 0.99 * of(Metric::P999));
    }
}
