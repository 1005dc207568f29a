//! Figures of a worker: a member for each direction, for syncs, and for the CPU.
//!
//! Must not know: kinds of records. Start reading at [`StretchFigures`].

use super::milliseconds;
use ferrio_stats::histogram::bucket_latency_ns;
use ferrio_stats::{DirectionStats, LatencyStat, Stretch, full_percentiles, per_second};
use ferrio_units::{DataDirection, PerDirection};
use serde::Serialize;
use serde_json::{Map, Value};

/// Figures of a worker, without directions that the job does not use, and without syncs if there were none.
#[derive(Serialize)]
pub(super) struct StretchFigures {
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<DirectionFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<DirectionFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<DirectionFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sync: Option<SyncFigures>,
    cpu: Cpu,
    tolerated_errors: u64,
}

#[derive(Serialize)]
struct DirectionFigures {
    ios: u64,
    issued: u64,
    bytes: u64,
    short: u64,
    dropped: u64,
    runtime_ms: f64,
    iops: f64,
    bw_bytes: f64,
    slat_ns: Latency,
    clat_ns: Latency,
    lat_ns: Latency,
    /// Present only if it is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    response_ns: Option<Latency>,
}

#[derive(Serialize)]
struct SyncFigures {
    issued: u64,
    lat_ns: Latency,
}

#[derive(Serialize)]
struct Cpu {
    user_ms: f64,
    system_ms: f64,
    context_switches: u64,
    major_faults: u64,
    minor_faults: u64,
}

/// A latency in nanoseconds. Without samples it has only their number.
#[derive(Serialize)]
struct Latency {
    n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stddev: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentiles: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Vec<(u64, u64)>>,
}

/// Differences between the figures of an interval and those of the whole job.
#[derive(Clone, Copy)]
struct StretchForm<'a> {
    percentiles: &'a [f64],
    has_extremes: bool,
    /// Time for the computation of rates, nanoseconds; `None`: the runtime of each direction.
    length_ns: Option<u64>,
}

impl StretchFigures {
    /// For an interval: rates are computed over its length, and differences have no extremes.
    pub(super) fn of_interval(stretch: &Stretch) -> Self {
        let length_ns = Some(stretch.end_ns.saturating_sub(stretch.start_ns));
        Self::new(stretch, StretchForm { percentiles: &stretch.percentiles, has_extremes: false, length_ns })
    }

    /// For a whole job: rates are computed over the runtime of each direction, as in fio's outputs.
    pub(super) fn of_job(stretch: &Stretch) -> Self {
        Self::new(stretch, StretchForm { percentiles: &stretch.percentiles, has_extremes: true, length_ns: None })
    }

    /// The same with other rates, by direction.
    pub(super) fn with_rates(mut self, iops: &PerDirection<f64>, bw_bytes: &PerDirection<f64>) -> Self {
        for (direction, figures) in [
            (DataDirection::Read, &mut self.read),
            (DataDirection::Write, &mut self.write),
            (DataDirection::Trim, &mut self.trim),
        ] {
            if let Some(figures) = figures {
                (figures.iops, figures.bw_bytes) = (iops[direction], bw_bytes[direction]);
            }
        }
        self
    }

    fn new(stretch: &Stretch, kind: StretchForm<'_>) -> Self {
        let stats = &stretch.stats;
        let direction = |direction: DataDirection| {
            let figures = &stats.directions[direction];
            let is_used = stretch.directions[direction] || figures.n_issued > 0 || figures.bytes > 0;
            is_used.then(|| DirectionFigures::new(figures, kind))
        };
        let has_syncs = stats.n_syncs_issued > 0 || stats.sync.n_samples > 0;
        Self {
            read: direction(DataDirection::Read),
            write: direction(DataDirection::Write),
            trim: direction(DataDirection::Trim),
            sync: has_syncs
                .then(|| SyncFigures { issued: stats.n_syncs_issued, lat_ns: Latency::new(&stats.sync, kind) }),
            cpu: Cpu {
                user_ms: milliseconds(stats.usage.user_ns),
                system_ms: milliseconds(stats.usage.system_ns),
                context_switches: stats.usage.context_switches,
                major_faults: stats.usage.major_faults,
                minor_faults: stats.usage.minor_faults,
            },
            tolerated_errors: stats.tolerated.n_total,
        }
    }
}

impl DirectionFigures {
    fn new(figures: &DirectionStats, kind: StretchForm<'_>) -> Self {
        let length_ns = kind.length_ns.unwrap_or(figures.runtime_ns);
        Self {
            ios: figures.n_completed,
            issued: figures.n_issued,
            bytes: figures.bytes,
            short: figures.n_short,
            dropped: figures.n_dropped,
            runtime_ms: milliseconds(figures.runtime_ns),
            iops: per_second(figures.n_completed, length_ns),
            bw_bytes: per_second(figures.bytes, length_ns),
            slat_ns: Latency::new(&figures.slat, kind),
            clat_ns: Latency::new(&figures.clat, kind),
            lat_ns: Latency::new(&figures.lat, kind),
            response_ns: (figures.response.n_samples > 0).then(|| Latency::new(&figures.response, kind)),
        }
    }
}

impl Latency {
    fn new(stat: &LatencyStat, kind: StretchForm<'_>) -> Self {
        let has_samples = stat.n_samples > 0;
        let histogram = stat.histogram.as_ref().filter(|_| has_samples);
        Self {
            n: stat.n_samples,
            sum: has_samples.then(|| u64::try_from(stat.sum_ns).unwrap_or(u64::MAX)),
            min: (has_samples && kind.has_extremes).then_some(stat.min_ns),
            max: (has_samples && kind.has_extremes).then_some(stat.max_ns),
            mean: has_samples.then(|| stat.mean_ns()),
            stddev: has_samples.then(|| stat.standard_deviation_ns()),
            percentiles: histogram.map(|histogram| {
                let values = full_percentiles(histogram, kind.percentiles).into_iter();
                values.map(|(percentile, latency_ns)| (percentile.to_string(), latency_ns.into())).collect()
            }),
            histogram: histogram
                .map(|histogram| histogram.filled().map(|(index, count)| (bucket_latency_ns(index), count)).collect()),
        }
    }
}
