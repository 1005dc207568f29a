//! A figure of some jobs, with its spread where it is known.
//!
//! Must not know: panels. Start reading at [`spread`].

use crate::chart::AxisUnit;
use crate::panel::FigureSpread;
use ferrio_formats::{
    Figures, IoKind, JobResult, LatencyFigures, LatencyKind, Quantity, RunResult, SampledRate, TimeBin, TimeSeries,
    together,
};
use ferrio_stats::Metric;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BarFigure {
    Of(Metric),
    Count,
}

impl BarFigure {
    pub(super) const BANDWIDTH: Self = Self::Of(Metric::Bandwidth);
    pub(super) const IOPS: Self = Self::Of(Metric::Iops);
    pub(super) const LATENCY: Self = Self::Of(Metric::MeanLatency);

    /// All of them, in the order of their panels.
    pub(super) const ALL: [Self; 8] = [
        Self::BANDWIDTH,
        Self::IOPS,
        Self::LATENCY,
        Self::Count,
        Self::Of(Metric::P50),
        Self::Of(Metric::P99),
        Self::Of(Metric::P999),
        Self::Of(Metric::Max),
    ];

    /// True for figures that every picture has. The others are shown where jobs have syncs: only beside the latencies of the syncs do
    /// those of the data say what a program waits for.
    pub(super) const fn is_usual(self) -> bool {
        matches!(self, Self::BANDWIDTH | Self::IOPS | Self::LATENCY)
    }

    pub(super) fn label(self) -> String {
        match self {
            Self::IOPS => "I/Os per second".to_owned(),
            Self::LATENCY => "latency".to_owned(),
            Self::Count => "number of I/Os".to_owned(),
            Self::Of(Metric::Max) => "highest latency".to_owned(),
            Self::Of(metric) if metric.is_latency() => format!("{} of the latency", metric.name()),
            Self::Of(metric) => metric.title().to_lowercase(),
        }
    }

    /// What the words behind its bars are.
    pub(super) const fn head(self) -> &'static str {
        match self {
            Self::Count => "number",
            Self::Of(_) if self.is_usual() => "average",
            Self::Of(metric) => metric.name(),
        }
    }

    pub(super) const fn unit(self) -> AxisUnit {
        match self {
            Self::Count => AxisUnit::Count,
            Self::Of(metric) => AxisUnit::of(metric.unit()),
        }
    }

    /// The figure in those of a kind of I/O; `None`: it is one with a spread.
    fn of(self, figures: &Figures) -> Option<f64> {
        match self {
            Self::Count => Some(figures.n_ios as f64),
            Self::Of(_) if self.is_usual() => None,
            Self::Of(metric) => metric.of(figures, figures.latency().map(|(_, latency)| latency)),
        }
    }
}

pub(super) struct BarJobs<'a> {
    pub(super) result: &'a RunResult,
    pub(super) jobs: Vec<&'a JobResult>,
}

/// The figure of some jobs together; `None`: none of them has it, or it is unknown which of them ran at the same time. At each moment the
/// rates of the jobs that ran then are added; the spread of such a sum is unknown.
pub(super) fn spread(bar: &BarJobs<'_>, kind: IoKind, figure: BarFigure) -> Option<FigureSpread> {
    if !figure.is_usual() {
        let all = bar.result.figures_together(&bar.jobs, kind).ok()??;
        return figure.of(&all).map(FigureSpread::of);
    }
    if figure == BarFigure::LATENCY {
        return latency(&bar.jobs, kind).map(|(_, spread)| spread);
    }
    let known: Vec<FigureSpread> = bar.jobs.iter().filter_map(|job| rate(job, kind, figure)).collect();
    if let [] | [_] = known[..] {
        return known.first().copied();
    }
    let all = bar.result.figures_together(&bar.jobs, kind).ok()??;
    Some(FigureSpread::of(if figure == BarFigure::IOPS { all.ios_per_sec } else { all.bytes_per_sec }))
}

