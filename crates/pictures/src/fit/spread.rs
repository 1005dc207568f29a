//! The percentiles of a latency as a picture: a row for each, with the limit where one is about it.
//!
//! Must not know: pages. Start reading at [`spreads`].

use super::FitSpread;
use crate::chart::AxisUnit;
use crate::draw::strips::{StripAxis, axis_words, named_strips};
use crate::panel::NamedStrip;
use ferrio_stats::Metric;
use maud::{Markup, html};

/// The latencies that limits of a load are about.
pub(super) fn spreads(spreads: &[FitSpread]) -> Markup {
    html! {
        figure class="limits" {
            figcaption { "How long the I/Os took" }
            @for spread in spreads { (one(spread)) }
        }
    }
}

fn one(spread: &FitSpread) -> Markup {
    let known = spread.percentiles.iter().map(|(_, latency_ns, _)| *latency_ns);
    let values = known.chain(spread.limits.iter().map(|(_, limit_ns, _)| *limit_ns));
    let axis = StripAxis::of(AxisUnit::Nanoseconds, values).beside_names();
    let row = |(metric, latency_ns, words): &(Metric, f64, String)| NamedStrip {
        words: format!("{} {words}", metric.name()),
        value: *latency_ns,
        limits: spread.limits.iter().filter(|(of, ..)| of == metric).map(|(_, ns, is_most)| (*ns, *is_most)).collect(),
    };
    let rows: Vec<NamedStrip> = spread.percentiles.iter().map(row).collect();
    let words: Vec<&str> = rows.iter().map(|row| row.words.as_str()).collect();
    html! {
        div class="limit" {
            p { (spread.heading) }
            (named_strips(&axis, &rows, &format!("{}: {}", spread.heading, words.join(", "))))
        }
        div class="limit" { div {} (axis_words(&axis)) }
    }
}
