//! The heat map: how many I/Os took how long, over time.
//!
//! Must not know: other charts. Start reading at [`map`].

use super::latency::capitalised;
use super::together::pooled;
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent, HeatMap};
use ferrio_results::{JobResult, LatencyHeat, LatencyKind};
use ferrio_stats::histogram::bucket_bounds_ns;
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

const NS_PER_SEC: f64 = 1e9;
/// Rows for each doubling of the latency.
const ROWS_PER_OCTAVE: usize = 4;
/// Most columns.
const MOST_COLUMNS: usize = 240;

/// The heat map of the direction with the most I/Os.
pub(super) fn map(jobs: &[&JobResult], most_points: usize) -> Option<Chart> {
    let mut found: Option<(u64, LatencyKind, DataDirection, LatencyHeat)> = None;
    for direction in DataDirection::ALL {
        let Some((kind, series)) = pooled(jobs, direction, 2) else { continue };
        let Some(heat) = series.heat else { continue };
        let n_ios: u64 = heat.columns.iter().fold(0, |sum, column| sum.saturating_add(LatencyHeat::n_ios(column)));
        if n_ios > found.as_ref().map_or(0, |(most, ..)| *most) {
            found = Some((n_ios, kind, direction, heat));
        }
    }
    let (_, kind, direction, mut heat) = found?;
    while heat.columns.len() > MOST_COLUMNS.min(most_points.max(2)) {
        heat.halve();
    }
    Some(Chart {
        id: "heat",
        title: format!("{} of each {}, over time", capitalised(kind.words()), direction.name()),
        note: "The darker a cell, the more I/Os took this long at this time.".to_owned(),
        x: ChartAxis::TIME,
        y: ChartAxis::log("latency", AxisUnit::Nanoseconds),
        content: ChartContent::Heat(cells(&heat)),
    })
}

fn cells(heat: &LatencyHeat) -> HeatMap {
    let mut cells: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (column, buckets) in heat.columns.iter().enumerate() {
        for (bucket, count) in buckets {
            let sum = cells.entry((column, row_of(bucket_bounds_ns(usize::from(*bucket)).0))).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    let first = cells.keys().map(|(_, row)| *row).min().unwrap_or_default();
    let last = cells.keys().map(|(_, row)| *row).max().unwrap_or_default();
    HeatMap {
        start: heat.start_ns(0) as f64 / NS_PER_SEC,
        width: heat.interval_ns as f64 / NS_PER_SEC,
        n_columns: heat.columns.len(),
        edges: (first..=last + 1).map(edge_of).collect(),
        cells: cells.into_iter().map(|((column, row), count)| (column, row - first, count)).collect(),
        counted: "I/Os",
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
