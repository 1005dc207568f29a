//! The figures of one worker: of its intervals, and of all of it.
//!
//! Must not know: files. Start reading at [`WorkerLines`].

use crate::jsonl::form::{DirectionMembers, JobLine, LatencyMembers, SpanLine, SyncMembers};
use crate::results::error::ReadErrorKind;
use crate::results::figure::{figure, impossible};
use crate::results::{
    CpuFigures, JobResult, JoinFigures, LatencyCounts, LatencyHeat, LatencyKind, Quantity, SeriesLimits, TimeBase,
    TimeBin, TimeSeries,
};
use ferrio_stats::histogram::{N_FULL_BUCKETS, bucket_latency_ns, full_bucket_index};
use ferrio_stats::{Figures, LatencyFigures};
use ferrio_units::{DataDirection, PerDirection};
use std::collections::BTreeMap;

const NS_PER_MS: f64 = 1e6;

pub(super) struct WorkerLines {
    name: String,
    /// Its host, of a run on several.
    pub(super) host: Option<String>,
    group_index: u32,
    interval_ms: f64,
    limits: SeriesLimits,
    sums: PerDirection<Sums>,
    /// The figures of the whole job, once they were read.
    total: Option<Box<JobLine>>,
    /// Start of the first and end of the last interval.
    reach_ns: Option<(u64, u64)>,
    series: Vec<TimeSeries>,
}

/// Sums of the figures of intervals.
#[derive(Default)]
struct Sums {
    n_ios: u64,
    bytes: u64,
    runtime_ms: f64,
    n_latencies: u64,
    latency_sum_ns: u64,
    bins: BTreeMap<u64, u64>,
}

impl WorkerLines {
    /// A worker without figures, whose intervals have about this length.
    pub(super) fn new(line: &SpanLine, interval_ms: f64, limits: SeriesLimits) -> Self {
        Self {
            name: line.job.clone(),
            host: line.host.clone(),
            group_index: line.group,
            interval_ms,
            limits,
            sums: PerDirection::default(),
            total: None,
            reach_ns: None,
            series: Vec::new(),
        }
    }

    pub(super) fn add_interval(&mut self, line: &SpanLine) -> Result<(), ReadErrorKind> {
        let start_ns = (time(line.start_ms)? * NS_PER_MS) as u64;
        let end_ns = ((time(line.end_ms)? * NS_PER_MS) as u64).max(start_ns + 1);
        let limits = self.limits;
        let reach_ns = self.reach_ns.get_or_insert((start_ns, end_ns));
        *reach_ns = (reach_ns.0.min(start_ns), reach_ns.1.max(end_ns));
        for (direction, members) in directions(line) {
            let Some(members) = members else { continue };
            checked_distribution(&members.clat_ns)?;
            self.sums[direction].add(members)?;
            for (quantity, rate) in [(Quantity::Iops, members.iops), (Quantity::Bandwidth, members.bw_bytes)] {
                let rate = figure("a rate", rate)?;
                self.series_of(quantity, direction).add_rate(start_ns, end_ns, rate, limits.n_bins);
            }
            let Some((bin, counts)) = latencies(&members.clat_ns) else { continue };
            let series = self.series_of(Quantity::Latency(LatencyKind::Completion), direction);
            series.intervals.add(start_ns, end_ns, &bin, limits.n_bins);
            if let Some(heat) = &mut series.heat {
                heat.columns.add(start_ns, end_ns, &counts, limits.n_columns);
            }
        }
        Ok(())
    }

    /// Takes the figures of the whole job.
    pub(super) fn finish(&mut self, line: Box<JobLine>) -> Result<(), ReadErrorKind> {
        for members in directions(&line.span).into_iter().filter_map(|(_, members)| members) {
            for latency in [&members.slat_ns, &members.clat_ns, &members.lat_ns, &members.response_ns] {
                checked_distribution(latency)?;
            }
        }
        if let Some(syncs) = &line.span.sync {
            checked_distribution(&syncs.lat_ns)?;
        }
        self.total = Some(line);
        Ok(())
    }

