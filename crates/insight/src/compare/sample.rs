//! What the results of one side know of a figure.
//!
//! Must not know: the other side. Start reading at [`FigureSample::of`].

use super::over_time::{joined, means, weighted_means};
use crate::repeats::mean_of;
use ferrio_formats::{IoKind, JobResult, LatencyCounts, LatencyHeat, LatencyKind, Quantity, RunResult, TimeSeries};
use ferrio_inference::{Counts, mean, mean_interval, percentile_interval};
use ferrio_stats::histogram::{bucket_bounds_ns, full_bucket_index};
use ferrio_stats::{Confidence, Estimate, ImprecisionReason, JobPrecision, Metric, MetricUnit};
use std::borrow::Cow;

/// A series whose mean is this far (as a share) from the figure is not that of the figure.
const MOST_DISTANCE: f64 = 0.05;

const NO_COURSE: &str = "it has one result without figures over time, so what chance makes of it is unknown";
const NO_DISTRIBUTIONS: &str =
    "it has one result without distributions over time, so what chance makes of it is unknown";
const ONE_IO: &str = "it has one result, and the longest latency of a run is that of a single I/O";
const OTHER_COURSE: &str = "its figures over time are not those of its report";

/// Why the course of a run gives no interval.
pub(crate) const fn words(reason: ImprecisionReason) -> &'static str {
    match reason {
        ImprecisionReason::TooFewIntervals => "the run is too short to tell how the figure varies",
        ImprecisionReason::TooDependent => "the figure changed so slowly that the run shows too little of it",
        ImprecisionReason::TooFewSamples => "there were too few I/Os",
        ImprecisionReason::ClonesApart => "the clones of the job did not run at the same time",
        ImprecisionReason::HostLost => "a host was lost, and its course is not known",
        ImprecisionReason::NotMeasured => "the figure was not measured over time",
    }
}

/// A job of one result.
#[derive(Clone, Copy)]
pub(crate) struct JobOfResult<'a> {
    pub(crate) result: &'a RunResult,
    pub(crate) job: &'a JobResult,
}

impl<'a> JobOfResult<'a> {
    /// True if it did I/O of this kind.
    pub(crate) fn has(&self, of: IoKind) -> bool {
        self.job.get(of).is_some() || self.job.series.iter().any(|series| IoKind::from(series.direction) == of)
    }

    /// True if it measured this latency.
    pub(crate) fn has_latency(&self, of: IoKind, kind: LatencyKind) -> bool {
        self.value(Metric::MeanLatency, of, kind).is_some()
    }

    fn series(&self, of: IoKind, quantity: Quantity) -> Option<Cow<'a, TimeSeries>> {
        let is_it = |one: &&TimeSeries| IoKind::from(one.direction) == of && one.quantity == quantity;
        joined(&self.job.series.iter().filter(is_it).collect::<Vec<_>>())
    }

    /// The figure: as reported, or from its series if there is no report.
    fn value(&self, metric: Metric, of: IoKind, kind: LatencyKind) -> Option<f64> {
        if let Some(figures) = self.job.get(of) {
            // Syncs move no data.
            let is_of_nothing = metric == Metric::Bandwidth && of == IoKind::Sync;
            return metric.of(figures, figures.latency_of(kind)).filter(|_| !is_of_nothing);
        }
        let series = self.series(of, quantity(metric, kind))?;
        match metric.percent() {
            Some(percent) => of_distribution(series.heat.as_ref()?, percent),
            None if metric == Metric::Max => None,
            None => Some(mean(&self.course(of, metric, &series))),
        }
    }

    /// A figure over time that is a mean.
    fn course(&self, of: IoKind, metric: Metric, series: &TimeSeries) -> Vec<f64> {
        if metric.is_latency() {
            weighted_means(series, self.series(of, Quantity::Iops).as_deref())
        } else {
            means(series)
        }
    }

    /// The precision of its figures that the result tells. It is told of a job with all its clones, which may be several jobs here.
    fn precision(&self, of: IoKind) -> Option<&'a JobPrecision> {
        // fio's reports have none; a look at all jobs for each of thousands would take long.
        if self.result.precision.is_empty() {
            return None;
        }
        let same_name = self.result.jobs.iter().filter(|job| job.name == self.job.name).count();
        let is_it = |told: &&JobPrecision| told.job == self.job.name && told.direction == of.name();
        let mut found = self.result.precision.iter().filter(is_it);
        found.next().filter(|_| found.next().is_none() && same_name == 1)
    }
}

/// Latencies in the order in which repeated runs are told by them: first those of users.
pub(crate) const LATENCIES: [LatencyKind; 3] = [LatencyKind::Response, LatencyKind::Completion, LatencyKind::Total];

/// The first of these latencies that all jobs have measured; that of completion if there is none.
pub(crate) fn common_latency<'j, 'r: 'j>(
    jobs: &(impl Iterator<Item = &'j JobOfResult<'r>> + Clone),
    of: IoKind,
    kinds: &[LatencyKind],
) -> LatencyKind {
    let all_have = |kind: &LatencyKind| jobs.clone().all(|job| job.has_latency(of, *kind));
    kinds.iter().copied().find(all_have).unwrap_or(LatencyKind::Completion)
}

