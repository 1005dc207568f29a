//! The heat map: how many I/Os took how long, over time.
//!
//! Must not know: other charts. Start reading at [`maps`].

use super::latency::capitalised;
use super::rates::rounded_time;
use super::together::pooled;
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent, HeatMap};
use crate::scale::AxisScale;
use ferrio_formats::{JobResult, LatencyHeat, LatencyKind};
use ferrio_stats::histogram::bucket_bounds_ns;
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

/// Rows for each doubling of the latency.
const ROWS_PER_OCTAVE: usize = 4;
const MOST_COLUMNS: usize = 240;

/// A heat map for each direction, that with the most I/Os first.
pub(super) fn maps(jobs: &[&JobResult], most_points: usize) -> Vec<Chart> {
    let mut found: Vec<(u64, LatencyKind, DataDirection, LatencyHeat)> = Vec::new();
    for direction in DataDirection::ALL {
        let Ok((kind, series)) = pooled(jobs, direction, 2) else { continue };
        if let Some(heat) = series.heat {
            found.push((heat.n_ios(), kind, direction, heat));
        }
    }
    found.sort_by_key(|(n_ios, ..)| std::cmp::Reverse(*n_ios));
    let chart = |(index, (_, kind, direction, mut heat)): (usize, (u64, LatencyKind, DataDirection, LatencyHeat))| {
        heat.columns.shorten(MOST_COLUMNS.min(most_points));
        Chart {
            id: if index == 0 { "heat" } else { id_of(direction) },
            title: format!("{} of each {}, over time", capitalised(kind.words()), direction.name()),
            note: String::new(),
            x: ChartAxis::TIME,
            y: ChartAxis::log("latency", AxisUnit::Nanoseconds),
            content: ChartContent::Heat(cells(&heat)),
        }
    };
    found.into_iter().enumerate().map(chart).collect()
}

fn id_of(direction: DataDirection) -> &'static str {
    match direction {
        DataDirection::Read => "heat-read",
        DataDirection::Write => "heat-write",
        DataDirection::Trim => "heat-trim",
    }
}

fn cells(heat: &LatencyHeat) -> HeatMap {
    let mut cells: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (column, interval) in heat.columns.all().iter().enumerate() {
        for (bucket, count) in &interval.figures.0 {
            let sum = cells.entry((column, row_of(bucket_bounds_ns(usize::from(*bucket)).0))).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    let first = cells.keys().map(|(_, row)| *row).min().unwrap_or_default();
    let last = cells.keys().map(|(_, row)| *row).max().unwrap_or_default();
    let columns = heat.columns.all().iter();
    HeatMap {
        columns: columns.map(|column| (rounded_time(column.start_ns), rounded_time(column.end_ns))).collect(),
        edges: (first..=last + 1).map(edge_of).collect(),
        cells: cells.into_iter().map(|((column, row), count)| (column, row - first, count)).collect(),
        rows: Vec::new(),
        counted: "I/Os",
        meaning: "more I/Os took this long at this time",
        shades: AxisScale::Log,
    }
}

/// The row of a latency: quarters of octaves, of equal width within an octave.
fn row_of(latency_ns: u64) -> usize {
    let octave = latency_ns.max(1).ilog2();
    let within = (latency_ns.max(1) - (1 << octave)) as f64 / (1_u64 << octave) as f64;
    octave as usize * ROWS_PER_OCTAVE + (within * ROWS_PER_OCTAVE as f64) as usize
}

/// The lower edge of a row, nanoseconds.
fn edge_of(row: usize) -> f64 {
    let within = 1.0 + (row % ROWS_PER_OCTAVE) as f64 / ROWS_PER_OCTAVE as f64;
    2_f64.powi((row / ROWS_PER_OCTAVE) as i32) * within
}
