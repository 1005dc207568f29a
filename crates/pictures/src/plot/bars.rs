//! Panels of bars for bandwidth, IOPS and latency of classes of jobs.
//!
//! Must not know: what the classes are. Start reading at [`panels`].

use super::spread::{BarFigure, BarJobs, latency, spread};
use crate::chart::{AxisUnit, ChartAxis};
use crate::charts::latency::capitalised;
use crate::panel::{BarGroup, BarPanel, Panel, PanelContent};
use crate::scale::AxisScale;
use ferrio_formats::{IoKind, JobResult, LatencyKind};
use ferrio_stats::Metric;
use std::collections::BTreeSet;

/// One name of the legend: for each class, the jobs that its bar is made of.
pub(super) struct JobGroup<'a> {
    pub(super) name: String,
    pub(super) kind: IoKind,
    pub(super) members: Vec<BarJobs<'a>>,
}

/// A panel for each figure that the jobs have.
pub(super) fn panels(classes: &[String], groups: &[JobGroup<'_>]) -> Vec<Panel> {
    let has_syncs = groups.iter().any(|group| group.kind == IoKind::Sync);
    let shown = BarFigure::ALL.into_iter().filter(|figure| has_syncs || figure.is_usual());
    shown.filter_map(|figure| panel(classes, groups, figure)).collect()
}

fn panel(classes: &[String], groups: &[JobGroup<'_>], figure: BarFigure) -> Option<Panel> {
    let mut bars = Vec::new();
    for (look, group) in groups.iter().enumerate() {
        let values: Vec<_> = group.members.iter().map(|bar| spread(bar, group.kind, figure)).collect();
        bars.push(BarGroup { name: group.name.clone(), look, values });
    }
    bars.retain(|group| group.values.iter().any(Option::is_some));
    if bars.is_empty() {
        return None;
    }
    let (name, scale) = match figure {
        BarFigure::LATENCY => (latency_words(groups).to_owned(), AxisScale::Log),
        _ if figure.unit() == AxisUnit::Nanoseconds => (figure.label(), AxisScale::Log),
        _ => (figure.label(), AxisScale::Linear),
    };
    let title = match figure {
        BarFigure::IOPS => Metric::Iops.title().to_owned(),
        BarFigure::Of(metric) if metric.percent().is_some() => name.clone(),
        _ => capitalised(&name),
    };
    let value = ChartAxis::new(name, figure.unit(), scale);
    Some(Panel {
        title,
        content: PanelContent::Bars(BarPanel { value, head: figure.head(), classes: classes.to_vec(), groups: bars }),
    })
}

fn latency_words(groups: &[JobGroup<'_>]) -> &'static str {
    let kinds = groups
        .iter()
        .flat_map(|group| group.members.iter().filter_map(|bar| latency(&bar.jobs, group.kind).map(|(kind, _)| kind)));
    let kinds: BTreeSet<LatencyKind> = kinds.collect();
    match kinds.into_iter().collect::<Vec<_>>()[..] {
        [kind] => kind.words(),
        _ => "latency",
    }
}

/// What the strokes mean, if there are any.
pub(super) fn notes(panels: &[Panel]) -> Vec<String> {
    let spreads = || {
        let bars = panels.iter().filter_map(|panel| match &panel.content {
            PanelContent::Bars(bars) => Some(bars),
            _ => None,
        });
        bars.flat_map(|bars| &bars.groups).flat_map(|group| group.values.iter().flatten())
    };
    let has_range = spreads().any(|spread| spread.range.is_some());
    let has_deviation = spreads().any(|spread| spread.deviation.is_some());
    let note = match (has_range, has_deviation) {
        (true, true) => {
            "Thin line: from the lowest to the highest sample. Thick line: average less and plus a standard deviation of the samples."
        }
        (true, false) => "Thin line: from the lowest to the highest sample.",
        _ => return Vec::new(),
    };
    let rates = "Samples of rates are those of single intervals, samples of latencies those of single I/Os, or what the logs have.";
    vec![format!("{note} {rates}")]
}

/// The kinds of I/O of which any of the jobs has figures.
pub(super) fn kinds<'a>(jobs: &(impl Iterator<Item = &'a JobResult> + Clone)) -> Vec<IoKind> {
    let has = |kind: &IoKind| {
        let is_it = |job: &JobResult| {
            let has_series = || job.series.iter().any(|series| Some(series.direction) == kind.direction());
            job.get(*kind).is_some() || has_series()
        };
        jobs.clone().any(is_it)
    };
    IoKind::ALL.into_iter().filter(has).collect()
}
