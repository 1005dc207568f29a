//! IOPS and bandwidth over time.
//!
//! Must not know: latencies. Start reading at [`iops`].

use super::together::summed;
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent, ChartLine, colour_of, rounded};
use ferrio_results::{JobResult, Quantity, TimeSeries};
use ferrio_units::DataDirection;

const NS_PER_SEC: f64 = 1e9;

/// I/Os per second over time.
pub(super) fn iops(jobs: &[&JobResult], most_points: usize) -> Option<Chart> {
    let axis = ChartAxis::linear("I/Os per second", AxisUnit::IosPerSecond);
    rate(jobs, Quantity::Iops, "iops", "IOPS over time", axis, most_points)
}

/// Bytes per second over time.
pub(super) fn bandwidth(jobs: &[&JobResult], most_points: usize) -> Option<Chart> {
    let axis = ChartAxis::linear("bandwidth", AxisUnit::BytesPerSecond);
    rate(jobs, Quantity::Bandwidth, "bandwidth", "Bandwidth over time", axis, most_points)
}

fn rate(
    jobs: &[&JobResult],
    quantity: Quantity,
    id: &'static str,
    title: &str,
    y: ChartAxis,
    most_points: usize,
) -> Option<Chart> {
    let of_direction = |direction| summed(jobs, quantity, direction, most_points).map(|series| line(&series));
    let lines: Vec<ChartLine> = DataDirection::ALL.into_iter().filter_map(of_direction).collect();
    let has_band = lines.iter().any(|line| !line.low.is_empty());
    let note = if has_band {
        "The line is the mean of each interval, the band reaches from its lowest to its highest value."
    } else {
        ""
    };
    let chart = Chart {
        id,
        title: title.to_owned(),
        note: note.to_owned(),
        x: ChartAxis::TIME,
        y,
        content: ChartContent::Lines(lines),
    };
    matches!(&chart.content, ChartContent::Lines(lines) if !lines.is_empty()).then_some(chart)
}

/// The means of a series, with a band where an interval has several values.
pub(crate) fn line(series: &TimeSeries) -> ChartLine {
    let has_band = series.bins.iter().any(|bin| bin.n > 1 && bin.min < bin.max);
    let mut line = ChartLine {
        name: series.direction.name().to_owned(),
        colour: colour_of(series.direction, 0),
        x: Vec::new(),
        y: Vec::new(),
        low: Vec::new(),
        high: Vec::new(),
        is_stepped: false,
    };
    for (middle_ns, bin) in series.filled() {
        line.x.push(rounded(middle_ns as f64 / NS_PER_SEC));
        line.y.push(rounded(bin.mean().unwrap_or_default()));
        if has_band {
            line.low.push(rounded(bin.min));
            line.high.push(rounded(bin.max));
        }
    }
    line
}
