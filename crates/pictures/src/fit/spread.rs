//! The percentiles of a latency as a picture: a line for each, with the limit where one is about it.
//!
//! Must not know: pages. Start reading at [`spreads`].

use super::FitSpread;
use super::picture::{axis, beyond, grid, line, percent};
use super::scale::LogPlaces;
use ferrio_stats::MetricUnit;
use maud::{Markup, html};

/// Height of a percentile, pixels.
const ROW: f64 = 20.0;
/// Room for the words of a percentile at the left, percent of the width of a small screen.
const WORDS: f64 = 40.0;

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
    let scale = LogPlaces::of(known.chain(spread.limits.iter().map(|(_, limit_ns, _)| *limit_ns))).beside_words(WORDS);
    let places: Vec<(f64, f64)> = spread
        .percentiles
        .iter()
        .enumerate()
        .map(|(row, (_, latency_ns, _))| (scale.place(*latency_ns), (row as f64 + 0.5) * ROW))
        .collect();
    let height = ROW * places.len() as f64;
    let words: Vec<String> =
        spread.percentiles.iter().map(|(metric, _, words)| format!("{} {words}", metric.name())).collect();
    html! {
        div class="limit" {
            p { (spread.heading) }
            svg class="strip" height=(height) role="img" aria-label=(format!("{}: {}", spread.heading, words.join(", "))) {
                (grid(&scale, height))
                @for ((metric, ..), (_, y)) in spread.percentiles.iter().zip(&places) {
                    @for (_, limit_ns, is_most) in spread.limits.iter().filter(|(of, ..)| of == metric) {
                        @let ends = (y - ROW / 2.0 + 1.0, y + ROW / 2.0 - 1.0);
                        (beyond(scale.place(*limit_ns), *is_most, ends))
                        (line("bound", scale.place(*limit_ns), ends))
                    }
                }
                @for pair in places.windows(2) {
                    line class="mean" x1=(percent(pair[0].0)) y1=(pair[0].1) x2=(percent(pair[1].0)) y2=(pair[1].1) {}
                }
                @for ((x, y), words) in places.iter().zip(&words) {
                    circle class="percentile" cx=(percent(*x)) cy=(y) r="3.5" {}
                    text x="1%" y=(y + 4.5) { (words) }
                }
            }
        }
        div class="limit" { div {} (axis(&scale, MetricUnit::Nanoseconds)) }
    }
}
