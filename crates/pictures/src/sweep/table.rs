//! All points of a sweep in a table.
//!
//! Must not know: curves. Start reading at [`table`].

use super::ReadOutcome;
use crate::outcome::{ShownOutcome, ShownSubject};
use ferrio_insight::repeats::RepeatedFigure;
use ferrio_stats::Metric;
use maud::{Markup, html};

const LATENCIES: [Metric; 5] = [Metric::MeanLatency, Metric::P50, Metric::P99, Metric::P999, Metric::Max];

/// What the figures and the marks mean.
pub(super) fn legend(outcome: &dyn ShownOutcome) -> String {
    let ground = match outcome.n_repeats() {
        None => "from the differences between the runs".to_owned(),
        Some(1) => "from the course of each run".to_owned(),
        Some(n_repeats) => format!("from the differences between {n_repeats} runs"),
    };
    format!(
        "Lines at the points, and ± in the tables, are intervals that have the true value with a probability of 95 %, {ground}. Hollow points and struck-out \
         figures cannot be believed: a finding contradicts them, or a job failed. Latencies are from submission to completion, and those of users (rate_latency=response) from the time at which they came; of several runs, the geometric mean. MB/s: millions of bytes a second."
    )
}

/// The points of a job's I/O.
pub(super) fn table(view: &ReadOutcome<'_>, subject: ShownSubject<'_>) -> Markup {
    let name = format!("All points of {}: {}", subject.job, subject.kind.name());
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(name) {
            table class="stacked" {
                caption { (name) }
                thead {
                    tr {
                        th scope="col" { "#" }
                        @for parameter in &view.parameters { th scope="col" { (parameter.name) } }
                        th scope="col" { (Metric::Bandwidth.heading()) }
                        th scope="col" { (Metric::Iops.heading()) }
                        th scope="col" { "±" }
                        @for metric in LATENCIES { th scope="col" { (metric.heading()) } }
                    }
                }
                tbody {
                    @for point in view.points.iter().copied() {
                        @if let Some(rate) = subject.figure(point, Metric::Iops) {
                            @let bandwidth = subject.figure(point, Metric::Bandwidth);
                            tr class=(if point.is_believable() { "" } else { "hollow" }) {
                                th scope="row" { (point.number()) }
                                @for (parameter, place) in view.parameters.iter().zip(point.places()) { td data-label=(parameter.name) { (parameter.values.get(*place).map_or("", String::as_str)) } }
                                td data-label=(Metric::Bandwidth.heading()) { (cell(bandwidth, Metric::Bandwidth)) }
                                td data-label=(Metric::Iops.heading()) { (Metric::Iops.cell(rate.mean)) }
                                td data-label="±" { (rate.half_width_percent().map_or("?".to_owned(), |half| format!("{half:.1} %"))) }
                                @for metric in LATENCIES { td data-label=(metric.heading()) { (cell(subject.figure(point, metric), metric)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(figure: Option<&RepeatedFigure>, metric: Metric) -> String {
    metric.cell_or(figure.map(|figure| figure.mean), "")
}