    /// True unless the figures of the whole job were read.
    pub(super) fn is_cut(&self) -> bool {
        self.total.is_none()
    }

    fn series_of(&mut self, quantity: Quantity, direction: DataDirection) -> &mut TimeSeries {
        let is_it = |series: &TimeSeries| series.quantity == quantity && series.direction == direction;
        let index = self.series.iter().position(is_it).unwrap_or_else(|| {
            let interval_ns = (self.interval_ms * NS_PER_MS) as u64;
            let mut series = TimeSeries::new(quantity, direction, interval_ns);
            series.base = TimeBase::Run(0);
            series.heat = matches!(quantity, Quantity::Latency(_)).then(|| LatencyHeat::new(interval_ns));
            self.series.push(series);
            self.series.len() - 1
        });
        &mut self.series[index]
    }

    /// The job, without its options.
    pub(super) fn into_result(self) -> Result<JobResult, ReadErrorKind> {
        let mut result =
            JobResult { name: self.name, group_index: self.group_index, series: self.series, ..JobResult::default() };
        // A latency that was measured without a distribution has no course.
        result.series.retain(|series| !series.intervals.is_empty());
        // The drain of a queue at the end is no interval.
        let rates = result.series.iter_mut().filter(|series| series.quantity.is_rate());
        rates.for_each(|series| series.intervals.join_short_end());
        result.reach_ns = self.reach_ns;
        let Some(JobLine { span: total, error, .. }) = self.total.as_deref() else {
            for direction in DataDirection::ALL {
                result.directions[direction] = self.sums[direction].figures();
            }
            return Ok(result);
        };
        let mut runtime_ms = 0.0_f64;
        for (direction, members) in directions(total) {
            if let Some(members) = members.filter(|members| members.ios > 0) {
                result.directions[direction] = Some(figures(members)?);
                runtime_ms = runtime_ms.max(members.runtime_ms);
            }
        }
        let share = |used_ms: f64| if runtime_ms > 0.0 { 100.0 * used_ms / runtime_ms } else { 0.0 };
        result.syncs = total.sync.as_ref().map(|members| syncs(members, runtime_ms)).transpose()?;
        result.n_errors = total.tolerated_errors;
        result.error = *error;
        result.cpu = Some(CpuFigures {
            user_percent: figure("user_ms", share(total.cpu.user_ms))?,
            system_percent: figure("system_ms", share(total.cpu.system_ms))?,
            n_switches: total.cpu.context_switches,
            n_major_faults: total.cpu.major_faults,
            n_minor_faults: total.cpu.minor_faults,
        });
        Ok(result)
    }
}

/// The latencies of an interval; `None`: they have no distribution.
fn latencies(members: &LatencyMembers) -> Option<(TimeBin, LatencyCounts)> {
    let (mut counts, mut bin) = (LatencyCounts::default(), TimeBin::default());
    for (latency_ns, count) in members.histogram().iter().filter(|(_, count)| *count > 0) {
        counts.add(full_bucket_index(*latency_ns) as u16, *count);
        bin.join(&TimeBin::of_many(*latency_ns as f64, *count));
    }
    // The slowest I/O itself, and not the middle of its bucket.
    bin.max = members.max.map_or(bin.max, |max_ns| max_ns as f64);
    bin.min = bin.min.min(bin.max);
    (bin.n > 0).then_some((bin, counts))
}

fn directions(line: &SpanLine) -> [(DataDirection, Option<&DirectionMembers>); 3] {
    let members = [line.read.as_ref(), line.write.as_ref(), line.trim.as_ref()];
    let [read, write, trim] = members;
    [(DataDirection::Read, read), (DataDirection::Write, write), (DataDirection::Trim, trim)]
}

