//! The comparison of the figures of two jobs.
//!
//! Must not know: which jobs belong together. Start reading at [`figures`].

use super::kinds::two_kinds;
use super::ratio::{of_intervals, of_repeats};
use super::sample::{FigureCourse, FigureSample, JobOfResult, LATENCIES, common_latency, words};
use super::verdict::{beyond_noise, decide};
use super::{ComparedFigure, ComparisonBasis, ComparisonVerdict, FigureChange};
use crate::repeats::is_by_logarithm;
use ferrio_formats::{IoKind, LatencyKind};
use ferrio_inference::{LogRatio, log_ratio};
use ferrio_stats::Metric;

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
    /// The latency that is compared. Response latencies have no course from which one run could tell how much they vary: repeated results do.
    fn latency(&self, of: IoKind) -> LatencyKind {
        let kinds = if self.is_repeated() { &LATENCIES[..] } else { &LATENCIES[1..] };
        common_latency(&self.jobs(), of, kinds)
    }

    /// All results have response latencies, of some kind of I/O.
    pub(super) fn has_responses(&self) -> bool {
        IoKind::ALL.into_iter().any(|of| self.jobs().all(|job| job.has_latency(of, LatencyKind::Response)))
    }

    fn jobs(&self) -> impl Iterator<Item = &JobOfResult<'_>> + Clone {
        self.base.iter().chain(&self.new)
    }

    /// A side has several results.
    pub(super) fn is_repeated(&self) -> bool {
        self.base.len() > 1 || self.new.len() > 1
    }
}

/// The figures of a kind of I/O that both sides have. `threshold` is a share.
pub(super) fn figures(jobs: &JobOfBoth<'_>, of: IoKind, threshold: f64) -> Vec<ComparedFigure> {
    let kind = jobs.latency(of);
    let of_metric = |metric: Metric| {
        let base = FigureSample::of(&jobs.base, of, metric, kind);
        let new = FigureSample::of(&jobs.new, of, metric, kind);
        let figure = figure(metric, &base, &new, jobs.is_same_result, threshold);
        let latency = metric.is_latency().then_some(kind.words());
        let is_there = figure.base.is_some() || figure.new.is_some();
        is_there.then_some(ComparedFigure { direction: of.name(), latency, ..figure })
    };
    Metric::ALL.into_iter().filter_map(of_metric).collect()
}

/// What a verdict rests on.
struct Ground {
    basis: ComparisonBasis,
    ratio: LogRatio,
    reason: String,
}

fn figure(
    metric: Metric,
    base: &FigureSample,
    new: &FigureSample,
    is_same_result: bool,
    threshold: f64,
) -> ComparedFigure {
    let values = (base.value(metric), new.value(metric));
    let compared = match values {
        (Some(_), Some(_)) if is_same_result => Ok(Ground {
            basis: ComparisonBasis::SameResult,
            ratio: LogRatio::NONE,
            reason: "both sides are the same result".to_owned(),
        }),
        (Some(first), Some(second)) => compared(metric, base, new, first, second),
        (None, _) => Err("the base has no such figure".to_owned()),
        (_, None) => Err("the new result has no such figure".to_owned()),
    };
    let mut figure = ComparedFigure {
        direction: "",
        metric,
        latency: None,
        base: values.0,
        new: values.1,
        change: None,
        n: [base.values.len(), new.values.len()],
        n_intervals: base.course.n_intervals().zip(new.course.n_intervals()).map(|(base, new)| [base, new]),
        p: None,
        verdict: ComparisonVerdict::Unknown,
        basis: ComparisonBasis::Nothing,
        reason: String::new(),
        contradicted_by: Vec::new(),
    };
    match compared {
        Ok(ground) => {
            let is_repeated = ground.basis == ComparisonBasis::Repeats;
            figure.verdict = decide(metric, &ground.ratio, threshold, is_repeated);
            figure.p = (ground.basis != ComparisonBasis::SameResult).then(|| ground.ratio.p());
            figure.change = values.0.zip(values.1).and_then(|(base, new)| change(base, new, Some(&ground.ratio)));
            (figure.basis, figure.reason) = (ground.basis, ground.reason);
        }
        Err(reason) => {
            figure.change = values.0.zip(values.1).and_then(|(base, new)| change(base, new, None));
            figure.reason = reason;
        }
    }
    // What repeats or the course of a run tell of the noise is not overruled.
    let is_noise_unknown = figure.n == [1, 1] && figure.change.is_some_and(|change| change.interval_percent.is_none());
    if figure.verdict == ComparisonVerdict::Unknown && is_noise_unknown && !base.is_doubtful && !new.is_doubtful {
        figure.judge_by_size();
    }
    figure
}

