//! The figures of repeated runs: mean, interval, and how much the runs differ from each other and within themselves.
//!
//! Must not know: files, how the figures are shown. Start reading at [`repeats`].

mod changed;
mod drift;
mod outliers;

pub use crate::compare::kinds::KindsOfRuns;
use crate::compare::sample::{FigureSample, JobOfResult, LATENCIES, common_latency};
pub use changed::{CHANGED, OrderedFigure, WATCHED, change, changes, not_again};
pub use drift::DRIFTS;
use ferrio_formats::{IoKind, LatencyKind, RunResult};
use ferrio_inference::{mean, quantile_95};
use ferrio_stats::{Confidence, Metric};
pub use outliers::Outlier;
use serde::Serialize;

/// Half the width of an interval of 95 %, in standard errors.
const HALF_WIDTH: f64 = 1.96;
/// Fewest runs that are of two kinds: two of three may be alike by chance.
const FEWEST_OF_KINDS: usize = 4;

/// What repeated runs of the same jobs tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepeatedRuns {
    pub n_runs: usize,
    /// The figures, by job, kind of I/O and metric, in the order of the first run.
    pub figures: Vec<RepeatedFigure>,
    /// Runs that differ from the others by far more than these differ from each other.
    pub outliers: Vec<Outlier>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepeatedFigure {
    #[serde(skip)]
    pub job_index: usize,
    pub job: String,
    #[serde(rename = "of")]
    pub kind: IoKind,
    /// Which figure. Rates are per second, latencies nanoseconds.
    pub metric: Metric,
    /// The figure in each run that has it.
    pub values: Vec<f64>,
    /// Their mean: of rates the arithmetic one, of latencies the geometric one, as limits judge them.
    pub mean: f64,
    /// An interval that covers the true mean with a probability of 95 %: from the differences between the runs, or from the course of the only
    /// run. `None`: see `unknown`.
    pub interval: Option<[f64; 2]>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<&'static str>,
    /// Standard deviation between the runs, percent of the mean; `None`: there is one run, or the mean is 0.
    pub between_percent: Option<f64>,
    /// How much a run alone would differ from the truth, by its own course: standard deviation, percent of the mean. Where it is far below
    /// the deviation between the runs, longer runs tell no more than short ones, and more runs do.
    pub within_percent: Option<f64>,
    /// Too few I/Os of a run are beyond the percentile.
    pub is_doubtful: bool,
    /// The runs are of two kinds, of which some are several times as large: the mean is that of none, and how many of either kind there are is chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<KindsOfRuns>,
}

impl RepeatedFigure {
    /// Half of the interval in percent of the mean; `None`: there is no interval, or the mean is 0.
    pub fn half_width_percent(&self) -> Option<f64> {
        let [low, high] = self.interval?;
        (self.mean > 0.0).then(|| 100.0 * (high - low) / 2.0 / self.mean)
    }
}

/// The figures of these runs, which are repeats of each other.
pub fn repeats(results: &[RunResult]) -> RepeatedRuns {
    let all: Vec<&RunResult> = results.iter().collect();
    let mut found = RepeatedRuns { n_runs: all.len(), figures: Vec::new(), outliers: Vec::new() };
    let Some(first) = all.first() else { return found };
    let of_job = crate::compare::repeats(&all);
    for (job_index, job) in first.jobs.iter().enumerate() {
        let jobs = of_job(job_index);
        let kinds = IoKind::ALL.into_iter().filter(|kind| jobs.iter().any(|job| job.has(*kind)));
        for kind in kinds {
            let latency = common_latency(&jobs.iter(), kind, &LATENCIES);
            let of_metric = |metric| figure(&jobs, kind, metric, latency);
            let figures = Metric::ALL.into_iter().filter_map(of_metric);
            found.figures.extend(figures.map(|figure| RepeatedFigure { job_index, job: job.name.clone(), ..figure }));
        }
    }
    found.outliers = outliers::of(&all, &found.figures);
    found
}

fn figure(jobs: &[JobOfResult<'_>], kind: IoKind, metric: Metric, latency: LatencyKind) -> Option<RepeatedFigure> {
    let sample = FigureSample::of(jobs, kind, metric, latency);
    let center = mean_of(&sample.values, metric).filter(|_| !sample.values.is_empty())?;
    let interval = match &sample.values[..] {
        [_] => sample.course.interval(),
        values if is_by_logarithm(values, metric) => {
            let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
            let Confidence { value, low, high } = interval_of(&logs);
            Ok(Confidence { value: value.exp(), low: low.exp(), high: high.exp() })
        }
        values => Ok(interval_of(values)),
    };
    let deviation = (sample.values.len() > 1 && center > 0.0).then(|| 100.0 * deviation(&sample.values) / center);
    Some(RepeatedFigure {
        job_index: 0,
        job: String::new(),
        kind,
        metric,
        mean: center,
        interval: interval.as_ref().ok().map(|interval| [interval.low.max(0.0), interval.high]),
        unknown: interval.err(),
        between_percent: deviation,
        within_percent: within_percent(jobs, kind, metric, latency),
        is_doubtful: sample.is_doubtful,
        kinds: KindsOfRuns::of(&sample.values).filter(|_| sample.values.len() >= FEWEST_OF_KINDS),
        values: sample.values,
    })
}

/// Latencies are multiples of each other: their mean and its interval are those of their logarithms, which are never 0 or less.
pub(crate) fn is_by_logarithm(values: &[f64], metric: Metric) -> bool {
    metric.is_latency() && values.iter().all(|value| *value > 0.0)
}

/// The mean of the figures of several runs: the rule of all tables of repeated runs.
pub fn mean_of(values: &[f64], metric: Metric) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let is_by_logarithm = is_by_logarithm(values, metric);
    let log_mean = || mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp();
    Some(if is_by_logarithm { log_mean() } else { mean(values) })
}

