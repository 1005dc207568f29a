//! Figures as a program reads them.
//!
//! Must not know: how they are measured or shown. Start reading at [`IoFigures`].

use ferrio_stats::{Figures, LatencyFigures, LatencyKind};
use std::time::Duration;

/// Figures of one kind of I/O of a job: its reads, writes, trims or syncs.
///
/// ```
/// # use ferrio::{Io, Job, Runner};
/// # fn main() -> Result<(), ferrio::Error> {
/// # let mut runner = Runner::new();
/// # runner.add(&Job::new("a").option("ioengine", "null").option("size", "1m"))?;
/// # let measured = runner.run()?;
/// let reads = measured.job("a").and_then(|job| job.figures(Io::Read)).expect("it reads 1 MiB in blocks of 4 KiB");
/// assert_eq!((reads.n_ios(), reads.bytes()), (256, 1 << 20));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct IoFigures<'a>(&'a Figures);

/// A latency of many I/Os: extremes, mean, percentiles.
///
/// ```
/// # use ferrio::{Io, Job, Runner};
/// # fn main() -> Result<(), ferrio::Error> {
/// # let mut runner = Runner::new();
/// # runner.add(&Job::new("a").option("ioengine", "null").option("size", "1m"))?;
/// # let measured = runner.run()?;
/// # let reads = measured.job("a").and_then(|job| job.figures(Io::Read)).expect("it reads");
/// let latency = reads.latency().expect("latencies are measured unless an option says otherwise");
/// let median = latency.percentile(50.0).expect("the distribution is kept");
/// assert!(latency.min() <= median.latency && median.latency <= latency.max());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct IoLatency<'a> {
    kind: LatencyKind,
    figures: &'a LatencyFigures,
}

/// A latency that a share of the I/Os does not exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LatencyPercentile {
    /// Share of the I/Os, 0 to 100.
    pub percent: f64,
    /// The latency; never above that of the slowest I/O.
    pub latency: Duration,
    /// True if fewer than ten I/Os took longer: it is a hint and no figure.
    pub is_doubtful: bool,
}

impl<'a> IoFigures<'a> {
    pub(crate) fn new(figures: &'a Figures) -> Self {
        Self(figures)
    }

    /// I/Os that completed.
    pub fn n_ios(self) -> u64 {
        self.0.n_ios
    }

    /// Bytes moved; 0 for syncs.
    pub fn bytes(self) -> u64 {
        self.0.bytes
    }

    /// Time of the I/O; for several clones, the time in which any of them ran.
    pub fn runtime(self) -> Duration {
        Duration::from_nanos(self.0.runtime_ns)
    }

    /// I/Os per second.
    pub fn ios_per_sec(self) -> f64 {
        self.0.ios_per_sec
    }

    /// Bytes per second.
    pub fn bytes_per_sec(self) -> f64 {
        self.0.bytes_per_sec
    }

    /// The completion latency (fio: clat), from submission to completion; where it was not measured, the total latency (fio: lat), as of syncs.
    /// [`IoLatency::words`] says which one it is.
    pub fn latency(self) -> Option<IoLatency<'a>> {
        self.0.latency().map(|(kind, figures)| IoLatency { kind, figures })
    }

    /// Latency of the submission (fio: slat).
    pub fn submission_latency(self) -> Option<IoLatency<'a>> {
        IoLatency::of(LatencyKind::Submission, self.0.slat.as_ref())
    }

    /// Latency from the decision to issue the I/O to its completion (fio: lat).
    pub fn total_latency(self) -> Option<IoLatency<'a>> {
        IoLatency::of(LatencyKind::Total, self.0.lat.as_ref())
    }

    /// Latency from the time at which a rate wanted the I/O to start (`rate_latency=response`).
    pub fn response_latency(self) -> Option<IoLatency<'a>> {
        IoLatency::of(LatencyKind::Total, self.0.response.as_ref())
    }
}

impl<'a> IoLatency<'a> {
    fn of(kind: LatencyKind, figures: Option<&'a LatencyFigures>) -> Option<Self> {
        figures.map(|figures| Self { kind, figures })
    }

    /// The words for the part of an I/O's time that it is, such as `completion latency`.
    pub fn words(self) -> &'static str {
        self.kind.words()
    }

    /// Number of I/Os; 0: the report that was read does not say.
    pub fn n_samples(self) -> u64 {
        self.figures.n_samples
    }

    /// The shortest.
    pub fn min(self) -> Duration {
        Duration::from_nanos(self.figures.min_ns)
    }

    /// The longest.
    pub fn max(self) -> Duration {
        Duration::from_nanos(self.figures.max_ns)
    }

    /// The mean, nanoseconds.
    pub fn mean_ns(self) -> f64 {
        self.figures.mean_ns
    }

    /// The standard deviation, nanoseconds.
    pub fn stddev_ns(self) -> f64 {
        self.figures.stddev_ns
    }

    /// A percentile, 0 to 100, within 0.8 %: latencies are counted in buckets, 64 of them from each power of two nanoseconds to the next one.
    /// `None`: the distribution was not kept, or the report that was read does not have this one.
    pub fn percentile(self, percent: f64) -> Option<LatencyPercentile> {
        self.figures.percentile(percent).map(|found| LatencyPercentile {
            percent: found.percent,
            latency: Duration::from_nanos(found.latency_ns),
            is_doubtful: found.is_doubtful,
        })
    }

    /// The whole distribution, ascending: latencies with their numbers of I/Os; empty: it was not kept.
    pub fn distribution(self) -> impl Iterator<Item = (Duration, u64)> + 'a {
        self.figures.bins.iter().map(|(latency_ns, count)| (Duration::from_nanos(*latency_ns), *count))
    }
}
