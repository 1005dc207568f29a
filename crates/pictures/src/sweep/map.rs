//! Maps of two parameters: a cell for each pair of values, the brighter the higher.
//!
//! Must not know: pages. Start reading at [`maps`].

use super::ReadOutcome;
use crate::chart::AxisUnit;
use crate::draw::grid_in_page;
use crate::outcome::ShownSubject;
use crate::panel::GridPanel;
use crate::scale::AxisScale;
use ferrio_stats::Metric;
use maud::{Markup, html};

/// Most values of a parameter of a map.
const MOST_VALUES: usize = 40;

/// The maps of rate and latency, where exactly two parameters have several values.
pub(super) fn maps(view: &ReadOutcome<'_>, subject: ShownSubject<'_>) -> Markup {
    let wide: Vec<usize> = (0..view.parameters.len()).filter(|axis| view.parameters[*axis].values.len() > 1).collect();
    let [down, across] = wide[..] else { return html! {} };
    if [down, across].iter().any(|axis| view.parameters[*axis].values.len() > MOST_VALUES) {
        return html! {};
    }
    let [row_name, column_name] = [down, across].map(|axis| &view.parameters[axis].name);
    html! {
        div class="pictures" {
            @for metric in [Metric::Iops, Metric::P99] {
                @let heading = format!("{} by {row_name} and {column_name}", metric.title());
                @let name = format!("{heading}, {}: {}", subject.job, subject.kind.name());
                figure {
                    figcaption { (heading) }
                    div class="scroll" tabindex="0" role="region" aria-label=(name) { (grid_in_page(&map(view, subject, (down, across), metric), &name)) }
                }
            }
        }
    }
}

fn map(view: &ReadOutcome<'_>, subject: ShownSubject<'_>, (down, across): (usize, usize), metric: Metric) -> GridPanel {
    let (rows, columns) = (&view.parameters[down], &view.parameters[across]);
    // Rows of a panel are from below.
    let row_of = |place: usize| rows.values.len() - 1 - place;
    let mut cells = vec![vec![None; columns.values.len()]; rows.values.len()];
    let mut doubtful = Vec::new();
    for point in view.points.iter().copied() {
        let Some(figure) = subject.figure(point, metric) else { continue };
        let place = (row_of(point.places()[down]), point.places()[across]);
        cells[place.0][place.1] = Some(figure.mean);
        if !point.is_believable() {
            doubtful.push(place);
        }
    }
    GridPanel {
        x_label: columns.name.clone(),
        y_label: rows.name.clone(),
        columns: columns.values.clone(),
        rows: rows.values.iter().rev().cloned().collect(),
        cells,
        unit: AxisUnit::of(metric.unit()),
        shades: AxisScale::Log,
        doubtful,
    }
}