fn rate(job: &JobResult, kind: IoKind, figure: BarFigure) -> Option<FigureSpread> {
    // Syncs move no data.
    if kind == IoKind::Sync && figure == BarFigure::BANDWIDTH {
        return None;
    }
    if let Some(figures) = job.get(kind) {
        let (mean, sampled) = match figure {
            BarFigure::IOPS => (figures.ios_per_sec, figures.sampled_ios_per_sec),
            _ => (figures.bytes_per_sec, figures.sampled_bytes_per_sec),
        };
        return Some(
            sampled.map_or_else(|| FigureSpread::of(mean), |sampled| of_samples(mean, sampled, figures.n_ios)),
        );
    }
    let quantity = if figure == BarFigure::IOPS { Quantity::Iops } else { Quantity::Bandwidth };
    of_series(job, kind, quantity)
}

/// fio's samples of a group are those of single jobs: a range without the average says nothing about it.
/// Where a log had a row for each I/O, the samples are those of single I/Os, which are no rates: beside them all bars would vanish.
fn of_samples(mean: f64, sampled: SampledRate, n_ios: u64) -> FigureSpread {
    let are_ios = n_ios > 0 && sampled.n_samples.saturating_mul(2) >= n_ios;
    if are_ios || sampled.n_samples < 2 || mean < sampled.min || mean > sampled.max {
        return FigureSpread::of(mean);
    }
    FigureSpread {
        mean,
        deviation: Some(((sampled.mean - sampled.stddev).max(0.0), sampled.mean + sampled.stddev)),
        range: Some((sampled.min, sampled.max)),
    }
}

fn of_series(job: &JobResult, kind: IoKind, quantity: Quantity) -> Option<FigureSpread> {
    let direction = kind.direction()?;
    let is_it = |series: &&TimeSeries| series.quantity == quantity && series.direction == direction;
    let series: Vec<&TimeSeries> = job.series.iter().filter(is_it).collect();
    // Rates of clones add up where they ran together; otherwise they are not those of the job.
    let one = together(&series, usize::MAX).ok()?;
    let bins: Vec<&TimeBin> = one.filled().map(|(_, bin)| bin).collect();
    let all = one.intervals.whole()?;
    let mean = all.mean()?;
    // TimeIntervals of several values have no deviation of their own.
    let has_values = bins.len() > 1 && bins.iter().all(|bin| bin.n == 1);
    let squares: f64 = bins.iter().filter_map(|bin| bin.mean()).map(|value| (value - mean).powi(2)).sum();
    let stddev = (squares / (bins.len() as f64 - 1.0).max(1.0)).sqrt();
    Some(FigureSpread {
        mean,
        deviation: has_values.then(|| ((mean - stddev).max(0.0), mean + stddev)),
        range: (all.n > 1).then_some((all.min, all.max)),
    })
}

/// A latency of some jobs together, with its kind.
pub(super) fn latency(jobs: &[&JobResult], kind: IoKind) -> Option<(LatencyKind, FigureSpread)> {
    let figures: Vec<&Figures> = jobs.iter().filter_map(|job| job.get(kind)).collect();
    let known: Vec<(LatencyKind, &LatencyFigures)> = figures.iter().filter_map(|figures| figures.latency()).collect();
    let Some((latency_kind, _)) = known.first() else {
        let latency_kinds = [LatencyKind::Completion, LatencyKind::Total, LatencyKind::Submission];
        let of_kind = |latency_kind| {
            let spreads: Vec<FigureSpread> =
                jobs.iter().filter_map(|job| of_series(job, kind, Quantity::Latency(latency_kind))).collect();
            let spread = if let [one] = spreads[..] { one } else { FigureSpread::of(mean_of(&spreads)?) };
            Some((latency_kind, spread))
        };
        return latency_kinds.into_iter().find_map(of_kind);
    };
    Some((*latency_kind, joined(&known)))
}

fn mean_of(spreads: &[FigureSpread]) -> Option<f64> {
    (!spreads.is_empty()).then(|| spreads.iter().map(|spread| spread.mean).sum::<f64>() / spreads.len() as f64)
}

