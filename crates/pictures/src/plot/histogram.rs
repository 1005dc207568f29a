//! How many I/Os took how long.
//!
//! Must not know: other kinds. Start reading at [`picture`].

use super::PlotError;
use super::entries::entries;
use super::panel::{AxisScale, LinePanel, LineWeight, Panel, PanelContent, Picture, PlotAxis, PlotLine};
use crate::chart::AxisUnit;
use crate::charts::distribution::shares;
use crate::charts::latency::capitalised;
use crate::charts::together::distribution;
use ferrio_results::{LatencyKind, RunResult};
use ferrio_units::DataDirection;
use std::collections::BTreeSet;

/// Lines that can be told apart.
pub(super) const MOST_LINES: usize = 12;

/// The picture.
pub(super) fn picture(results: &[RunResult]) -> Result<Picture, PlotError> {
    let mut lines = Vec::new();
    let mut kinds = BTreeSet::new();
    for entry in entries(results) {
        for direction in DataDirection::ALL {
            let (kind, bins) = distribution(&[entry.job], direction);
            if !bins.is_empty() {
                kinds.insert(kind);
                let name = entry.with(direction.name());
                lines.push(PlotLine {
                    name,
                    look: lines.len(),
                    points: shares(&bins),
                    is_stepped: true,
                    ..PlotLine::default()
                });
            }
        }
    }
    if lines.is_empty() {
        return Err(PlotError::Lacking(
            "the results have no distribution of latencies: fio and ferrio write it with --output-format=json+, and logs of write_lat_log or write_hist_log have it too".to_owned(),
        ));
    }
    paled(&mut lines);
    let words = words_of(&kinds);
    let content = LinePanel {
        x: PlotAxis::new(words, AxisUnit::Nanoseconds, AxisScale::Log),
        y: PlotAxis::new("share of the I/Os", AxisUnit::Percent, AxisScale::Linear),
        lines,
    };
    Ok(Picture {
        title: format!("Distribution of the {words}"),
        notes: vec!["The share of the I/Os in each eighth of a doubling of the latency.".to_owned()],
        panels: vec![Panel { title: String::new(), content: PanelContent::Lines(content) }],
    })
}

/// Lines that are too many to be told apart become pale, and the colours those of the directions.
pub(super) fn paled(lines: &mut [PlotLine]) {
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
        line.look = direction;
        line.name = if seen.insert(direction) { format!("{name}, a line for each job") } else { String::new() };
    }
}

/// The words for latencies of these kinds.
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
