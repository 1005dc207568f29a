//! How many I/Os took how long.
//!
//! Must not know: other kinds. Start reading at [`picture`].

use super::PlotError;
use super::entries::{Entry, entries};
use crate::chart::{AxisUnit, ChartAxis, ChartLine, LineWeight};
use crate::charts::distribution::shares;
use crate::charts::latency::capitalised;
use crate::charts::together::distribution;
use crate::panel::{BarGroup, BarPanel, FigureSpread, LinePanel, Panel, PanelContent, Picture};
use crate::scale::AxisScale;
use ferrio_formats::{LatencyKind, RunResult};
use ferrio_units::DataDirection;
use std::collections::BTreeSet;

/// Lines that can be told apart.
pub(super) const MOST_LINES: usize = 12;

/// Bars in a row that can be told apart.
const MOST_GROUPS: usize = 7;

pub(super) fn picture(results: &[RunResult]) -> Result<Picture, PlotError> {
    let mut lines = Vec::new();
    let mut kinds = BTreeSet::new();
    for entry in entries(results) {
        for direction in DataDirection::ALL {
            let (kind, bins) = distribution(&[entry.job], direction);
            if !bins.is_empty() {
                kinds.insert(kind);
                let name = entry.with(direction.name());
                lines.push(ChartLine { is_stepped: true, ..ChartLine::through(name, lines.len(), shares(&bins)) });
            }
        }
    }
    if lines.is_empty() {
        return by_classes(results);
    }
    paled(&mut lines);
    let words = words_of(&kinds);
    let content = LinePanel {
        x: ChartAxis::new(words, AxisUnit::Nanoseconds, AxisScale::Log),
        y: ChartAxis::new("share of the I/Os", AxisUnit::Percent, AxisScale::Linear),
        lines,
    };
    Ok(Picture {
        title: format!("Distribution of the {words}"),
        notes: vec!["The share of the I/Os in each eighth of a doubling of the latency.".to_owned()],
        panels: vec![Panel { title: String::new(), content: PanelContent::Lines(content) }],
    })
}

/// Rows of classes, where a report has nothing finer.
fn by_classes(results: &[RunResult]) -> Result<Picture, PlotError> {
    let entries: Vec<Entry<'_>> =
        entries(results).into_iter().filter(|entry| !entry.job.latency_classes.is_empty()).collect();
    if entries.is_empty() || entries.len() > MOST_GROUPS {
        return Err(PlotError::Lacking(format!(
            "the results have no distribution of latencies: fio and ferrio write it with --output-format=json+, and logs of write_lat_log \
             or write_hist_log have it too; the classes of a plain report are drawn for at most {MOST_GROUPS} jobs"
        )));
    }
    // The class without an end is the last one.
    let ends = entries.iter().flat_map(|entry| &entry.job.latency_classes);
    let ends: BTreeSet<u64> = ends.map(|class| class.up_to_ns.unwrap_or(u64::MAX)).collect();
    let words = |end: &u64| {
        if *end == u64::MAX { "more than 2 s".to_owned() } else { format!("up to {}", latency_text(*end)) }
    };
    let value = |entry: &Entry<'_>, end: u64| {
        let found = entry.job.latency_classes.iter().find(|class| class.up_to_ns.unwrap_or(u64::MAX) == end);
        found.map(|class| FigureSpread::of(class.percent))
    };
    let group = |(look, entry): (usize, &Entry<'_>)| BarGroup {
        name: entry.with("all I/Os"),
        look,
        values: ends.iter().map(|end| value(entry, *end)).collect(),
    };
    let content = BarPanel {
        value: ChartAxis::new("share of the I/Os", AxisUnit::Percent, AxisScale::Linear),
        head: "share",
        classes: ends.iter().map(words).collect(),
        groups: entries.iter().enumerate().map(group).collect(),
    };
    Ok(Picture {
        title: "Distribution of the latency".to_owned(),
        notes: vec!["Each class begins where fio's class before it ends. A report of json+ has finer ones.".to_owned()],
        panels: vec![Panel { title: String::new(), content: PanelContent::Bars(content) }],
    })
}

/// The end of a class: a round number.
fn latency_text(nanoseconds: u64) -> String {
    match nanoseconds {
        ns if ns % 1_000_000 == 0 => format!("{} ms", ns / 1_000_000),
        ns if ns % 1_000 == 0 => format!("{} us", ns / 1_000),
        ns => format!("{ns} ns"),
    }
}

/// Lines that are too many to be told apart become pale, and the colours those of the directions.
pub(super) fn paled(lines: &mut [ChartLine]) {
    if lines.len() <= MOST_LINES {
        return;
    }
    let mut seen = BTreeSet::new();
    for line in lines {
        let (name, direction) = DataDirection::ALL
            .into_iter()
            .find(|direction| line.name.ends_with(direction.name()))
            .map_or(("", 0), |direction| (direction.name(), direction.index()));
        line.weight = LineWeight::Faint;
        line.colour = direction;
        line.name = if seen.insert(direction) { format!("{name}, a line for each job") } else { String::new() };
    }
}

pub(super) fn words_of(kinds: &BTreeSet<LatencyKind>) -> &'static str {
    match kinds.iter().collect::<Vec<_>>()[..] {
        [kind] => kind.words(),
        _ => "latency",
    }
}

/// The words at the start of a title.
pub(super) fn title_of(kinds: &BTreeSet<LatencyKind>) -> String {
    capitalised(words_of(kinds))
}
