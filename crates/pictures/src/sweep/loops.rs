//! A closed loop and an open one beside each other: latency against throughput, and the figures of both.
//!
//! Must not know: how rates are chosen. Start reading at [`beside_each_other`].

use super::curves::{CurveLine, against_throughput, key};
use crate::outcome::{ShownLoops, ShownPoint, ShownSubject};
use ferrio_formats::IoKind;
use ferrio_stats::Metric;
use maud::{Markup, html};

/// What the two loops are.
const ABOUT: &str = "In a closed loop an I/O begins when another is done: storage that is slow gets less load, and its latencies stay bounded. Users do not wait for each \
                     other. In an open loop they come at random times (Poisson), whatever the storage does, and a latency begins when the user comes: near the limit it grows without end.";

const LATENCIES: [Metric; 3] = [Metric::MeanLatency, Metric::P50, Metric::P99];

/// Pictures and a table for each job and kind of I/O that has a rate in both loops.
pub(crate) fn beside_each_other(view: &ShownLoops<'_>) -> Markup {
    html! {
        p class="hint" { (ABOUT) @if !view.at.is_empty() { " Both have " (view.at) "." } }
        @for subject in subjects(view) { (of_subject(view, subject)) }
    }
}

/// The jobs with their kinds of I/O that both loops have. Syncs have no rate of their own.
fn subjects<'a>(view: &ShownLoops<'a>) -> Vec<ShownSubject<'a>> {
    let of = |points: &[(String, &'a dyn ShownPoint)]| ShownSubject::of_points(points.iter().map(|(_, point)| *point));
    let open = of(&view.open);
    let is_in_both = |subject: &ShownSubject<'_>| subject.kind != IoKind::Sync && open.contains(subject);
    of(&view.closed).into_iter().filter(is_in_both).collect()
}

fn of_subject(view: &ShownLoops<'_>, subject: ShownSubject<'_>) -> Markup {
    let lines = [("closed loop", &view.closed), ("open loop", &view.open)]
        .map(|(name, points)| CurveLine { name: name.to_owned(), points: points.clone() });
    html! {
        h3 { (subject.job) ": " (subject.kind.name()) }
        div class="pictures" {
            (against_throughput(subject, &lines, Metric::P99, &|_| false))
            (against_throughput(subject, &lines, Metric::MeanLatency, &|_| false))
        }
        (key(&lines))
        (table(view, subject))
    }
}

/// The figures of both loops.
fn table(view: &ShownLoops<'_>, subject: ShownSubject<'_>) -> Markup {
    let name = format!("Closed loop and open loop of {}: {}", subject.job, subject.kind.name());
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(name) {
            table {
                caption { (name) }
                thead {
                    tr {
                        th scope="col" class="words" { "loop" }
                        th scope="col" class="words" { "load" }
                        th scope="col" { (Metric::Iops.heading()) }
                        @for metric in LATENCIES { th scope="col" { (metric.heading()) } }
                    }
                }
                tbody {
                    @for (words, points) in [("closed", &view.closed), ("open", &view.open)] {
                        @for (load, point) in points {
                            @if let Some(rate) = subject.figure(*point, Metric::Iops) {
                                tr class=(if point.is_believable() { "" } else { "hollow" }) {
                                    td class="words" { (words) }
                                    td class="words" { (load) }
                                    td { (Metric::Iops.cell(rate.mean)) }
                                    @for metric in LATENCIES { td { (metric.cell_or(subject.figure(*point, metric).map(|one| one.mean), "")) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
