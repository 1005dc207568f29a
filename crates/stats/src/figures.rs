//! The figures of a job that readers see: one carrier for each direction and for the syncs, whatever shows them.
//!
//! Tables, pages, plots, comparisons and rules take rates, latencies and percentiles from here and compute none themselves.
//! Must not know: formats, words, where the figures come from. Start reading at [`JobFigures`], then [`Figures`].

use crate::distribution::histogram::bucket_latency_ns;
use crate::{
    DirectionStats, ErrorCounts, HelperUsage, LatencyStat, ThreadStats, WorkerRecord, full_percentiles, has_few_beyond,
};
use ferrio_units::{DataDirection, PerDirection};
use serde::Serialize;

const NS_PER_SEC: f64 = 1e9;
const NS_PER_MS: u64 = 1_000_000;
/// Percentiles that figures from a whole distribution have in their list.
const PERCENTILES: [f64; 9] = [1.0, 5.0, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99];
/// Clones whose time together is at most this many times that of the longest one ran side by side: their starts and ends are
/// never the same to the millisecond.
const SIDE_BY_SIDE: f64 = 1.05;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IoKind {
    Read,
    Write,
    Trim,
    /// Syncs of any kind between the writes.
    Sync,
}

impl IoKind {
    /// All of them, in the order of every table.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Sync];

    /// The word for it: `read`, `write`, `trim`, `sync`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Sync => "sync",
        }
    }

    /// The direction of the data; `None`: syncs move none.
    pub const fn direction(self) -> Option<DataDirection> {
        match self {
            Self::Read => Some(DataDirection::Read),
            Self::Write => Some(DataDirection::Write),
            Self::Trim => Some(DataDirection::Trim),
            Self::Sync => None,
        }
    }
}

