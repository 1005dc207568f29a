//! The comparison of the figures of two jobs.
//!
//! Must not know: which jobs belong together. Start reading at [`figures`].

use super::ratio::{of_intervals, of_repeats};
use super::sample::{FigureCourse, FigureSample, JobOfResult, words};
use super::verdict::decide;
use super::{ComparedFigure, ComparedMetric, ComparisonVerdict, FigureChange};
use crate::statistics::{LogRatio, log_ratio};
use ferrio_results::LatencyKind;
use ferrio_units::DataDirection;

/// Half the width of a bucket of a latency, as a share: percentiles are the middle of one.
const HALF_BUCKET: f64 = 1.0 / 128.0;
/// A change beyond this factor is no change but an absurdity; its figures are shown alone.
const MOST_FACTOR: f64 = 1e9;

/// All results of both sides that have the job.
pub(super) struct JobOfBoth<'a> {
    pub(super) base: Vec<JobOfResult<'a>>,
    pub(super) new: Vec<JobOfResult<'a>>,
    /// Both sides are the same single result.
    pub(super) is_same_result: bool,
}

impl JobOfBoth<'_> {
    /// The latency that all results have; that of completion if none has any.
    pub(super) fn latency(&self, direction: DataDirection) -> LatencyKind {
        let all_have = |kind| self.base.iter().chain(&self.new).all(|job| job.has_latency(direction, kind));
        let kinds = [LatencyKind::Completion, LatencyKind::Total];
        kinds.into_iter().find(|kind| all_have(*kind)).unwrap_or(LatencyKind::Completion)
    }
}

/// The figures of a direction that both sides have. `threshold` is a share.
pub(super) fn figures(jobs: &JobOfBoth<'_>, direction: DataDirection, threshold: f64) -> Vec<ComparedFigure> {
    let kind = jobs.latency(direction);
    let of_metric = |metric: ComparedMetric| {
        let base = FigureSample::of(&jobs.base, direction, metric, kind);
        let new = FigureSample::of(&jobs.new, direction, metric, kind);
        let figure = figure(metric, &base, &new, jobs.is_same_result, threshold);
        (figure.base.is_some() || figure.new.is_some())
            .then_some(ComparedFigure { direction: direction.name(), ..figure })
    };
    ComparedMetric::ALL.into_iter().filter_map(of_metric).collect()
}

fn figure(
    metric: ComparedMetric,
    base: &FigureSample,
    new: &FigureSample,
    is_same_result: bool,
    threshold: f64,
) -> ComparedFigure {
    let values = (base.value(), new.value());
    let compared = match values {
        (Some(_), Some(_)) if is_same_result => Ok((LogRatio::NONE, "both sides are the same result".to_owned())),
        (Some(first), Some(second)) => compared(metric, base, new, first, second),
        (None, _) => Err("the base has no such figure".to_owned()),
        (_, None) => Err("the new result has no such figure".to_owned()),
    };
    let (verdict, ratio, reason) = match compared {
        Ok((ratio, basis)) => (decide(metric, &ratio, threshold), Some(ratio), basis),
        Err(reason) => (ComparisonVerdict::Unknown, None, reason),
    };
    let change = match values {
        (Some(first), Some(second)) => change(first, second, ratio.as_ref()),
        _ => None,
    };
    ComparedFigure {
        direction: "",
        metric,
        base: values.0,
        new: values.1,
        change,
        verdict,
        reason,
        contradicted_by: Vec::new(),
    }
}

/// The ratio of a figure and what it rests on.
fn compared(
    metric: ComparedMetric,
    base: &FigureSample,
    new: &FigureSample,
    first: f64,
    second: f64,
) -> Result<(LogRatio, String), String> {
    if first <= 0.0 || second <= 0.0 {
        return Err("a figure is 0".to_owned());
    }
    let told = (second / first).ln();
    if told.abs() > MOST_FACTOR.ln() {
        return Err("the figures are too far from each other to be of the same work".to_owned());
    }
    let (n_base, n_new) = (base.values.len(), new.values.len());
    if n_base > 1 || n_new > 1 {
        let resolution = if metric.percent().is_some() { HALF_BUCKET } else { 0.0 };
        let ratio = of_repeats(&base.values, &new.values, resolution);
        let few = || "there are too few repeated results: at least two on both sides, or three beside one".to_owned();
        return Ok((ratio.ok_or_else(few)?, format!("from {n_base} and {n_new} results")));
    }
    let basis = "from the course of one run each".to_owned();
    if let (FigureCourse::Series(first), FigureCourse::Series(second)) = (&base.course, &new.course) {
        let ratio = log_ratio(first, second).map_err(|reason| words(reason).to_owned())?;
        return Ok((ratio.reaching(told), basis));
    }
    let of_side = |sample: &FigureSample, side: &str| sample.course.interval().map_err(|why| format!("{side}: {why}"));
    let ratio = of_intervals(&of_side(base, "base")?, &of_side(new, "new")?);
    Ok((ratio.ok_or("the interval of a figure reaches down to 0")?.reaching(told), basis))
}

impl LogRatio {
    /// No change at all.
    const NONE: Self = Self { value: 0.0, low: 0.0, high: 0.0 };

    /// The same for the ratio of the figures as reported, which may differ from those of the course (intervals that are left out):
    /// the interval reaches as far as either tells.
    fn reaching(self, told: f64) -> Self {
        let shift = told - self.value;
        Self { value: told, low: self.low + shift.min(0.0), high: self.high + shift.max(0.0) }
    }
}

fn change(base: f64, new: f64, ratio: Option<&LogRatio>) -> Option<FigureChange> {
    let percent = 100.0 * (new - base) / base;
    let interval_percent = ratio.map(|ratio| [100.0 * ratio.low.exp_m1(), 100.0 * ratio.high.exp_m1()]);
    let absolute = |percent: f64| base * percent / 100.0;
    (base > 0.0 && percent.is_finite()).then(|| FigureChange {
        percent,
        absolute: new - base,
        interval_percent,
        interval_absolute: interval_percent.map(|ends| ends.map(absolute)),
    })
}
