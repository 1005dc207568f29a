//! How many I/Os took how long: the distribution of a latency, and its sum up to each latency.
//!
//! Must not know: time. Start reading at [`histogram`].

use super::latency::capitalised;
use super::together::distribution;
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent, ChartLine, colour_of, rounded};
use ferrio_formats::{JobResult, LatencyKind};
use ferrio_units::DataDirection;

/// Points for each doubling of the latency.
const PER_OCTAVE: f64 = 8.0;

/// Shares of the I/Os by their latency.
pub(super) fn histogram(jobs: &[&JobResult], _most_points: usize) -> Vec<Chart> {
    let chart = |(kind, lines): (LatencyKind, Vec<ChartLine>)| Chart {
        id: "distribution",
        title: format!("Distribution of the {}", kind.words()),
        note: "The share of the I/Os in each eighth of a doubling of the latency.".to_owned(),
        x: ChartAxis::log("latency", AxisUnit::Nanoseconds),
        y: ChartAxis::linear("share of the I/Os", AxisUnit::Percent),
        content: ChartContent::Lines(lines),
    };
    of_directions(jobs, shares).map(chart).into_iter().collect()
}

/// Shares of the I/Os that took at most a latency.
pub(super) fn cumulative(jobs: &[&JobResult], _most_points: usize) -> Vec<Chart> {
    of_sums(jobs).into_iter().collect()
}

fn of_sums(jobs: &[&JobResult]) -> Option<Chart> {
    let of_bins = of_directions(jobs, sums);
    let is_whole = of_bins.is_some();
    let (kind, lines) = of_bins.or_else(|| of_percentiles(jobs))?;
    let note = if is_whole { "" } else { "The points are the percentiles of the report; it has no distribution." };
    Some(Chart {
        id: "cumulative",
        title: format!("{}: share of the I/Os that took no longer", capitalised(kind.words())),
        note: note.to_owned(),
        x: ChartAxis::log("latency", AxisUnit::Nanoseconds),
        y: ChartAxis::linear("share of the I/Os", AxisUnit::Percent),
        content: ChartContent::Lines(lines),
    })
}

/// Latencies, each with the share of the I/Os that took no longer, percent.
pub(super) fn sums(bins: &[(u64, u64)]) -> Vec<(f64, f64)> {
    let total = sum(bins);
    let mut up_to = 0_u64;
    let share = |(latency_ns, count): &(u64, u64)| {
        up_to = up_to.saturating_add(*count);
        ((*latency_ns).max(1) as f64, 100.0 * up_to as f64 / total)
    };
    bins.iter().map(share).collect()
}

/// Shares of the I/Os, percent, in each eighth of an octave: its start, and its share.
pub(crate) fn shares(bins: &[(u64, u64)]) -> Vec<(f64, f64)> {
    let total = sum(bins);
    joined(bins).into_iter().map(|(latency_ns, count)| (latency_ns, 100.0 * count as f64 / total)).collect()
}

fn sum(bins: &[(u64, u64)]) -> f64 {
    bins.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count)).max(1) as f64
}

fn of_directions(
    jobs: &[&JobResult],
    points: impl Fn(&[(u64, u64)]) -> Vec<(f64, f64)>,
) -> Option<(LatencyKind, Vec<ChartLine>)> {
    let mut lines = Vec::new();
    let mut kind = LatencyKind::Completion;
    for direction in DataDirection::ALL {
        let (found, bins) = distribution(jobs, direction);
        if bins.is_empty() {
            continue;
        }
        kind = found;
        let (x, y) = points(&bins).into_iter().map(|(x, y)| (rounded(x), rounded(y))).unzip();
        let line = ChartLine::new(direction.name().to_owned(), colour_of(direction, 0));
        lines.push(ChartLine { x, y, is_stepped: true, ..line });
    }
    (!lines.is_empty()).then_some((kind, lines))
}

/// The percentiles that the report of a single job has: those of several jobs cannot be put together.
fn of_percentiles(jobs: &[&JobResult]) -> Option<(LatencyKind, Vec<ChartLine>)> {
    let [job] = jobs else { return None };
    let mut found = None;
    let mut lines = Vec::new();
    for (direction, figures) in job.active() {
        let Some((kind, latency)) = figures.latency().filter(|(_, latency)| !latency.percentiles.is_empty()) else {
            continue;
        };
        found = Some(kind);
        let highest = latency.max_ns.max(1);
        // A percentile of few I/Os may be that of a bucket above all of them.
        let points = latency.percentiles.iter().map(|(percent, value_ns)| ((*value_ns).clamp(1, highest), *percent));
        let (x, y) = points.map(|(value_ns, percent)| (rounded(value_ns as f64), rounded(percent))).unzip();
        let line = ChartLine::new(direction.name().to_owned(), colour_of(direction, 0));
        lines.push(ChartLine { x, y, ..line });
    }
    Some((found?, lines))
}

/// Bins joined to eighths of octaves, with empty ones between them: the start of each and its count.
fn joined(bins: &[(u64, u64)]) -> Vec<(f64, u64)> {
    let class = |latency_ns: u64| (latency_ns.max(1) as f64).log2().mul_add(PER_OCTAVE, 1e-9).floor() as i64;
    let (Some((first, _)), Some((last, _))) = (bins.first(), bins.last()) else { return Vec::new() };
    let first = class(*first);
    let n_classes = (class(*last) - first) as usize + 2;
    let mut counts = vec![0_u64; n_classes];
    for (latency_ns, count) in bins {
        let sum = &mut counts[(class(*latency_ns) - first) as usize];
        *sum = sum.saturating_add(*count);
    }
    let start = |index: usize| ((first + index as i64) as f64 / PER_OCTAVE).exp2();
    counts.into_iter().enumerate().map(|(index, count)| (start(index), count)).collect()
}