impl From<DataDirection> for IoKind {
    fn from(direction: DataDirection) -> Self {
        match direction {
            DataDirection::Read => Self::Read,
            DataDirection::Write => Self::Write,
            DataDirection::Trim => Self::Trim,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobFigures {
    /// Figures of each direction; `None`: no I/O.
    pub directions: PerDirection<Option<Figures>>,
    /// Figures of the syncs between the writes; `None`: there were none.
    pub syncs: Option<Figures>,
    /// Errors that were tolerated, in all directions.
    pub errors: ErrorCounts,
    /// CPU time in user mode and in the kernel for each I/O in any direction.
    pub cpu_ns_per_io: f64,
    /// The part of it that the kernel's workers and other threads beside the job's own took.
    pub helper_cpu_ns_per_io: f64,
}

impl JobFigures {
    /// The figures of the clones of one job together, or of all members of a group.
    pub fn of(clones: &[WorkerRecord]) -> Self {
        let mut stats = clones.iter().map(|clone| &*clone.stats);
        let mut total = stats.next().cloned().unwrap_or_default();
        stats.for_each(|clone| total.merge(clone));
        let mut figures = Self::of_stats(&total);
        if clones.len() > 1 {
            figures.spread_over_time(clones);
        }
        figures
    }

    /// The figures of one worker, or of several that ran side by side.
    pub fn of_stats(total: &ThreadStats) -> Self {
        let directions = PerDirection(DataDirection::ALL.map(|direction| Figures::of(&total.directions[direction])));
        let n_ios = directions.0.iter().flatten().fold(0_u64, |sum, figures| sum.saturating_add(figures.n_ios));
        let per_io = |cpu_ns: u64| cpu_ns as f64 / n_ios.max(1) as f64;
        Self {
            syncs: Figures::of_syncs(total),
            directions,
            errors: total.tolerated,
            cpu_ns_per_io: per_io(total.usage.cpu_ns()),
            helper_cpu_ns_per_io: per_io(total.usage.helpers.map_or(0, HelperUsage::cpu_ns)),
        }
    }

    pub fn get(&self, kind: IoKind) -> Option<&Figures> {
        kind.direction().map_or(self.syncs.as_ref(), |direction| self.directions[direction].as_ref())
    }

    pub fn active(&self) -> impl Iterator<Item = (IoKind, &Figures)> {
        IoKind::ALL.into_iter().filter_map(|kind| Some((kind, self.get(kind)?)))
    }

    /// Clones that did not run at the same time take longer together than the longest of them, so that their rates do not
    /// add up.
    fn spread_over_time(&mut self, clones: &[WorkerRecord]) {
        let mut most_ns = 0;
        for direction in DataDirection::ALL {
            let spans = clones.iter().filter_map(|clone| {
                let runtime_ns = clone.stats.directions[direction].runtime_ns;
                let start_ns = clone.stats.job_start_ms.saturating_mul(NS_PER_MS);
                (runtime_ns > 0 && start_ns > 0).then(|| (start_ns, start_ns.saturating_add(runtime_ns)))
            });
            let together_ns = union_ns(spans.collect());
            if let Some(figures) = &mut self.directions[direction] {
                figures.take_at_least(together_ns);
                most_ns = most_ns.max(figures.runtime_ns);
            }
        }
        if let Some(syncs) = &mut self.syncs {
            syncs.take_at_least(most_ns);
        }
    }
}

/// A count in a time of nanoseconds, a second; 0 without time. The one rate that all outputs but those of fio show.
pub fn per_second(count: u64, length_ns: u64) -> f64 {
    if length_ns == 0 { 0.0 } else { count as f64 / (length_ns as f64 / NS_PER_SEC) }
}

/// Time that is covered by any of the spans.
fn union_ns(mut spans: Vec<(u64, u64)>) -> u64 {
    spans.sort_unstable();
    let (mut total_ns, mut covered_to_ns) = (0_u64, 0);
    for (start_ns, end_ns) in spans {
        total_ns = total_ns.saturating_add(end_ns.saturating_sub(start_ns.max(covered_to_ns)));
        covered_to_ns = covered_to_ns.max(end_ns);
    }
    total_ns
}

/// Figures of one kind of I/O of a job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    pub n_ios: u64,
    /// Bytes moved; 0 for syncs.
    pub bytes: u64,
    /// Time of the I/O, nanoseconds: for several clones, the time in which any of them ran.
    pub runtime_ns: u64,
    pub ios_per_sec: f64,
    pub bytes_per_sec: f64,
    pub sampled_ios_per_sec: Option<SampledRate>,
    pub sampled_bytes_per_sec: Option<SampledRate>,
    pub slat: Option<LatencyFigures>,
    pub clat: Option<LatencyFigures>,
    /// Total latency; of syncs, their only one.
    pub lat: Option<LatencyFigures>,
    /// Latency from the time at which a rate wanted the I/O to start (`rate_latency=response`).
    pub response: Option<LatencyFigures>,
}

/// The fewest I/Os that make a rate: of fewer, chance decides more than 10 % of it.
pub const LEAST_IOS_OF_RATE: u64 = 100;
/// The shortest time that makes a rate, nanoseconds: in less, the start of the job and what the device does now and then decide it.
pub const LEAST_NS_OF_RATE: u64 = 100_000_000;

impl Figures {
    /// The rates rest on so little that they are no property of the storage.
    pub fn has_thin_rates(&self) -> bool {
        self.n_ios > 0 && (self.n_ios < LEAST_IOS_OF_RATE || self.runtime_ns < LEAST_NS_OF_RATE)
    }

    /// The figures of a direction; `None`: it had no I/O.
    pub fn of(stats: &DirectionStats) -> Option<Self> {
        let latencies = || Self {
            n_ios: stats.n_completed,
            bytes: stats.bytes,
            runtime_ns: stats.runtime_ns,
            slat: LatencyFigures::of(&stats.slat),
            clat: LatencyFigures::of(&stats.clat),
            lat: LatencyFigures::of(&stats.lat),
            response: LatencyFigures::of(&stats.response),
            ..Self::default()
        };
        (stats.n_completed > 0).then(|| latencies().with_rates())
    }

    /// The figures of the syncs of a worker, over the time of its I/O.
    pub fn of_syncs(stats: &ThreadStats) -> Option<Self> {
        let runtimes = stats.directions.0.iter().map(|direction| direction.runtime_ns);
        let figures = Self {
            n_ios: stats.n_syncs_issued.max(stats.sync.n_samples),
            runtime_ns: runtimes.max().unwrap_or_default(),
            lat: LatencyFigures::of(&stats.sync),
            ..Self::default()
        };
        (figures.n_ios > 0).then(|| figures.with_rates())
    }

    /// Leaves out all percentiles but those, and the distributions from which others could be computed.
    pub fn keep_percentiles(&mut self, percents: &[f64]) {
        let latencies = [&mut self.slat, &mut self.clat, &mut self.lat, &mut self.response];
        for latency in latencies.into_iter().flatten() {
            latency.percentiles.retain(|(percent, _)| percents.iter().any(|kept| (kept - percent).abs() < 1e-9));
            latency.bins.clear();
        }
    }

    /// The latency that a reader wants: of completion, or the total one if that was not measured.
    pub fn latency(&self) -> Option<(LatencyKind, &LatencyFigures)> {
        let completion = self.clat.as_ref().map(|clat| (LatencyKind::Completion, clat));
        completion.or_else(|| self.lat.as_ref().map(|lat| (LatencyKind::Total, lat)))
    }

    pub const fn latency_of(&self, kind: LatencyKind) -> Option<&LatencyFigures> {
        match kind {
            LatencyKind::Submission => self.slat.as_ref(),
            LatencyKind::Completion => self.clat.as_ref(),
            LatencyKind::Total => self.lat.as_ref(),
            LatencyKind::Response => self.response.as_ref(),
        }
    }

    /// The latency that a user feels: that of the response where it was measured, else [`Self::latency`].
    pub fn user_latency(&self) -> Option<(LatencyKind, &LatencyFigures)> {
        let response = self.response.as_ref().map(|response| (LatencyKind::Response, response));
        response.or_else(|| self.latency())
    }

    /// The same figures with their rates over the runtime; 0 without runtime.
    #[must_use]
    pub fn with_rates(mut self) -> Self {
        self.ios_per_sec = per_second(self.n_ios, self.runtime_ns);
        self.bytes_per_sec = per_second(self.bytes, self.runtime_ns);
        self
    }

    /// Takes a longer runtime, if it is longer than the one so far by more than starts that are not quite the same.
    fn take_at_least(&mut self, runtime_ns: u64) {
        if runtime_ns as f64 > self.runtime_ns as f64 * SIDE_BY_SIDE {
            let longer = Self { runtime_ns, ..std::mem::take(self) };
            *self = longer.with_rates();
        }
    }
}

/// Which part of an I/O's time a latency is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LatencyKind {
    /// From the decision to issue the I/O to its submission (fio: slat).
    Submission,
    /// From submission to completion (fio: clat).
    Completion,
    /// All of it (fio: lat).
    Total,
    /// From the time at which the I/O was due by its rate to completion: what a user feels who does not wait for others (`rate_latency=response`).
    Response,
}

impl LatencyKind {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Submission => "submission latency",
            Self::Completion => "completion latency",
            Self::Total => "total latency",
            Self::Response => "response latency",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampledRate {
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    /// Standard deviation of the intervals.
    pub stddev: f64,
    pub n_samples: u64,
}

/// A latency that a share of the I/Os does not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentile {
    /// Share of the I/Os, 0 to 100.
    pub percent: f64,
    /// The latency, nanoseconds; never above the slowest I/O.
    pub latency_ns: u64,
    /// True if fewer than ten I/Os took longer: it is a hint and no figure.
    pub is_doubtful: bool,
}

impl Percentile {
    /// A percentile of samples. The middle of the last bucket may be above the slowest I/O, so that the maximum bounds it.
    pub fn new(percent: f64, latency_ns: u64, n_samples: u64, max_ns: u64) -> Self {
        Self { percent, latency_ns: latency_ns.min(max_ns), is_doubtful: has_few_beyond(percent, n_samples) }
    }
}

/// A latency, nanoseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LatencyFigures {
    /// Number of I/Os; 0: the source does not say.
    pub n_samples: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    pub mean_ns: f64,
    /// Standard deviation.
    pub stddev_ns: f64,
    /// Percentiles that the source has, ascending: percent and nanoseconds.
    pub percentiles: Vec<(f64, u64)>,
    /// The whole distribution, if the source has it: latencies ascending, each with its number of I/Os.
    pub bins: Vec<(u64, u64)>,
}