/// Mean, deviation and extremes of all I/Os together.
fn joined(known: &[(LatencyKind, &LatencyFigures)]) -> FigureSpread {
    let weight = |figures: &LatencyFigures| figures.n_samples.max(1) as f64;
    let n: f64 = known.iter().map(|(_, figures)| weight(figures)).sum();
    let mean = known.iter().map(|(_, figures)| weight(figures) * figures.mean_ns).sum::<f64>() / n;
    let square = |figures: &LatencyFigures| figures.stddev_ns.powi(2) + figures.mean_ns.powi(2);
    let squares = known.iter().map(|(_, figures)| weight(figures) * square(figures)).sum::<f64>() / n;
    let stddev = (squares - mean * mean).max(0.0).sqrt();
    let low = known.iter().map(|(_, figures)| figures.min_ns).min().unwrap_or_default() as f64;
    let high = known.iter().map(|(_, figures)| figures.max_ns).max().unwrap_or_default() as f64;
    // No latency is below the lowest.
    FigureSpread { mean, deviation: Some(((mean - stddev).max(low), mean + stddev)), range: Some((low, high)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::DataDirection;

    fn of(jobs: &[JobResult], direction: DataDirection, figure: BarFigure) -> Option<FigureSpread> {
        let result = RunResult { jobs: jobs.to_vec(), ..RunResult::default() };
        let bar = BarJobs { result: &result, jobs: result.jobs.iter().collect() };
        spread(&bar, direction.into(), figure)
    }

    fn job(mean_ns: f64, stddev_ns: f64, n_samples: u64) -> JobResult {
        let clat =
            LatencyFigures { n_samples, min_ns: 5, max_ns: 100, mean_ns, stddev_ns, ..LatencyFigures::default() };
        let sampled = SampledRate { min: 50.0, max: 150.0, mean: 99.0, stddev: 10.0, n_samples: 4 };
        let read = Figures {
            ios_per_sec: 100.0,
            runtime_ns: 1_000_000_000,
            sampled_ios_per_sec: Some(sampled),
            clat: Some(clat),
            ..Figures::default()
        };
        let mut job = JobResult::default();
        job.directions[DataDirection::Read] = Some(read);
        job
    }

    #[test]
    fn a_rate_has_the_spread_of_its_samples_and_a_sum_has_none() {
        let one = job(10.0, 1.0, 1);
        let alone = of(std::slice::from_ref(&one), DataDirection::Read, BarFigure::IOPS).expect("a rate");
        assert_eq!(alone, FigureSpread { mean: 100.0, deviation: Some((89.0, 109.0)), range: Some((50.0, 150.0)) });
        assert_eq!(
            of(&[one.clone(), one.clone()], DataDirection::Read, BarFigure::IOPS),
            Some(FigureSpread::of(200.0))
        );
        assert_eq!(of(std::slice::from_ref(&one), DataDirection::Write, BarFigure::IOPS), None);
    }

    #[test]
    fn samples_of_single_ios_are_no_rates() {
        let sampled = SampledRate { min: 1.0, max: 9e9, mean: 5e6, stddev: 1e6, n_samples: 1000 };
        assert_eq!(of_samples(5e6, sampled, 1000), FigureSpread::of(5e6));
        assert_eq!(of_samples(5e6, sampled, 1_000_000).range, Some((1.0, 9e9)));
    }

    #[test]
    fn a_latency_of_two_jobs_is_that_of_all_their_ios() {
        // Ten I/Os of 20 ns and thirty of 60 ns: mean 50, deviation sqrt(300).
        let jobs = [job(20.0, 0.0, 10), job(60.0, 0.0, 30)];
        let found = of(&jobs, DataDirection::Read, BarFigure::LATENCY).expect("a latency");
        let (low, high) = found.deviation.expect("a deviation");
        assert!(
            (found.mean - 50.0).abs() < 1e-9 && (high - 50.0 - 300_f64.sqrt()).abs() < 1e-9 && low > 32.0,
            "{found:?}"
        );
        assert_eq!(found.range, Some((5.0, 100.0)));
    }

    #[test]
    fn a_log_gives_average_deviation_and_extremes() {
        let mut series = TimeSeries::new(Quantity::Bandwidth, DataDirection::Write, 1);
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
            .iter()
            .enumerate()
            .for_each(|(at, value)| series.add(at as u64, *value, 100));
        let job = JobResult { series: vec![series], ..JobResult::default() };
        let found = of(&[job], DataDirection::Write, BarFigure::BANDWIDTH).expect("a rate");
        assert_eq!((found.mean, found.range), (5.0, Some((2.0, 9.0))));
        // The squares of the differences add up to 32: of a sample of eight, sqrt(32 / 7).
        let (low, high) = found.deviation.expect("a deviation");
        assert!((high - low - 2.0 * (32.0_f64 / 7.0).sqrt()).abs() < 1e-9);
    }
}