/// The interval of the mean of independent values, at least two, by Student's distribution.
fn interval_of(values: &[f64]) -> Confidence {
    let (n, value) = (values.len() as f64, mean(values));
    let distance = quantile_95(n - 1.0) * deviation(values) / n.sqrt();
    Confidence { value, low: value - distance, high: value + distance }
}

/// Standard deviation of a sample of at least two values.
fn deviation(values: &[f64]) -> f64 {
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt()
}

/// The root of the mean of the variances that the courses of the runs tell; `None`: one of them tells none.
fn within_percent(jobs: &[JobOfResult<'_>], kind: IoKind, metric: Metric, latency: LatencyKind) -> Option<f64> {
    let of_run = |job: &JobOfResult<'_>| {
        let interval = FigureSample::of(&[*job], kind, metric, latency).course.interval().ok()?;
        let error = (interval.high - interval.low) / 2.0 / HALF_WIDTH;
        (interval.value > 0.0).then(|| (error / interval.value).powi(2))
    };
    let variances: Vec<f64> = jobs.iter().map(of_run).collect::<Option<_>>()?;
    (!variances.is_empty()).then(|| 100.0 * mean(&variances).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::{Figures, JobResult, LatencyFigures};
    use ferrio_inference::synthetic::{Noise, autoregressive};
    use ferrio_stats::{Audit, Finding, Severity};
    use ferrio_units::{DataDirection, PerDirection};

    /// A run with a job that reads so many blocks in a second.
    pub(super) fn run(name: &str, iops: f64) -> RunResult {
        let clat = LatencyFigures {
            n_samples: 100_000,
            max_ns: 2_000_000_000,
            mean_ns: 1e9 / iops,
            percentiles: vec![(99.0, (2e9 / iops) as u64)],
            ..LatencyFigures::default()
        };
        let figures = Figures { n_ios: 1_000, ios_per_sec: iops, clat: Some(clat), ..Figures::default() };
        let mut directions = PerDirection::default();
        directions[DataDirection::Read] = Some(figures);
        let job = JobResult { name: "reads".to_owned(), directions, ..JobResult::default() };
        RunResult { name: name.to_owned(), jobs: vec![job], ..RunResult::default() }
    }

    pub(super) fn runs(values: &[f64]) -> Vec<RunResult> {
        values.iter().enumerate().map(|(index, iops)| run(&format!("run {index}"), *iops)).collect()
    }

    fn iops(found: &RepeatedRuns) -> &RepeatedFigure {
        found.figures.iter().find(|figure| figure.metric == Metric::Iops).expect("a rate")
    }

    #[test]
    fn the_interval_by_hand() {
        // Mean 100, deviation 2, error 2 / sqrt(3) times 4.303.
        let found = repeats(&runs(&[98.0, 100.0, 102.0]));
        let figure = iops(&found);
        assert_eq!((found.n_runs, figure.mean, figure.between_percent), (3, 100.0, Some(2.0)));
        let half = figure.half_width_percent().expect("an interval");
        assert!((half - 4.303 * 2.0 / 3.0_f64.sqrt()).abs() < 1e-3, "{half}");
        assert_eq!((figure.within_percent, figure.unknown), (None, None));
    }

    #[test]
    fn one_run_without_a_course_has_no_interval() {
        let found = repeats(&runs(&[98.0]));
        let figure = iops(&found);
        assert_eq!((figure.interval, figure.between_percent), (None, None));
        assert!(figure.unknown.is_some_and(|reason| reason.contains("without figures over time")));
        assert!(repeats(&[]).figures.is_empty());
    }

    #[test]
    fn the_truth_is_covered_in_95_of_100_repeats() {
        for n in [2, 3, 5, 10] {
            let covers = |seed: u64| {
                let noise = autoregressive(n, 0.0, Noise::Normal, seed);
                let values: Vec<f64> = noise.iter().map(|value| 1_000.0 * (1.0 + 0.02 * value)).collect();
                let interval = interval_of(&values);
                interval.low <= 1_000.0 && 1_000.0 <= interval.high
            };
            let share = (0..4_000).filter(|seed| covers(*seed)).count() as f64 / 4_000.0;
            assert!((0.93..=0.97).contains(&share), "{n}: {share}");
        }
    }

    /// Latencies of 1, 2 and 4 ms: the mean of the logarithms is that of 2 ms, the deviation ln 2, and half of the interval 4.303 * ln 2 / sqrt(3) = 1.722.
    #[test]
    fn latencies_are_multiples_of_each_other() {
        // The mean latency is 1 s by the rate.
        let found = repeats(&runs(&[1_000.0, 500.0, 250.0]));
        let figure = found.figures.iter().find(|one| one.metric == Metric::MeanLatency).expect("a latency");
        let [low, high] = figure.interval.expect("an interval");
        assert!((figure.mean / 2e6 - 1.0).abs() < 1e-9, "{figure:?}");
        assert!((low / (2e6 * (-1.722_f64).exp()) - 1.0).abs() < 1e-3, "{low}");
        assert!((high / (2e6 * 1.722_f64.exp()) - 1.0).abs() < 1e-3, "{high}");
        // Few runs that differ much: the lower end of a mean would be below 0.
        assert!(low > 0.0 && iops(&found).interval.is_some_and(|[low, _]| low == 0.0));
        assert_eq!(mean_of(&[1.0, 4.0], Metric::P99), Some(2.0));
        assert_eq!(mean_of(&[1.0, 4.0], Metric::Iops), Some(2.5));
        assert_eq!((mean_of(&[0.0, 4.0], Metric::P99), mean_of(&[], Metric::P99)), (Some(2.0), None));
    }

    /// One run in ten takes three times as long. Where one of the runs does, they are said to be of two kinds, or the interval has the truth; what no run shows, nobody can
    /// tell, in 0.9^30 = 4 % of the sets of 30 runs.
    #[test]
    fn runs_of_two_kinds_are_named_or_covered() {
        for (n_runs, least_of_all) in [(10, 0.0), (30, 0.93)] {
            let truth = 1e6 * 3_f64.powf(0.1);
            let (mut n_told, mut n_shown, n_sets) = (0, 0, 2_000_u64);
            for seed in 0..n_sets {
                let mut random = ferrio_units::random::Taus258::new(seed.wrapping_mul(0xD134_2543_DE82_EF95) + 3);
                let noise = autoregressive(n_runs, 0.0, Noise::Normal, seed);
                let slow: Vec<bool> = (0..n_runs).map(|_| random.fraction() < 0.1).collect();
                let value =
                    |(noise, is_slow): (&f64, &bool)| 1e6 * (0.03 * noise).exp() * if *is_slow { 3.0 } else { 1.0 };
                let values: Vec<f64> = noise.iter().zip(&slow).map(value).collect();
                let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
                let interval = interval_of(&logs);
                let is_told =
                    KindsOfRuns::of(&values).is_some() || (interval.low..=interval.high).contains(&truth.ln());
                let is_shown = slow.contains(&true);
                assert!(is_told || !is_shown, "{seed}: {values:?}");
                n_told += u32::from(is_told);
                n_shown += u32::from(is_shown);
            }
            let share = f64::from(n_told) / n_sets as f64;
            assert!(share >= least_of_all && n_told >= n_shown, "{n_runs}: {share}");
        }
        // Runs of one kind are seldom taken for two.
        let noisy = |seed: &u64| {
            let noise = autoregressive(10, 0.0, Noise::Normal, *seed);
            KindsOfRuns::of(&noise.iter().map(|noise| (0.2 * noise).exp()).collect::<Vec<_>>()).is_some()
        };
        assert!((0..2_000).filter(noisy).count() <= 2);
    }

    #[test]
    fn an_outlier_is_named_with_what_was_different() {
        let mut results = runs(&[100.0, 101.0, 99.0, 100.5, 60.0, 99.5]);
        let stolen = Finding { id: "cpu-steal".to_owned(), severity: Severity::Misleading, ..finding() };
        results[4].audit = Some(Audit { findings: vec![stolen], ..Audit::default() });
        let found = repeats(&results);
        let [outlier] = &found.outliers[..] else { panic!("{:?}", found.outliers) };
        assert_eq!((outlier.run_index, outlier.job.as_str()), (4, "reads"));
        assert!((outlier.percent + 40.0).abs() < 1.0, "{outlier:?}");
        assert_eq!(outlier.findings, ["cpu-steal"]);
        assert!(repeats(&runs(&[100.0, 101.0, 99.0, 100.5, 99.5])).outliers.is_empty());
        // Four runs do not say which of them is the odd one.
        assert!(repeats(&runs(&[100.0, 101.0, 99.0, 60.0])).outliers.is_empty());
    }

    fn finding() -> Finding {
        Finding {
            hosts: Vec::new(),
            id: String::new(),
            title: String::new(),
            severity: Severity::Note,
            jobs: Vec::new(),
            direction: None,
            evidence: Vec::new(),
            explanation: String::new(),
            cure: String::new(),
            page: String::new(),
        }
    }
}
