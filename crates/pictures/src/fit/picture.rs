//! Limits and headroom as pictures: a row for each limit on a scale that all limits of its unit share.
//!
//! Must not know: pages, how strips are drawn. Start reading at [`groups`].

use super::{FitHeadroom, FitRow, class, source};
use crate::chart::AxisUnit;
use crate::draw::strips::{StripAxis, axis_words, strip};
use crate::panel::{Strip, StripLimit};
use ferrio_insight::limits::{FitBound, FitVerdict};
use ferrio_stats::MetricUnit;
use maud::{Markup, html};

/// How far beyond all values and limits an interval may reach in a picture: one of a few runs that differ much would press all else together.
const MOST_BEYOND: f64 = 10.0;
/// Loads that are tried at most, times the load of the recipe.
const MOST_TIMES: f64 = 32.0;

/// The limits, those of a unit together.
pub(super) fn groups(rows: &[FitRow<'_>]) -> Markup {
    html! {
        @for unit in [MetricUnit::Nanoseconds, MetricUnit::IosPerSecond, MetricUnit::BytesPerSecond] {
            @let of_unit: Vec<&FitRow<'_>> = rows.iter().filter(|row| row.metric.unit() == unit).collect();
            @if !of_unit.is_empty() { (group(unit, &of_unit)) }
        }
    }
}

fn group(unit: MetricUnit, rows: &[&FitRow<'_>]) -> Markup {
    let axis = StripAxis::of(AxisUnit::of(unit), rows.iter().flat_map(|row| shown(row)));
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
                    @if has_picture(row) { (picture(row, &axis)) }
                }
            }
            @if rows.iter().any(|row| has_picture(row)) {
                div class="limit" { div {} (axis_words(&axis)) }
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

fn picture(row: &FitRow<'_>, axis: &StripAxis) -> Markup {
    let label = format!("{}: {}. {}; measured: {}.", row.subject, row.verdict.words(), row.limit_text, row.mean.1);
    let limit = row.bound.map(|bound| {
        let is_most = matches!(bound, FitBound::Most(_));
        // The arrow points to the good side.
        let words = if is_most { format!("◂ {}", row.limit_text) } else { format!("{} ▸", row.limit_text) };
        StripLimit { value: bound.value(), is_most, words, is_named_within: true }
    });
    let shown = Strip {
        limit,
        interval: row.interval.map(|[low, high]| ((low, high), row.verdict)),
        values: row.values.iter().map(|value| (*value, row.metric.text(*value))).collect(),
        figure: (row.mean.0, format!("measured {}", row.mean.1)),
    };
    strip(axis, &shown, &label)
}

/// How many times the load the storage carries.
pub(super) fn headroom(headroom: &FitHeadroom, load: &str) -> Markup {
    let axis = StripAxis::of_doublings(headroom.breaks_times.unwrap_or(1.0).max(MOST_TIMES));
    let limit =
        |breaks| StripLimit { value: breaks, is_most: true, words: "does not fit".to_owned(), is_named_within: false };
    let shown = Strip {
        limit: headroom.breaks_times.map(limit),
        interval: Some(((1.0, headroom.fits_times), FitVerdict::Fits)),
        values: Vec::new(),
        figure: (headroom.fits_times, "fits".to_owned()),
    };
    html! {
        figure class="limits" {
            figcaption { "Headroom" }
            p { (headroom.words) }
            (strip(&axis, &shown, &format!("Headroom of load {load}")))
            (axis_words(&axis))
        }
    }
}