impl LatencyFigures {
    /// The figures of a statistic; `None`: it has no samples.
    pub fn of(stat: &LatencyStat) -> Option<Self> {
        let histogram = stat.histogram.as_ref();
        let bins = histogram.map(|histogram| histogram.filled().map(|(at, count)| (bucket_latency_ns(at), count)));
        (stat.n_samples > 0).then(|| Self {
            n_samples: stat.n_samples,
            min_ns: stat.min_ns,
            max_ns: stat.max_ns,
            mean_ns: stat.mean_ns(),
            stddev_ns: stat.standard_deviation_ns(),
            percentiles: histogram.map(|all| full_percentiles(all, &PERCENTILES)).unwrap_or_default(),
            bins: bins.map(Iterator::collect).unwrap_or_default(),
        })
    }

    /// A percentile: from the source, or computed from the distribution; `None`: neither has it.
    pub fn percentile(&self, percent: f64) -> Option<Percentile> {
        let told = self.percentiles.iter().find(|(told, _)| (told - percent).abs() < 1e-9);
        let latency_ns = told.map(|(_, latency_ns)| *latency_ns).or_else(|| self.of_bins(percent))?;
        Some(Percentile::new(percent, latency_ns, self.n_known(), self.max_ns))
    }

    /// Number of samples, or of those in the distribution where the source does not say.
    fn n_known(&self) -> u64 {
        let in_bins = || self.bins.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        if self.n_samples > 0 { self.n_samples } else { in_bins() }
    }

