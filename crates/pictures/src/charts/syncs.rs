//! Syncs over time: their number, and how long they took.
//!
//! Must not know: the I/O between them. Start reading at [`over_time`].

use super::latency::series_lines;
use super::rates::{apart, rate};
use super::together::summed;
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent};
use ferrio_formats::{JobResult, NotTogether, Quantity};
use ferrio_units::DataDirection;

/// Syncs per second, and percentiles of their latency.
pub(super) fn over_time(jobs: &[&JobResult], most_points: usize) -> Vec<Chart> {
    let axis = ChartAxis::linear("syncs per second", AxisUnit::IosPerSecond);
    let mut charts = rate(jobs, Quantity::Syncs, "syncs", "Syncs over time", axis, most_points);
    charts.extend(latency(jobs, most_points));
    charts
}

fn latency(jobs: &[&JobResult], most_points: usize) -> Option<Chart> {
    let (lines, note) = match summed(jobs, Quantity::SyncLatency, DataDirection::Write, usize::MAX) {
        Ok(series) => (series_lines(&series, most_points), String::new()),
        Err(NotTogether::Nothing) => return None,
        Err(reason) => (Vec::new(), apart(reason)),
    };
    Some(Chart {
        id: "sync-latency",
        title: "Latency of syncs over time".to_owned(),
        note,
        x: ChartAxis::TIME,
        y: ChartAxis::log("latency", AxisUnit::Nanoseconds),
        content: ChartContent::Lines(lines),
    })
}
