//! Sheets within pages: the shapes of a sheet as markup, in the colours of the page, light or dark.
//!
//! Must not know: what is drawn. Start reading at [`scaled`] and [`fluid`]. All texts are escaped by the templates.

use super::TEXT_SIZE;
use super::sheet::{Anchor, Ink, Place, Sheet, SheetShape};
use maud::{Markup, html};

/// Radius of the circle around a point in which a pointer gets its words, pixels.
const TOLD_RADIUS: f64 = 9.0;

/// A sheet that is as wide as its place on the page, with all its lengths in proportion.
pub(super) fn scaled(sheet: &Sheet, label: &str) -> Markup {
    html! {
        svg class="scaled chart" font-size=(TEXT_SIZE) viewBox=(format!("0 0 {} {}", sheet.width, sheet.height)) role="img" aria-label=(label) { (shapes(sheet, Across::Pixels)) }
    }
}

/// A sheet in its own size. Without a label, it adds nothing to what others say.
pub(super) fn fixed(sheet: &Sheet, label: Option<&str>) -> Markup {
    html! {
        svg class="fixed chart" font-size=(TEXT_SIZE) width=(sheet.width) height=(sheet.height) role=[label.map(|_| "img")] aria-label=[label] aria-hidden=[label.is_none().then_some("true")] { (shapes(sheet, Across::Pixels)) }
    }
}

/// A sheet that is as wide as its place on the page, whose letters and heights keep their size: its places from left to right are percent.
/// Without a label, it adds nothing to what others say.
pub(super) fn fluid(sheet: &Sheet, label: Option<&str>) -> Markup {
    html! {
        svg class="fluid chart" font-size=(TEXT_SIZE) height=(sheet.height) role=[label.map(|_| "img")] aria-label=[label] aria-hidden=[label.is_none().then_some("true")] { (shapes(sheet, Across::Percent)) }
    }
}

/// The pattern of areas beyond a limit, once a page.
pub(super) fn definitions() -> Markup {
    html! {
        svg class="definitions" width="0" height="0" aria-hidden="true" {
            defs {
                pattern id="beyond" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect class="tint" width="7" height="7" {}
                    line class="hatch" x1="0" x2="0" y1="0" y2="7" {}
                }
            }
        }
    }
}

/// What places from left to right are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Across {
    Pixels,
    Percent,
}

impl Across {
    /// A place as an attribute has it.
    fn text(self, place: f64) -> String {
        match self {
            Self::Pixels => pixels(place),
            Self::Percent => format!("{place:.2}%"),
        }
    }
}

fn pixels(length: f64) -> String {
    format!("{length:.1}")
}

fn shapes(sheet: &Sheet, across: Across) -> Markup {
    html! { @for shape in &sheet.shapes { (element(shape, across)) } }
}

fn element(shape: &SheetShape, across: Across) -> Markup {
    match shape {
        SheetShape::Path { points, ink, width, dashes } => path(points, (*ink, *width, dashes), across),
        SheetShape::Area { points, ink } => {
            html! { polygon points=(corners(points)) fill=(paint(*ink)) fill-opacity=[faded(*ink)] {} }
        }
        SheetShape::Box { corners: [one, other], ink } => {
            let (left, right) = (one.0.min(other.0), one.0.max(other.0));
            let (top, bottom) = (one.1.min(other.1), one.1.max(other.1));
            html! { rect x=(across.text(left)) width=(across.text(right - left)) y=(pixels(top)) height=(pixels(bottom - top)) fill=(paint(*ink)) fill-opacity=[faded(*ink)] {} }
        }
        SheetShape::Disc { centre, radius, ink } => {
            html! { circle cx=(across.text(centre.0)) cy=(pixels(centre.1)) r=(radius) fill=(paint(*ink)) fill-opacity=[faded(*ink)] {} }
        }
        SheetShape::Ring { centre, radius, ink, width } => {
            html! { circle class="ring" cx=(across.text(centre.0)) cy=(pixels(centre.1)) r=(radius) fill="none" stroke=(paint(*ink)) stroke-width=(width) {} }
        }
        SheetShape::Words { centre, text } => {
            html! { circle class="told" cx=(across.text(centre.0)) cy=(pixels(centre.1)) r=(TOLD_RADIUS) fill="transparent" { title { (text) } } }
        }
        SheetShape::Text { text, place, shift, size, ink, anchor, is_upright } => {
            let anchor = match anchor {
                Anchor::Start => None,
                Anchor::Middle => Some("middle"),
                Anchor::End => Some("end"),
            };
            let turn = is_upright.then(|| format!("rotate(-90 {} {})", pixels(place.0), pixels(place.1)));
            let shift = (*shift != 0.0).then(|| pixels(*shift));
            let size = (*size != TEXT_SIZE).then(|| pixels(*size));
            html! { text x=(across.text(place.0)) dx=[shift] y=(pixels(place.1)) text-anchor=[anchor] font-size=[size] transform=[turn] fill=(paint(*ink)) { (text) } }
        }
    }
}

/// A path. Percent are no coordinates of a polyline, so that a fluid path consists of lines.
fn path(points: &[Place], (ink, width, dashes): (Ink, f64, &[f64]), across: Across) -> Markup {
    let lengths: Vec<String> = dashes.iter().map(f64::to_string).collect();
    let lengths = (!dashes.is_empty()).then(|| lengths.join(" "));
    html! {
        @if points.len() > 2 && across == Across::Pixels {
            polyline points=(corners(points)) fill="none" stroke=(paint(ink)) stroke-opacity=[faded(ink)] stroke-width=(width) stroke-dasharray=[&lengths] {}
        } @else {
            @for pair in points.windows(2) {
                line x1=(across.text(pair[0].0)) x2=(across.text(pair[1].0)) y1=(pixels(pair[0].1)) y2=(pixels(pair[1].1)) stroke=(paint(ink)) stroke-opacity=[faded(ink)] stroke-width=(width) stroke-dasharray=[&lengths] {}
            }
        }
    }
}

fn corners(points: &[Place]) -> String {
    let all: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    all.join(" ")
}

fn paint(ink: Ink) -> String {
    let (red, green, blue) = ink.rgb;
    if ink.on_pages.is_empty() { format!("#{red:02x}{green:02x}{blue:02x}") } else { ink.on_pages.to_owned() }
}

fn faded(ink: Ink) -> Option<f64> {
    (ink.opacity < 1.0).then_some(ink.opacity)
}
