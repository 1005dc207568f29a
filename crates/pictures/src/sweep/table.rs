//! All points of a sweep in a table.
//!
//! Must not know: curves. Start reading at [`table`].

use super::frame::value_text;
use super::{SweepView, SweptSubject};
use ferrio_insight::compare::ComparedMetric;
use ferrio_insight::repeats::RepeatedFigure;
use maud::{Markup, html};

const LATENCIES: [ComparedMetric; 5] =
    [ComparedMetric::MeanLatency, ComparedMetric::P50, ComparedMetric::P99, ComparedMetric::P999, ComparedMetric::Max];

/// What the figures and the marks mean.
pub(super) fn legend(view: &SweepView<'_>) -> String {
    let ground = match view.n_repeats {
        0 => "from the differences between the runs".to_owned(),
        1 => "from the course of each run".to_owned(),
        n_repeats => format!("from the differences between {n_repeats} runs"),
    };
    format!(
        "Lines at the points, and ± in the tables, are intervals that have the true value with a probability of 95 %, {ground}. Hollow points and struck-out \
         figures cannot be believed: a finding contradicts them, or a job failed. Latencies are from submission to completion, and those of users (rate_latency=response) from the time at which they came; of several runs, the geometric mean. MB/s: millions of bytes a second."
    )
}

/// The points of a job's I/O.
pub(super) fn table(view: &SweepView<'_>, subject: SweptSubject<'_>) -> Markup {
    let name = format!("All points of {}: {}", subject.job, subject.kind.name());
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(name) {
            table class="stacked" {
                caption { (name) }
                thead {
                    tr {
                        th scope="col" { "#" }
                        @for (name, _) in &view.axes { th scope="col" { (name) } }
                        th scope="col" { "MB/s" }
                        th scope="col" { "IOPS" }
                        th scope="col" { "±" }
                        @for metric in LATENCIES { th scope="col" { (metric.name()) } }
                    }
                }
                tbody {
                    @for point in &view.points {
                        @if let Some(rate) = point.figure(subject, ComparedMetric::Iops) {
                            @let bandwidth = point.figure(subject, ComparedMetric::Bandwidth);
                            tr class=(if point.is_believable { "" } else { "hollow" }) {
                                th scope="row" { (point.number) }
                                @for ((name, values), place) in view.axes.iter().zip(point.places) { td data-label=(name) { (values.get(*place).map_or("", String::as_str)) } }
                                td data-label="MB/s" { (bandwidth.map(|figure| value_text(ComparedMetric::Bandwidth, figure.mean).replace(" MB/s", "")).unwrap_or_default()) }
                                td data-label="IOPS" { (value_text(ComparedMetric::Iops, rate.mean)) }
                                td data-label="±" { (rate.half_width_percent().map_or("?".to_owned(), |half| format!("{half:.1} %"))) }
                                @for metric in LATENCIES { td data-label=(metric.name()) { (latency(point.figure(subject, metric), metric)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn latency(figure: Option<&RepeatedFigure>, metric: ComparedMetric) -> String {
    figure.map(|figure| value_text(metric, figure.mean)).unwrap_or_default()
}
