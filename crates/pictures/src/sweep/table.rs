//! All points of a sweep in a table.
//!
//! Must not know: curves. Start reading at [`table`].

use super::frame::value_text;
use super::{SweepView, SweptSubject};
use ferrio_insight::repeats::RepeatedFigure;
use ferrio_stats::{Metric, MetricUnit};
use maud::{Markup, html};

const LATENCIES: [Metric; 5] = [Metric::MeanLatency, Metric::P50, Metric::P99, Metric::P999, Metric::Max];

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
                        th scope="col" { (Metric::Bandwidth.heading()) }
                        th scope="col" { (Metric::Iops.heading()) }
                        th scope="col" { "±" }
                        @for metric in LATENCIES { th scope="col" { (metric.heading()) } }
                    }
                }
                tbody {
                    @for point in &view.points {
                        @if let Some(rate) = point.figure(subject, Metric::Iops) {
                            @let bandwidth = point.figure(subject, Metric::Bandwidth);
                            tr class=(if point.is_believable { "" } else { "hollow" }) {
                                th scope="row" { (point.number) }
                                @for ((name, values), place) in view.axes.iter().zip(point.places) { td data-label=(name) { (values.get(*place).map_or("", String::as_str)) } }
                                td data-label=(Metric::Bandwidth.heading()) { (bandwidth.map(|figure| value_text(MetricUnit::BytesPerSecond, figure.mean).replace(" MB/s", "")).unwrap_or_default()) }
                                td data-label=(Metric::Iops.heading()) { (value_text(MetricUnit::IosPerSecond, rate.mean)) }
                                td data-label="±" { (rate.half_width_percent().map_or("?".to_owned(), |half| format!("{half:.1} %"))) }
                                @for metric in LATENCIES { td data-label=(metric.heading()) { (latency(point.figure(subject, metric), metric)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn latency(figure: Option<&RepeatedFigure>, metric: Metric) -> String {
    figure.map(|figure| value_text(metric.unit(), figure.mean)).unwrap_or_default()
}