    fn of_bins(&self, percent: f64) -> Option<u64> {
        let total: u64 = self.bins.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count));
        let rank = percent / 100.0 * total as f64;
        let mut sum = 0_u64;
        let found = self.bins.iter().find(|(_, count)| {
            sum = sum.saturating_add(*count);
            sum as f64 >= rank
        });
        found.map(|(latency_ns, _)| *latency_ns)
    }
}

impl LatencyStat {
    /// A percentile over the whole range of the distribution; `None`: there is none, or no sample.
    pub fn percentile(&self, percent: f64) -> Option<Percentile> {
        let histogram = self.histogram.as_ref().filter(|_| self.n_samples > 0)?;
        let found = full_percentiles(histogram, &[percent]);
        found.first().map(|(_, latency_ns)| Percentile::new(percent, *latency_ns, self.n_samples, self.max_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// 1,000 writes of 4 KiB in a second, of 1 ms each, and 10 syncs of 20 ms.
    fn clone_at(start_ms: u64) -> WorkerRecord {
        let mut stats = ThreadStats { job_start_ms: start_ms, n_syncs_issued: 10, ..ThreadStats::default() };
        let write = &mut stats.directions[DataDirection::Write];
        (write.n_completed, write.bytes, write.runtime_ns) = (1_000, 4_096_000, SECOND_NS);
        write.clat = LatencyStat::new(true);
        (0..1_000).for_each(|_| write.clat.record(1_000_000));
        stats.sync = LatencyStat::new(true);
        (0..10).for_each(|_| stats.sync.record(20_000_000));
        WorkerRecord { stats: Box::new(stats), ..WorkerRecord::default() }
    }

    #[test]
    fn syncs_have_figures_of_their_own() {
        let figures = JobFigures::of(&[clone_at(5_000)]);
        let syncs = figures.syncs.as_ref().expect("syncs");
        let (kind, latency) = syncs.latency().expect("a latency");
        assert_eq!((syncs.n_ios, syncs.bytes, syncs.ios_per_sec), (10, 0, 10.0));
        assert_eq!((kind, latency.max_ns), (LatencyKind::Total, 20_000_000));
        let p99 = latency.percentile(99.0).expect("a distribution");
        assert_eq!((p99.latency_ns, p99.is_doubtful), (20_000_000, true));
        let kinds: Vec<IoKind> = figures.active().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [IoKind::Write, IoKind::Sync]);
    }

    #[test]
    fn rates_of_clones_add_up_where_they_ran_side_by_side() {
        let rates = |starts: &[u64]| {
            let clones: Vec<WorkerRecord> = starts.iter().map(|start_ms| clone_at(*start_ms)).collect();
            let figures = JobFigures::of(&clones);
            let of = |kind| figures.get(kind).map_or(0, |figures| figures.ios_per_sec.round() as u64);
            [of(IoKind::Write), of(IoKind::Sync)]
        };
        assert_eq!(rates(&[5_000]), [1_000, 10]);
        // A few milliseconds are the time that it takes to start them.
        assert_eq!(rates(&[5_000, 5_003]), [2_000, 20]);
        assert_eq!(rates(&[5_000, 5_500]), [1_333, 13]);
        assert_eq!(rates(&[5_000, 6_000, 9_000]), [1_000, 10]);
        // Statistics that do not know when they began.
        assert_eq!(rates(&[0, 0]), [2_000, 20]);
    }

    #[test]
    fn a_percentile_is_never_above_the_slowest_io() {
        let stat = &clone_at(1).stats.directions[DataDirection::Write].clat;
        assert_eq!(stat.percentile(99.9).map(|found| (found.latency_ns, found.is_doubtful)), Some((1_000_000, true)));
        assert_eq!(stat.percentile(99.0).map(|found| found.is_doubtful), Some(false));
        assert_eq!(LatencyStat::new(true).percentile(50.0), None);
        let told = LatencyFigures { max_ns: 90, percentiles: vec![(99.0, 95)], ..LatencyFigures::default() };
        assert_eq!(told.percentile(99.0).map(|found| found.latency_ns), Some(90));
        assert_eq!(told.percentile(50.0), None);
        let bins = LatencyFigures { max_ns: 90, bins: vec![(10, 50), (80, 50)], ..LatencyFigures::default() };
        assert_eq!(bins.percentile(50.0).map(|found| (found.latency_ns, found.is_doubtful)), Some((10, false)));
    }
}