impl Sums {
    fn add(&mut self, members: &DirectionMembers) -> Result<(), ReadErrorKind> {
        self.n_ios = self.n_ios.saturating_add(members.ios);
        self.bytes = self.bytes.saturating_add(members.bytes);
        self.runtime_ms += time(members.runtime_ms)?;
        self.n_latencies = self.n_latencies.saturating_add(members.clat_ns.n);
        self.latency_sum_ns = self.latency_sum_ns.saturating_add(members.clat_ns.sum.unwrap_or_default());
        for (latency_ns, count) in members.clat_ns.histogram() {
            // Latencies are those of buckets, of which there is a bounded number.
            let latency_ns = bucket_latency_ns(full_bucket_index(*latency_ns));
            let sum = self.bins.entry(latency_ns).or_default();
            *sum = sum.saturating_add(*count);
        }
        Ok(())
    }

    /// The figures of the intervals so far; extremes are those of the buckets.
    fn figures(&self) -> Option<Figures> {
        let clat = (self.n_latencies > 0).then(|| LatencyFigures {
            n_samples: self.n_latencies,
            min_ns: self.bins.keys().next().copied().unwrap_or_default(),
            max_ns: self.bins.keys().next_back().copied().unwrap_or_default(),
            mean_ns: self.latency_sum_ns as f64 / self.n_latencies as f64,
            bins: self.bins.iter().map(|(latency_ns, count)| (*latency_ns, *count)).collect(),
            ..LatencyFigures::default()
        });
        let figures = Figures {
            n_ios: self.n_ios,
            bytes: self.bytes,
            runtime_ns: (self.runtime_ms * NS_PER_MS) as u64,
            clat,
            ..Figures::default()
        };
        (self.n_ios > 0).then(|| figures.with_rates())
    }
}

fn figures(members: &DirectionMembers) -> Result<Figures, ReadErrorKind> {
    Ok(Figures {
        n_ios: members.ios,
        bytes: members.bytes,
        runtime_ns: (time(members.runtime_ms)? * NS_PER_MS) as u64,
        ios_per_sec: figure("iops", members.iops)?,
        bytes_per_sec: figure("bw_bytes", members.bw_bytes)?,
        slat: latency(&members.slat_ns)?,
        clat: latency(&members.clat_ns)?,
        lat: latency(&members.lat_ns)?,
        response: latency(&members.response_ns)?,
        ..Figures::default()
    })
}

/// Syncs, over the time of the job's I/O.
fn syncs(members: &SyncMembers, runtime_ms: f64) -> Result<Figures, ReadErrorKind> {
    let figures = Figures {
        n_ios: members.issued,
        runtime_ns: (time(runtime_ms)? * NS_PER_MS) as u64,
        lat: latency(&members.lat_ns)?,
        ..Figures::default()
    };
    Ok(figures.with_rates())
}

fn latency(members: &LatencyMembers) -> Result<Option<LatencyFigures>, ReadErrorKind> {
    if members.n == 0 {
        return Ok(None);
    }
    let told = members.percentiles.iter().flatten();
    let mut percentiles: Vec<(f64, u64)> =
        told.filter_map(|(percent, value_ns)| Some((percent.parse().ok()?, value_ns.as_u64()?))).collect();
    percentiles.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut bins = members.histogram().to_vec();
    bins.sort_unstable();
    Ok(Some(LatencyFigures {
        n_samples: members.n,
        min_ns: members.min.unwrap_or_default(),
        max_ns: members.max.unwrap_or_else(|| bins.last().map_or(u64::MAX, |(latency_ns, _)| *latency_ns)),
        mean_ns: figure("mean", members.mean.unwrap_or_default())?,
        stddev_ns: figure("stddev", members.stddev.unwrap_or_default())?,
        percentiles,
        bins,
    }))
}

/// A time in milliseconds: not negative, and below 300 years.
fn time(milliseconds: f64) -> Result<f64, ReadErrorKind> {
    figure("a time", milliseconds)
        .and_then(|time| if time < 1e13 { Ok(time) } else { Err(impossible("a time", &format!("{time:?}"))) })
}

/// The distribution has no more latencies than there are buckets.
fn checked_distribution(members: &LatencyMembers) -> Result<(), ReadErrorKind> {
    let found = members.histogram().len();
    if found > N_FULL_BUCKETS {
        return Err(ReadErrorKind::TooMany { what: "latencies in a histogram", found, most: N_FULL_BUCKETS });
    }
    Ok(())
}