/// What one side knows of a figure.
pub(crate) struct FigureSample {
    /// The figure in each result that has it.
    pub(crate) values: Vec<f64>,
    /// What the course of the only result tells.
    pub(crate) course: FigureCourse,
    /// Too few I/Os of a result are beyond the percentile.
    pub(crate) is_doubtful: bool,
}

/// What the course of a run tells of a figure.
pub(crate) enum FigureCourse {
    Series(Vec<f64>),
    Interval(Confidence),
    /// Nothing: the reason.
    Silent(&'static str),
}

impl FigureSample {
    pub(crate) fn of(jobs: &[JobOfResult<'_>], of: IoKind, metric: Metric, kind: LatencyKind) -> Self {
        let values = jobs.iter().filter_map(|job| job.value(metric, of, kind)).collect();
        let course = match jobs {
            [job] => FigureCourse::of(job, of, metric, kind),
            _ => FigureCourse::Silent("there are several results"),
        };
        let percentile = |job: &JobOfResult<'_>| metric.percentile(job.job.get(of)?.latency_of(kind)?);
        let is_doubtful = |job: &JobOfResult<'_>| percentile(job).is_some_and(|found| found.is_doubtful);
        Self { values, course, is_doubtful: jobs.iter().any(is_doubtful) }
    }

    /// The mean of the figures, by the rule of all tables of repeated runs.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        mean_of(&self.values, metric)
    }
}

impl FigureCourse {
    fn of(job: &JobOfResult<'_>, of: IoKind, metric: Metric, kind: LatencyKind) -> Self {
        if metric == Metric::Max {
            return Self::Silent(ONE_IO);
        }
        let told = job.precision(of).and_then(|told| Self::of_precision(told, metric, kind));
        let silent = |reason| told.unwrap_or(Self::Silent(reason));
        let Some(series) = job.series(of, quantity(metric, kind)) else {
            return silent(NO_COURSE);
        };
        if let Some(percent) = metric.percent() {
            let interval = series.heat.as_ref().map(|heat| percentile_interval(&cells(heat), percent));
            return match interval {
                Some(Ok(interval)) => Self::Interval(to_bucket_bounds(interval)),
                Some(Err(reason)) => silent(words(reason)),
                None => silent(NO_DISTRIBUTIONS),
            };
        }
        let values = job.course(of, metric, &series);
        let reported = job.value(metric, of, kind).unwrap_or_default();
        if (mean(&values) - reported).abs() > MOST_DISTANCE * reported {
            return silent(OTHER_COURSE);
        }
        Self::Series(values)
    }

    /// `None`: such a figure is not among those whose precision a result tells.
    fn of_precision(told: &JobPrecision, metric: Metric, kind: LatencyKind) -> Option<Self> {
        // Those of latencies are of the completion latency.
        if metric.is_latency() && kind != LatencyKind::Completion {
            return None;
        }
        Some(match metric.precision(told)? {
            Estimate::Interval(interval) if metric.percent().is_some() => Self::Interval(to_bucket_bounds(interval)),
            Estimate::Interval(interval) => Self::Interval(interval),
            Estimate::Unknown(reason) => Self::Silent(words(reason)),
        })
    }

    /// Number of intervals of the course; `None`: it is not told by interval.
    pub(crate) fn n_intervals(&self) -> Option<usize> {
        match self {
            Self::Series(values) => Some(values.len()),
            _ => None,
        }
    }

    pub(crate) fn interval(&self) -> Result<Confidence, &'static str> {
        match self {
            Self::Series(values) => mean_interval(values)
                .map(|found| Confidence { value: found.mean, low: found.low, high: found.high })
                .map_err(words),
            Self::Interval(interval) => Ok(*interval),
            Self::Silent(reason) => Err(*reason),
        }
    }
}

/// The quantity of the series of a figure.
const fn quantity(metric: Metric, kind: LatencyKind) -> Quantity {
    match metric.unit() {
        MetricUnit::IosPerSecond => Quantity::Iops,
        MetricUnit::BytesPerSecond => Quantity::Bandwidth,
        MetricUnit::Nanoseconds => Quantity::Latency(kind),
    }
}

/// A percentile of the whole time, nanoseconds.
fn of_distribution(heat: &LatencyHeat, percent: f64) -> Option<f64> {
    let all = ferrio_formats::LatencyFigures { max_ns: u64::MAX, bins: heat.total(), ..Default::default() };
    all.percentile(percent).map(|found| found.latency_ns as f64)
}

fn cells(heat: &LatencyHeat) -> Vec<Counts> {
    let counts = |counts: &LatencyCounts| counts.0.iter().map(|(bucket, count)| (*bucket, *count)).collect();
    heat.columns.all().iter().map(|column| counts(&column.figures)).collect()
}

/// A percentile is known only up to its bucket.
fn to_bucket_bounds(interval: Confidence) -> Confidence {
    let bounds = |value: f64| bucket_bounds_ns(full_bucket_index(value as u64));
    let (low, high) = (bounds(interval.low).0 as f64, bounds(interval.high).1 as f64);
    Confidence { low: low.min(interval.low), high: high.max(interval.high), ..interval }
}
