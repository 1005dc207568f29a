//! Maps of two parameters: a cell for each pair of values, the darker the higher.
//!
//! Must not know: pages. Start reading at [`maps`].

use super::ReadOutcome;
use super::frame::value_text;
use crate::outcome::{ShownPoint, ShownSubject};
use ferrio_stats::Metric;
use maud::{Markup, html};

/// Most values of a parameter of a map.
const MOST_VALUES: usize = 40;
/// Shades of a map, which the style sheet has.
const N_SHADES: f64 = 8.0;

/// The maps of rate and latency, where exactly two parameters have several values.
pub(super) fn maps(view: &ReadOutcome<'_>, subject: ShownSubject<'_>) -> Markup {
    let wide: Vec<usize> = (0..view.parameters.len()).filter(|axis| view.parameters[*axis].values.len() > 1).collect();
    let [down, across] = wide[..] else { return html! {} };
    if [down, across].iter().any(|axis| view.parameters[*axis].values.len() > MOST_VALUES) {
        return html! {};
    }
    html! {
        div class="pictures" {
            @for metric in [Metric::Iops, Metric::P99] {
                (map(view, subject, (down, across), metric))
            }
        }
    }
}

fn map(view: &ReadOutcome<'_>, subject: ShownSubject<'_>, (down, across): (usize, usize), metric: Metric) -> Markup {
    let heading = metric.title();
    let means =
        view.points.iter().filter_map(|point| Some(subject.figure(*point, metric)?.mean)).filter(|mean| *mean > 0.0);
    let (low, high) = means.fold((f64::MAX, f64::MIN), |(low, high), mean| (low.min(mean), high.max(mean)));
    let shade = |mean: f64| {
        if high > low && mean > 0.0 {
            ((mean / low).ln() / (high / low).ln() * N_SHADES).floor().clamp(0.0, N_SHADES - 1.0)
        } else {
            0.0
        }
    };
    let at = |row: usize, column: usize| {
        view.points.iter().copied().find(|point| (point.places()[down], point.places()[across]) == (row, column))
    };
    let [(row_name, rows), (column_name, columns)] =
        [down, across].map(|at| (&view.parameters[at].name, &view.parameters[at].values));
    html! {
        figure {
            figcaption { (heading) " by " (row_name) " and " (column_name) }
            div class="scroll" tabindex="0" role="region" aria-label=(format!("{heading} by {row_name} and {column_name}, {}: {}", subject.job, subject.kind.name())) {
                table class="map" {
                    thead {
                        tr {
                            th scope="col" { (row_name) " \\ " (column_name) }
                            @for value in columns { th scope="col" { (value) } }
                        }
                    }
                    tbody {
                        @for (row, value) in rows.iter().enumerate() {
                            tr {
                                th scope="row" { (value) }
                                @for column in 0..columns.len() { (cell(at(row, column), subject, metric, shade)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(
    point: Option<&dyn ShownPoint>,
    subject: ShownSubject<'_>,
    metric: Metric,
    shade: impl Fn(f64) -> f64,
) -> Markup {
    let Some((point, figure)) = point.and_then(|point| Some((point, subject.figure(point, metric)?))) else {
        return html! { td class="nothing" { "-" } };
    };
    let class = format!("s{}{}", shade(figure.mean), if point.is_believable() { "" } else { " hollow" });
    html! { td class=(class) { (value_text(metric.unit(), figure.mean)) } }
}
