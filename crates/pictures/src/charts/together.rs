//! Figures of several jobs as one.
//!
//! Must not know: charts. Start reading at [`summed`]. Series are put together by `ferrio_formats::together` alone.

use ferrio_formats::{JobResult, LatencyKind, NotTogether, Quantity, TimeSeries, together};
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

pub(crate) fn of_jobs<'a>(
    jobs: &[&'a JobResult],
    quantity: Quantity,
    direction: DataDirection,
) -> Vec<(&'a JobResult, &'a TimeSeries)> {
    let is_it = |series: &&TimeSeries| {
        series.quantity == quantity && series.direction == direction && !series.intervals.is_empty()
    };
    let series = jobs.iter().flat_map(|job| job.series.iter().map(move |series| (*job, series)));
    series.filter(|(_, series)| is_it(series)).collect()
}

/// The sum of rates of some jobs, at each moment that of the jobs that ran then.
///
/// # Errors
/// No job has this rate, or nobody knows which jobs ran at the same time.
pub(crate) fn summed(
    jobs: &[&JobResult],
    quantity: Quantity,
    direction: DataDirection,
    most: usize,
) -> Result<TimeSeries, NotTogether> {
    let all: Vec<&TimeSeries> = of_jobs(jobs, quantity, direction).into_iter().map(|(_, series)| series).collect();
    together(&all, most)
}

/// The kind of latency that the jobs have, in the order of what a reader wants.
pub(crate) fn latency_kind(jobs: &[&JobResult], direction: DataDirection) -> Option<LatencyKind> {
    let kinds = [LatencyKind::Completion, LatencyKind::Total, LatencyKind::Submission];
    kinds.into_iter().find(|kind| !of_jobs(jobs, Quantity::Latency(*kind), direction).is_empty())
}

/// All values of a latency of some jobs.
///
/// # Errors
/// No job has a latency, or nobody knows which jobs ran at the same time.
pub(crate) fn pooled(
    jobs: &[&JobResult],
    direction: DataDirection,
    most: usize,
) -> Result<(LatencyKind, TimeSeries), NotTogether> {
    let kind = latency_kind(jobs, direction).ok_or(NotTogether::Nothing)?;
    let all = of_jobs(jobs, Quantity::Latency(kind), direction);
    let all: Vec<&TimeSeries> = all.into_iter().map(|(_, series)| series).collect();
    Ok((kind, together(&all, most)?))
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
                Ok((told, TimeSeries { heat: Some(heat), .. })) => {
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
