//! Latency by percentile.
//!
//! Must not know: other kinds. Start reading at [`picture`].

use super::PlotError;
use super::entries::entries;
use super::histogram::{paled, title_of, words_of};
use crate::chart::{AxisUnit, ChartAxis, ChartLine};
use crate::charts::together::distribution;
use crate::panel::{LinePanel, Panel, PanelContent, Picture};
use crate::scale::AxisScale;
use ferrio_formats::{IoKind, JobResult, LatencyFigures, LatencyKind, RunResult};
use std::collections::BTreeSet;

/// Percentiles that are computed where the whole distribution is known.
const PERCENTILES: [f64; 14] = [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 99.999, 99.9999];

pub(super) fn picture(results: &[RunResult]) -> Result<Picture, PlotError> {
    let mut lines = Vec::new();
    let mut kinds = BTreeSet::new();
    for entry in entries(results) {
        for of in IoKind::ALL {
            if let Some((kind, points)) = points(entry.job, of) {
                kinds.insert(kind);
                lines.push(ChartLine::through(entry.with(of.name()), lines.len(), points));
            }
        }
    }
    if lines.is_empty() {
        return Err(PlotError::Lacking(
            "the results have no percentiles of latencies: fio writes them unless clat_percentiles=0 or disable_clat=1 is set, and logs of write_lat_log or write_hist_log have them for single I/Os".to_owned(),
        ));
    }
    paled(&mut lines);
    let content = LinePanel {
        x: ChartAxis::new("share of the I/Os that took no longer", AxisUnit::Percent, AxisScale::Nines),
        y: ChartAxis::new(words_of(&kinds), AxisUnit::Nanoseconds, AxisScale::Log),
        lines,
    };
    Ok(Picture {
        title: format!("{} by percentile", title_of(&kinds)),
        notes: Vec::new(),
        panels: vec![Panel { title: String::new(), content: PanelContent::Lines(content) }],
    })
}

/// Percentiles of the report, or of the distribution where there is one.
fn points(job: &JobResult, of: IoKind) -> Option<(LatencyKind, Vec<(f64, f64)>)> {
    if let Some((kind, figures)) = job.get(of).and_then(|figures| figures.latency()) {
        let told = figures.percentiles.iter().map(|(percent, latency_ns)| (*percent, *latency_ns as f64));
        let points: Vec<(f64, f64)> = told.filter(|(percent, _)| (0.0..100.0).contains(percent)).collect();
        if !points.is_empty() {
            return Some((kind, points));
        }
    }
    let (kind, bins) = distribution(&[job], of.direction()?);
    let (slowest, n_samples) = (bins.last()?.0, bins.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count)));
    let figures = LatencyFigures { bins, max_ns: slowest, ..LatencyFigures::default() };
    // A percentile that rests on less than one I/O is none.
    let has_ios = |percent: &f64| (1.0 - percent / 100.0) * n_samples as f64 >= 1.0 || *percent <= 50.0;
    let known = PERCENTILES.into_iter().filter(has_ios);
    let points = known.filter_map(|percent| Some((percent, figures.percentile(percent)?.latency_ns as f64))).collect();
    Some((kind, points))
}
