//! Figures of several jobs as one.
//!
//! Must not know: charts. Start reading at [`summed`].

use ferrio_results::{JobResult, LatencyHeat, LatencyKind, Quantity, TimeBin, TimeSeries};
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

/// Most intervals of several series as one.
const MOST_MERGED: u64 = 16_384;

/// The series of this quantity and direction of the jobs that have one.
fn of_jobs<'a>(
    jobs: &'a [&JobResult],
    quantity: Quantity,
    direction: DataDirection,
) -> impl Iterator<Item = &'a TimeSeries> {
    let series = jobs.iter().flat_map(|job| &job.series);
    series.filter(move |series| series.quantity == quantity && series.direction == direction)
}

/// A series with at most this number of intervals.
pub(crate) fn shortened(series: &TimeSeries, most: usize) -> TimeSeries {
    let mut series = series.clone();
    while series.bins.len() > most.max(2) {
        series.halve();
    }
    series
}

/// The sum of rates of some jobs. Where there are several jobs, each interval has the sum of their means.
pub(crate) fn summed(
    jobs: &[&JobResult],
    quantity: Quantity,
    direction: DataDirection,
    most: usize,
) -> Option<TimeSeries> {
    let all: Vec<TimeSeries> = of_jobs(jobs, quantity, direction).map(|series| shortened(series, most)).collect();
    let [_, _, ..] = &all[..] else { return all.into_iter().next() };
    let interval_ns = all.iter().map(|series| series.interval_ns).max().unwrap_or(1);
    let mut sums: BTreeMap<u64, f64> = BTreeMap::new();
    for series in all {
        let mut means: BTreeMap<u64, TimeBin> = BTreeMap::new();
        for (middle_ns, bin) in series.filled() {
            means.entry(middle_ns / interval_ns).or_default().merge(bin);
        }
        for (number, bin) in means {
            *sums.entry(number).or_default() += bin.mean().unwrap_or_default();
        }
    }
    let mut total = TimeSeries::new(quantity, direction, interval_ns);
    for (number, sum) in sums {
        total.add(number.saturating_mul(interval_ns), sum, most);
    }
    Some(total)
}

/// All values of a latency of some jobs.
pub(crate) fn pooled(jobs: &[&JobResult], direction: DataDirection, most: usize) -> Option<(LatencyKind, TimeSeries)> {
    let kinds = [LatencyKind::Completion, LatencyKind::Total, LatencyKind::Submission];
    let kind = kinds.into_iter().find(|kind| of_jobs(jobs, Quantity::Latency(*kind), direction).next().is_some())?;
    let quantity = Quantity::Latency(kind);
    let all: Vec<TimeSeries> = of_jobs(jobs, quantity, direction).map(|series| shortened(series, most)).collect();
    Some((kind, merged(all, quantity, direction)))
}

/// All values of some series as one series.
pub(crate) fn merged(all: Vec<TimeSeries>, quantity: Quantity, direction: DataDirection) -> TimeSeries {
    let all = match <[TimeSeries; 1]>::try_from(all) {
        Ok([series]) => return series,
        Err(all) => all,
    };
    let mut interval_ns = all.iter().map(|series| series.interval_ns).max().unwrap_or(1);
    let ends = |end: fn(&TimeSeries) -> Option<u64>| all.iter().filter_map(end).collect::<Vec<u64>>();
    let first_ns = ends(|series| Some(series.filled().next()?.0)).into_iter().min().unwrap_or_default();
    let last_ns = ends(|series| Some(series.filled().last()?.0)).into_iter().max().unwrap_or_default();
    // Short series may lie far apart in time.
    while (last_ns - first_ns) / interval_ns > MOST_MERGED {
        interval_ns = interval_ns.saturating_mul(2);
    }
    let mut bins: BTreeMap<u64, TimeBin> = BTreeMap::new();
    for series in &all {
        for (middle_ns, bin) in series.filled() {
            bins.entry(middle_ns / interval_ns).or_default().merge(bin);
        }
    }
    let first = bins.keys().next().copied().unwrap_or_default();
    let last = bins.keys().next_back().copied().unwrap_or_default();
    let at = |number| bins.get(&number).copied().unwrap_or_default();
    let bins = if bins.is_empty() { Vec::new() } else { (first..=last).map(at).collect() };
    let heat = heats(&all);
    TimeSeries { first, bins, heat, ..TimeSeries::new(quantity, direction, interval_ns) }
}

/// The distributions of several series as one; `None`: one of them has none.
fn heats(all: &[TimeSeries]) -> Option<LatencyHeat> {
    let heats: Vec<&LatencyHeat> = all.iter().map(|series| series.heat.as_ref()).collect::<Option<_>>()?;
    if let [heat] = heats[..] {
        return Some(heat.clone());
    }
    let interval_ns = heats.iter().map(|heat| heat.interval_ns).max()?;
    let most = heats.iter().map(|heat| heat.columns.len()).max()?.max(64) * 2;
    let mut sum = LatencyHeat::new(interval_ns);
    for heat in heats {
        for (index, column) in heat.columns.iter().enumerate() {
            for (bucket, count) in column {
                sum.add_bucket(heat.start_ns(index), *bucket, *count, most);
            }
        }
    }
    Some(sum)
}

/// The distribution of a latency of some jobs in a direction: latencies ascending, with their counts; empty: unknown.
/// Only if all jobs with I/O in this direction have one, is it the whole truth.
pub(crate) fn distribution(jobs: &[&JobResult], direction: DataDirection) -> (LatencyKind, Vec<(u64, u64)>) {
    let mut kind = LatencyKind::Completion;
    let mut sum: BTreeMap<u64, u64> = BTreeMap::new();
    for job in jobs {
        let told = job.directions[direction].as_ref().and_then(|figures| figures.latency());
        let bins = match told {
            Some((told, figures)) if !figures.bins.is_empty() => {
                kind = told;
                figures.bins.clone()
            }
            _ => match pooled(&[*job], direction, 2) {
                Some((told, TimeSeries { heat: Some(heat), .. })) => {
                    kind = told;
                    heat.total()
                }
                _ if told.is_some() => return (kind, Vec::new()),
                _ => Vec::new(),
            },
        };
        for (latency_ns, count) in bins {
            let entry = sum.entry(latency_ns).or_default();
            *entry = entry.saturating_add(count);
        }
    }
    (kind, sum.into_iter().collect())
}
