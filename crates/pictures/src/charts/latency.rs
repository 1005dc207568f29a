//! Latency percentiles over time.
//!
//! Must not know: rates. Start reading at [`over_time`].

use super::rates::line;
use super::together::pooled;
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent, ChartLine, colour_of, rounded};
use ferrio_results::{JobResult, LatencyHeat, LatencyKind, TimeSeries};
use ferrio_units::DataDirection;

const NS_PER_SEC: f64 = 1e9;
/// The percentiles, each with its name.
const PERCENTILES: [(f64, &str); 3] = [(50.0, "p50"), (99.0, "p99"), (99.9, "p99.9")];

/// Percentiles over time; where only means of intervals were recorded, these.
pub(super) fn over_time(jobs: &[&JobResult], most_points: usize) -> Option<Chart> {
    let mut lines = Vec::new();
    let mut kind = LatencyKind::Completion;
    let mut are_means = false;
    for direction in DataDirection::ALL {
        let Some((found, series)) = pooled(jobs, direction, most_points) else { continue };
        kind = found;
        if let Some(percentiles) = percentile_lines(&series, most_points) {
            lines.extend(percentiles);
        } else {
            are_means = true;
            let mean = line(&series);
            lines.push(ChartLine { name: format!("{} mean", mean.name), ..mean });
        }
    }
    let note = if are_means { "Each value is a mean of an interval, so single slow I/Os cannot be seen." } else { "" };
    (!lines.is_empty()).then(|| Chart {
        id: "latency",
        title: format!("{} over time", capitalised(kind.words())),
        note: note.to_owned(),
        x: ChartAxis::TIME,
        y: ChartAxis::log("latency", AxisUnit::Nanoseconds),
        content: ChartContent::Lines(lines),
    })
}

/// Lines of the percentiles of a latency over time, and of its slowest I/Os; `None`: it has no distribution.
pub(crate) fn percentile_lines(series: &TimeSeries, most_points: usize) -> Option<Vec<ChartLine>> {
    let heat = series.heat.as_ref()?;
    // The middle of a bucket may be above the slowest I/O in it.
    let slowest_ns = series.bins.iter().filter(|bin| bin.n > 0).map(|bin| bin.max).fold(0.0, f64::max);
    let mut lines = percentiles(heat, series.direction, most_points, slowest_ns);
    lines.push(slowest(series));
    Some(lines)
}

fn percentiles(heat: &LatencyHeat, direction: DataDirection, most_points: usize, slowest_ns: f64) -> Vec<ChartLine> {
    let mut heat = heat.clone();
    while heat.columns.len() > most_points.max(2) {
        heat.halve();
    }
    let of_percentile = |(index, (percent, name)): (usize, (f64, &str))| {
        let values = heat.columns.iter().enumerate().filter_map(|(column, counts)| {
            let middle_ns = heat.start_ns(column).saturating_add(heat.interval_ns / 2);
            let latency_ns = LatencyHeat::percentile(counts, percent)? as f64;
            Some((rounded(middle_ns as f64 / NS_PER_SEC), rounded(latency_ns.min(slowest_ns))))
        });
        let (x, y) = values.unzip();
        ChartLine {
            name: format!("{} {name}", direction.name()),
            colour: colour_of(direction, index),
            x,
            y,
            low: Vec::new(),
            high: Vec::new(),
            is_stepped: false,
        }
    };
    PERCENTILES.into_iter().enumerate().map(of_percentile).collect()
}

/// The slowest I/O of each interval, as it is and not as its bucket.
fn slowest(series: &TimeSeries) -> ChartLine {
    let values = series.filled().map(|(middle_ns, bin)| (rounded(middle_ns as f64 / NS_PER_SEC), rounded(bin.max)));
    let (x, y) = values.unzip();
    ChartLine {
        name: format!("{} max", series.direction.name()),
        colour: colour_of(series.direction, PERCENTILES.len()),
        x,
        y,
        low: Vec::new(),
        high: Vec::new(),
        is_stepped: false,
    }
}

/// The text with a large first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
