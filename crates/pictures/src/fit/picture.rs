//! Limits and headroom as pictures: a row for each limit on a scale that all limits of its unit share.
//!
//! Places are percent of the width, so that words keep their size on small screens. Must not know: pages. Start reading at [`groups`].

use super::scale::LogPlaces;
use super::{FitHeadroom, FitRow, class, source};
use crate::sweep::value_text;
use ferrio_insight::limits::{FitBound, FitVerdict};
use ferrio_stats::MetricUnit;
use maud::{Markup, html};

/// Lines of a row, pixels from its top: words of the limit, the bar, words of the mean.
const WORDS_ABOVE: f64 = 14.0;
const BAND_TOP: f64 = 20.0;
const BAND_BOTTOM: f64 = 40.0;
const WORDS_BELOW: f64 = 55.0;
const HEIGHT: f64 = 60.0;
const AXIS_HEIGHT: f64 = 22.0;
/// Words that begin nearer to an edge than this are on the other side of their line, percent.
const NEAR_EDGE: f64 = 35.0;
/// Half of a letter in a picture on a small screen, percent.
const LETTER: f64 = 1.0;
/// How far beyond all values and limits an interval may reach in a picture: one of a few runs that differ much would press all else together.
const MOST_BEYOND: f64 = 10.0;
/// Loads that are tried at most, times the load of the recipe.
const MOST_TIMES: f64 = 32.0;

/// The limits, those of a unit together.
pub(super) fn groups(rows: &[FitRow<'_>]) -> Markup {
    html! {
        svg class="definitions" width="0" height="0" aria-hidden="true" {
            defs {
                pattern id="beyond" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect class="tint" width="7" height="7" {}
                    line class="hatch" x1="0" x2="0" y1="0" y2="7" {}
                }
            }
        }
        @for unit in [MetricUnit::Nanoseconds, MetricUnit::IosPerSecond, MetricUnit::BytesPerSecond] {
            @let of_unit: Vec<&FitRow<'_>> = rows.iter().filter(|row| row.metric.unit() == unit).collect();
            @if !of_unit.is_empty() { (group(unit, &of_unit)) }
        }
    }
}

