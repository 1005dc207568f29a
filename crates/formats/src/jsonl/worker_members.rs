//! Figures of a worker: a member for each direction, for syncs, and for the CPU.
//!
//! Must not know: kinds of records. Start reading at [`of_interval`].

use super::form::{CpuMembers, DirectionMembers, LatencyMembers, SpanLine, SyncMembers};
use super::milliseconds;
use ferrio_stats::histogram::bucket_latency_ns;
use ferrio_stats::{DirectionStats, IntervalStats, LatencyStat, full_percentiles, per_second};
use ferrio_units::{DataDirection, PerDirection};

/// Differences between the figures of an interval and those of the whole job.
#[derive(Clone, Copy)]
struct StretchForm<'a> {
    percentiles: &'a [f64],
    has_extremes: bool,
    /// Time for the computation of rates, nanoseconds; `None`: the runtime of each direction.
    length_ns: Option<u64>,
}

/// The figures of an interval: rates are computed over its length, and differences have no extremes.
pub(super) fn of_interval(stretch: &IntervalStats) -> SpanLine {
    let length_ns = Some(stretch.end_ns.saturating_sub(stretch.start_ns));
    span(stretch, StretchForm { percentiles: &stretch.percentiles, has_extremes: false, length_ns })
}

/// The figures of a whole job: rates are computed over the runtime of each direction, as in fio's outputs.
pub(super) fn of_job(stretch: &IntervalStats) -> SpanLine {
    span(stretch, StretchForm { percentiles: &stretch.percentiles, has_extremes: true, length_ns: None })
}

/// The same with other rates, by direction.
pub(super) fn with_rates(mut line: SpanLine, iops: &PerDirection<f64>, bw_bytes: &PerDirection<f64>) -> SpanLine {
    for (direction, members) in [
        (DataDirection::Read, &mut line.read),
        (DataDirection::Write, &mut line.write),
        (DataDirection::Trim, &mut line.trim),
    ] {
        if let Some(members) = members {
            (members.iops, members.bw_bytes) = (iops[direction], bw_bytes[direction]);
        }
    }
    line
}

fn span(stretch: &IntervalStats, form: StretchForm<'_>) -> SpanLine {
    let stats = &stretch.stats;
    let members = |direction: DataDirection| {
        let figures = &stats.directions[direction];
        let is_used = stretch.directions[direction] || figures.n_issued > 0 || figures.bytes > 0;
        is_used.then(|| self::direction(figures, form))
    };
    let has_syncs = stats.n_syncs_issued > 0 || stats.sync.n_samples > 0;
    SpanLine {
        job: stretch.job_name.clone(),
        job_number: stretch.job_number.into(),
        group: stretch.group_index,
        host: stretch.host.as_ref().map(|host| host.name.clone()),
        rank: stretch.host.as_ref().map(|host| host.rank),
        start_ms: milliseconds(stretch.start_ns),
        end_ms: milliseconds(stretch.end_ns),
        start_epoch_ms: stretch.run_epoch_ms.saturating_add(stretch.start_ns / 1_000_000),
        end_epoch_ms: stretch.run_epoch_ms.saturating_add(stretch.end_ns / 1_000_000),
        read: members(DataDirection::Read),
        write: members(DataDirection::Write),
        trim: members(DataDirection::Trim),
        sync: has_syncs.then(|| SyncMembers { issued: stats.n_syncs_issued, lat_ns: latency(&stats.sync, form) }),
        cpu: CpuMembers {
            user_ms: milliseconds(stats.usage.user_ns),
            system_ms: milliseconds(stats.usage.system_ns),
            context_switches: stats.usage.context_switches,
            major_faults: stats.usage.major_faults,
            minor_faults: stats.usage.minor_faults,
        },
        tolerated_errors: stats.tolerated.n_total,
    }
}

fn direction(figures: &DirectionStats, form: StretchForm<'_>) -> DirectionMembers {
    let length_ns = form.length_ns.unwrap_or(figures.runtime_ns);
    DirectionMembers {
        ios: figures.n_completed,
        issued: figures.n_issued,
        bytes: figures.bytes,
        short: figures.n_short,
        dropped: figures.n_dropped,
        runtime_ms: milliseconds(figures.runtime_ns),
        iops: per_second(figures.n_completed, length_ns),
        bw_bytes: per_second(figures.bytes, length_ns),
        slat_ns: latency(&figures.slat, form),
        clat_ns: latency(&figures.clat, form),
        lat_ns: latency(&figures.lat, form),
        response_ns: latency(&figures.response, form),
    }
}

fn latency(stat: &LatencyStat, form: StretchForm<'_>) -> LatencyMembers {
    let has_samples = stat.n_samples > 0;
    let histogram = stat.histogram.as_ref().filter(|_| has_samples);
    LatencyMembers {
        n: stat.n_samples,
        sum: has_samples.then(|| u64::try_from(stat.sum_ns).unwrap_or(u64::MAX)),
        min: (has_samples && form.has_extremes).then_some(stat.min_ns),
        max: (has_samples && form.has_extremes).then_some(stat.max_ns),
        mean: has_samples.then(|| stat.mean_ns()),
        stddev: has_samples.then(|| stat.standard_deviation_ns()),
        percentiles: histogram.map(|histogram| {
            let values = full_percentiles(histogram, form.percentiles).into_iter();
            values.map(|(percentile, latency_ns)| (percentile.to_string(), latency_ns.into())).collect()
        }),
        histogram: histogram
            .map(|histogram| histogram.filled().map(|(index, count)| (bucket_latency_ns(index), count)).collect()),
    }
}