impl ComparedFigure {
    /// A change that is larger than noise makes one is told, where nothing is known of the noise of these runs.
    fn judge_by_size(&mut self) {
        let (Some(base), Some(new), Some(factor)) = (self.base, self.new, beyond_noise(self.metric)) else { return };
        let Some(change) = self.change.as_mut().filter(|_| base > 0.0 && new > 0.0) else { return };
        let ratio = new / base;
        if ratio.max(1.0 / ratio) < factor || ratio.ln().abs() > MOST_FACTOR.ln() {
            return;
        }
        // However large the noise is, up to that factor, the change is at least that.
        let bounds = [ratio / factor, ratio * factor].map(|ratio| 100.0 * (ratio - 1.0));
        change.bounds_percent = Some(bounds);
        self.verdict = ComparisonVerdict::Differs;
        self.basis = ComparisonBasis::Size;
        self.reason = format!("noise between two runs is not known to change such a figure by a factor of {factor}");
    }
}

/// The ratio of a figure and what it rests on.
fn compared(
    metric: Metric,
    base: &FigureSample,
    new: &FigureSample,
    first: f64,
    second: f64,
) -> Result<Ground, String> {
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
        let is_by_logarithm = [base, new].iter().all(|side| is_by_logarithm(&side.values, metric));
        let ratio = of_repeats(&base.values, &new.values, is_by_logarithm, resolution);
        let few = || "there are too few repeated results: at least two on both sides, or three beside one".to_owned();
        let (ratio, reason) = (ratio.ok_or_else(few)?, format!("from {n_base} and {n_new} results"));
        let (ratio, reason) = match two_kinds(&base.values, &new.values, is_by_logarithm, ratio) {
            Some((ratio, kinds)) => (ratio, format!("{reason}, {kinds}")),
            None => (ratio, reason),
        };
        return Ok(Ground { basis: ComparisonBasis::Repeats, ratio, reason });
    }
    let of_course = |ratio: LogRatio| Ground {
        basis: ComparisonBasis::Course,
        ratio: reaching(ratio, told),
        reason: "from the course of one run each".to_owned(),
    };
    if let (FigureCourse::Series(first), FigureCourse::Series(second)) = (&base.course, &new.course) {
        let ratio = log_ratio(first, second).map_err(|reason| words(reason).to_owned())?;
        return Ok(of_course(ratio));
    }
    let of_side = |sample: &FigureSample, side: &str| sample.course.interval().map_err(|why| format!("{side}: {why}"));
    let ratio = of_intervals(&of_side(base, "base")?, &of_side(new, "new")?);
    Ok(of_course(ratio.ok_or("the interval of a figure reaches down to 0")?))
}

/// The same for the ratio of the figures as reported, which may differ from those of the course (intervals that are left out):
/// the interval reaches as far as either tells.
fn reaching(ratio: LogRatio, told: f64) -> LogRatio {
    let shift = told - ratio.value;
    LogRatio { value: told, low: ratio.low + shift.min(0.0), high: ratio.high + shift.max(0.0), ..ratio }
}

fn change(base: f64, new: f64, ratio: Option<&LogRatio>) -> Option<FigureChange> {
    let percent = 100.0 * (new - base) / base;
    let interval_percent = ratio.map(|ratio| [100.0 * ratio.low.exp_m1(), 100.0 * ratio.high.exp_m1()]);
    let absolute = |percent: f64| base * percent / 100.0;
    (base > 0.0 && percent.is_finite()).then(|| FigureChange {
        percent,
        absolute: new - base,
        interval_percent,
        bounds_percent: interval_percent,
        interval_absolute: interval_percent.map(|ends| ends.map(absolute)),
    })
}
