//! Figures of a row of a report as the counts of a worker.
//!
//! Must not know: options. Start reading at [`stats`].

use ferrio_formats::JobResult;
use ferrio_stats::{
    DirectionStats, ErrorCounts, Figures, Histogram, LatencyFigures, LatencyStat, ResourceUsage, ThreadStats,
};
use ferrio_units::{DataDirection, PerDirection};

/// The counts that a row tells; others are as of a worker without them.
pub(super) fn stats(row: &JobResult) -> ThreadStats {
    let runtime_ns = row.runtime_ns();
    let share = |percent: f64| (percent / 100.0 * runtime_ns as f64) as u64;
    let of = |direction| row.directions[direction].as_ref().map(of_direction).unwrap_or_default();
    let syncs = row.syncs.as_ref();
    let cpu = row.cpu.unwrap_or_default();
    ThreadStats {
        directions: PerDirection(DataDirection::ALL.map(of)),
        sync: syncs.and_then(|syncs| Some(latency(syncs.lat.as_ref()?, syncs.n_ios))).unwrap_or_default(),
        n_syncs_issued: syncs.map_or(0, |syncs| syncs.n_ios),
        usage: ResourceUsage {
            user_ns: share(cpu.user_percent),
            system_ns: share(cpu.system_percent),
            context_switches: cpu.n_switches,
            major_faults: cpu.n_major_faults,
            minor_faults: cpu.n_minor_faults,
            ..ResourceUsage::default()
        },
        total_runtime_ns: runtime_ns,
        errno: row.error,
        tolerated: ErrorCounts { n_total: row.n_errors, first_errno: row.error, ..ErrorCounts::default() },
        ..ThreadStats::default()
    }
}

fn of_direction(figures: &Figures) -> DirectionStats {
    let latency = |of: &Option<LatencyFigures>| of.as_ref().map(|of| latency(of, figures.n_ios)).unwrap_or_default();
    DirectionStats {
        n_issued: figures.n_ios,
        n_completed: figures.n_ios,
        bytes: figures.bytes,
        runtime_ns: figures.runtime_ns,
        slat: latency(&figures.slat),
        clat: latency(&figures.clat),
        lat: latency(&figures.lat),
        ..DirectionStats::default()
    }
}

/// A statistic with the number, extremes, mean and deviation that the report tells. fio before 3.0 does not tell the number of samples:
/// then each I/O has one.
fn latency(figures: &LatencyFigures, n_ios: u64) -> LatencyStat {
    let n_samples = if figures.n_samples > 0 { figures.n_samples } else { n_ios };
    let (n, mean) = (n_samples as f64, figures.mean_ns);
    let squares = figures.stddev_ns * figures.stddev_ns * (n - 1.0).max(0.0) + n * mean * mean;
    LatencyStat {
        n_samples,
        min_ns: figures.min_ns,
        max_ns: figures.max_ns,
        sum_ns: (n * mean) as u128,
        sum_squares: squares as u128,
        histogram: distribution(figures, n_samples),
    }
}

/// The distribution: that of the report (`json+`), or one that has its percentiles. There, I/Os between two percentiles are counted at
/// the upper one, and those above the last at the maximum.
fn distribution(figures: &LatencyFigures, n_samples: u64) -> Option<Histogram> {
    let mut histogram = Histogram::default();
    if !figures.bins.is_empty() {
        figures.bins.iter().for_each(|(latency_ns, count)| histogram.record_many(*latency_ns, *count));
        return Some(histogram);
    }
    if figures.percentiles.is_empty() {
        return None;
    }
    let mut n_counted = 0_u64;
    for (percent, latency_ns) in &figures.percentiles {
        let n_until = ((percent / 100.0 * n_samples as f64).ceil() as u64).min(n_samples);
        histogram.record_many(*latency_ns, n_until.saturating_sub(n_counted));
        n_counted = n_counted.max(n_until);
    }
    histogram.record_many(figures.max_ns, n_samples - n_counted);
    Some(histogram)
}