fn group(unit: MetricUnit, rows: &[&FitRow<'_>]) -> Markup {
    let scale = LogPlaces::of(rows.iter().flat_map(|row| shown(row)));
    let heading = match unit {
        MetricUnit::IosPerSecond => "I/Os a second: more is better",
        MetricUnit::BytesPerSecond => "Bandwidth: more is better",
        MetricUnit::Nanoseconds => "Latencies: less is better",
    };
    html! {
        figure class="limits" {
            figcaption { (heading) }
            @for row in rows {
                div class="limit" {
                    (words(row))
                    @if has_picture(row) { (picture(row, &scale)) }
                }
            }
            @if rows.iter().any(|row| has_picture(row)) {
                div class="limit" { div {} (axis(&scale, unit)) }
            }
        }
    }
}

fn has_picture(row: &FitRow<'_>) -> bool {
    row.bound.is_some() && !row.values.is_empty()
}

/// The values that a row needs on its scale.
fn shown(row: &FitRow<'_>) -> Vec<f64> {
    if !has_picture(row) {
        return Vec::new();
    }
    let mut all: Vec<f64> =
        row.values.iter().copied().chain(row.bound.map(FitBound::value)).filter(|value| *value > 0.0).collect();
    let (low, high) = all.iter().fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    if let Some([from, to]) = row.interval {
        all.extend([from.max(low / MOST_BEYOND), to.min(high * MOST_BEYOND)]);
    }
    all
}

pub(super) fn verdict(mark: FitVerdict, verdict: &str) -> Markup {
    let sign = match mark {
        FitVerdict::Fits => "✓",
        FitVerdict::CantTell => "?",
        FitVerdict::DoesNotFit => "✗",
    };
    html! { p class=(format!("verdict {}", class(mark))) { span aria-hidden="true" { (sign) " " } (verdict) } }
}

/// The verdict and the figures in words.
fn words(row: &FitRow<'_>) -> Markup {
    html! {
        div {
            (verdict(row.verdict, row.verdict.words()))
            p { (row.subject) }
            p {
                (row.limit_text)
                @if row.values.is_empty() { "; not measured" } @else { "; measured: " (row.mean.1) @if !row.distance.is_empty() { ", " (row.distance) } }
            }
            p class="hint" { (source(row.source)) }
        }
    }
}

fn picture(row: &FitRow<'_>, scale: &LogPlaces) -> Markup {
    let limit = scale.place(row.bound.map_or(0.0, FitBound::value));
    let is_most = matches!(row.bound, Some(FitBound::Most(_)));
    let mean = scale.place(row.mean.0);
    let label = format!("{}: {}. {}; measured: {}.", row.subject, row.verdict.words(), row.limit_text, row.mean.1);
    let sided = if is_most { format!("◂ {}", row.limit_text) } else { format!("{} ▸", row.limit_text) };
    html! {
        svg class="strip" height=(HEIGHT) role="img" aria-label=(label) {
            (grid(scale, HEIGHT))
            (beyond(limit, is_most, (BAND_TOP, BAND_BOTTOM)))
            (line("bound", limit, (BAND_TOP - 4.0, BAND_BOTTOM + 4.0)))
            (beside(limit, WORDS_ABOVE, is_most, &sided))
            @if let Some([low, high]) = row.interval { (bar(row.verdict, scale.place(low), scale.place(high))) }
            (line("mean", mean, (BAND_TOP + 2.0, BAND_BOTTOM - 2.0)))
            @for value in row.values.iter().filter(|value| value.is_finite()) {
                circle class="run" cx=(percent(scale.place(*value))) cy=(f64::midpoint(BAND_TOP, BAND_BOTTOM)) r="3.5" { title { (value_text(row.metric.unit(), *value)) } }
            }
            (around(mean, WORDS_BELOW, &format!("measured {}", row.mean.1)))
        }
    }
}

fn bar(mark: FitVerdict, low: f64, high: f64) -> Markup {
    html! {
        rect class=(format!("interval {}", class(mark))) x=(percent(low)) width=(percent((high - low).max(0.4))) y=(BAND_TOP + 6.0) height=(BAND_BOTTOM - BAND_TOP - 12.0) {}
    }
}

/// The side beyond a limit, at such a height.
pub(super) fn beyond(limit: f64, is_most: bool, (top, bottom): (f64, f64)) -> Markup {
    let (from, to) = if is_most { (limit, 100.0) } else { (0.0, limit) };
    html! {
        rect class="beyond" x=(percent(from)) width=(percent(to - from)) y=(top) height=(bottom - top) fill="url(#beyond)" {}
    }
}

pub(super) fn line(class: &str, place: f64, (top, bottom): (f64, f64)) -> Markup {
    html! { line class=(class) x1=(percent(place)) x2=(percent(place)) y1=(top) y2=(bottom) {} }
}

/// Words that end at a line (or begin there), or on its other side where they have no room.
fn beside(place: f64, y: f64, is_left: bool, words: &str) -> Markup {
    let ends = if is_left { place > NEAR_EDGE } else { place > 100.0 - NEAR_EDGE };
    let (anchor, distance) = if ends { ("end", "-6") } else { ("start", "6") };
    html! { text x=(percent(place)) dx=(distance) y=(y) text-anchor=(anchor) { (words) } }
}

/// Words in the middle of a place, as far as the edges allow it.
fn around(place: f64, y: f64, words: &str) -> Markup {
    let half = LETTER * words.chars().count() as f64;
    let anchor = match place {
        place if place < half => "start",
        place if place > 100.0 - half => "end",
        _ => "middle",
    };
    html! { text x=(percent(place)) y=(y) text-anchor=(anchor) { (words) } }
}

/// Lines at round values.
pub(super) fn grid(scale: &LogPlaces, height: f64) -> Markup {
    html! { @for value in scale.ticks() { (line("grid", scale.place(value), (0.0, height))) } }
}

pub(super) fn axis(scale: &LogPlaces, unit: MetricUnit) -> Markup {
    html! {
        svg class="strip axis" height=(AXIS_HEIGHT) aria-hidden="true" {
            @for value in scale.ticks() { (around(scale.place(value), AXIS_HEIGHT - 7.0, &value_text(unit, value))) }
        }
    }
}

/// How many times the load the storage carries.
pub(super) fn headroom(headroom: &FitHeadroom, load: &str) -> Markup {
    let most = headroom.breaks_times.unwrap_or(1.0).max(MOST_TIMES);
    let scale = LogPlaces::of([1.0, most].into_iter());
    let fits = scale.place(headroom.fits_times);
    let doubled = (0..=MOST_TIMES.log2() as i32).map(|power| 2_f64.powi(power));
    html! {
        figure class="limits" {
            figcaption { "Headroom" }
            p { (headroom.words) }
            svg class="strip" height=(HEIGHT + AXIS_HEIGHT) role="img" aria-label=(format!("Headroom of load {load}")) {
                @if let Some(breaks) = headroom.breaks_times {
                    @let breaks = scale.place(breaks);
                    (beyond(breaks, true, (BAND_TOP, BAND_BOTTOM)))
                    (line("bound", breaks, (BAND_TOP - 4.0, BAND_BOTTOM + 4.0)))
                    (beside(breaks, WORDS_ABOVE, false, "does not fit"))
                }
                (bar(FitVerdict::Fits, scale.place(1.0), fits))
                (line("mean", fits, (BAND_TOP + 2.0, BAND_BOTTOM - 2.0)))
                (around(fits, WORDS_BELOW, "fits"))
                @for times in doubled {
                    (line("grid", scale.place(times), (BAND_TOP, HEIGHT)))
                    (around(scale.place(times), HEIGHT + AXIS_HEIGHT - 7.0, &format!("{times} x")))
                }
            }
        }
    }
}

pub(super) fn percent(place: f64) -> String {
    format!("{place:.2}%")
}
